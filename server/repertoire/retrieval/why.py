"""Writes the reasons why a component is in an answer, each as one line of facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from repertoire.domain.answer import Why
from repertoire.domain.component import CAPABILITY, PROVIDES, Component
from repertoire.domain.text import clean_line, parts_of_names
from repertoire.ports import StoredComponent
from repertoire.retrieval.matched_words import told_words
from repertoire.retrieval.plan import QueryPlan
from repertoire.retrieval.snapshot import Snapshot

MAX_CHARACTERS = 100  # of one reason
_MAX_WORDS = 5
_MAX_PATH = 3
_TELLING = 5  # letters from which on a part of a name is a reason: the `back` of CrashLoopBackOff stands in any text
NOTED_PAST = 0.05  # share among past requests from which on they are a reason
_NOTED_SIMILARITY = 0.2  # cosine from which on similarity is a reason


@dataclass(frozen=True)
class Reasons:
    """The evidence of the stages for one component, from which its reasons are written; `rarities` by word."""

    similarity: float
    path: tuple[str, ...]
    past: float  # its share among the components that served similar requests, times the trust
    named: bool
    rarities: Mapping[str, float]
    pattern: str = ""  # a sentence on its known combination


def whys(plan: QueryPlan, snapshot: Snapshot, row: int, entry: StoredComponent, reasons: Reasons) -> tuple[Why, ...]:
    """Return the reasons why a component is in an answer, the strongest first."""
    component = entry.component
    if reasons.named:
        return (name_why(component),)
    found = []
    if reasons.past >= NOTED_PAST:
        found.append(Why("request", "served similar requests before"))
    found += capability_whys((*plan.capabilities, *plan.near), int(snapshot.positions[row]), snapshot)
    short_parts = {part for part in parts_of_names(plan.query.text) if len(part) < _TELLING}
    by_words = word_why([word for word in plan.words if word not in short_parts], component, reasons.rarities)
    if by_words is not None:
        found.append(by_words)
    if reasons.similarity >= _NOTED_SIMILARITY:
        found.append(similarity_why(reasons.similarity))
    if reasons.pattern:
        found.append(Why("pattern", clean_line(reasons.pattern, MAX_CHARACTERS)))
    # A link to one of the first is a reason; a longer way needs more than words beside it, since it tells of no task.
    if len(reasons.path) == 1 or (reasons.path and any(why.kind != "words" for why in found)):
        found.append(path_why(reasons.path))
    return tuple(found)


def word_why(words: Sequence[str], component: Component, rarities: Mapping[str, float]) -> Why | None:
    """Return a reason with the question's words that a component's searched text holds; None if it holds none.

    Of many words those of its name and description come first, then the rarest, since a long question shares its common
    words with any text. They stand in the question's order.
    """
    shared = told_words(words, component)
    if not shared:
        return None
    if len(shared) > _MAX_WORDS:
        leading = set(told_words(words, replace(component, body="")))
        first = sorted(shared, key=lambda word: (word not in leading, -rarities.get(word, 0.0)))[:_MAX_WORDS]
        shared = [word for word in shared if word in first]
    return Why("words", clean_line("words: " + ", ".join(shared), MAX_CHARACTERS))


def similarity_why(similarity: float) -> Why:
    """Return a reason with the cosine between component and question."""
    return Why("similarity", f"similar in meaning ({similarity:.2f})")


def name_why(component: Component) -> Why:
    """Return the reason of a component that was asked for by name."""
    return Why("name", clean_line(f"named {component.name}", MAX_CHARACTERS))


def capability_whys(capabilities: Sequence[str], position: int, snapshot: Snapshot) -> list[Why]:
    """Return a reason for each capability of the question that a component provides."""
    topology = snapshot.topology
    wanted = set(capabilities)
    return [
        Why("capability", clean_line(f"provides {topology.names[end]}", MAX_CHARACTERS))
        for end in snapshot.edges(PROVIDES).get(position, ())
        if topology.types[end] == CAPABILITY and topology.names[end] in wanted
    ]


def path_why(path: Sequence[str]) -> Why:
    """Return a reason with the path through the graph from a seed to the component."""
    return Why("path", clean_line("path: " + " → ".join([*path[:_MAX_PATH], "this"]), MAX_CHARACTERS))
