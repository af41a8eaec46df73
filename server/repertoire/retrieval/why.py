"""Says in a few words why a component is in an answer: facts, each one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repertoire.domain.answer import Why
from repertoire.domain.component import CAPABILITY, PROVIDES, Component
from repertoire.domain.text import clean_line
from repertoire.ports import StoredComponent
from repertoire.retrieval.matched_words import held_words
from repertoire.retrieval.plan import QueryPlan
from repertoire.retrieval.snapshot import Snapshot

MAX_CHARACTERS = 100
_MAX_WORDS = 5
_MAX_PATH = 3
_NOTED_PAST = 0.05
_NOTED_SIMILARITY = 0.2


@dataclass(frozen=True)
class Reasons:
    """What the stages found for one component."""

    similarity: float
    path: tuple[str, ...]
    past: float  # the share of it in what served requests like this, as far as the past is to be trusted
    named: bool
    pattern: str = ""  # the known combination that it belongs to, told


def whys(plan: QueryPlan, snapshot: Snapshot, row: int, entry: StoredComponent, reasons: Reasons) -> tuple[Why, ...]:
    """Say why a component is in an answer, the weightiest reason first."""
    component = entry.component
    if reasons.named:
        return (name_why(component),)
    found = []
    if reasons.past >= _NOTED_PAST:
        found.append(Why("request", "served similar requests before"))
    found += capability_whys((*plan.capabilities, *plan.near), int(snapshot.positions[row]), snapshot)
    by_words = word_why(plan.words, component)
    if by_words is not None:
        found.append(by_words)
    if reasons.similarity >= _NOTED_SIMILARITY:
        found.append(similarity_why(reasons.similarity))
    if reasons.pattern:
        found.append(Why("pattern", clean_line(reasons.pattern, MAX_CHARACTERS)))
    if reasons.path:
        found.append(path_why(reasons.path))
    return tuple(found)


def word_why(words: Sequence[str], component: Component) -> Why | None:
    """Name the words of a question that a component's searched text holds."""
    shared = held_words(words, component)
    if not shared:
        return None
    return Why("words", clean_line("words: " + ", ".join(shared[:_MAX_WORDS]), MAX_CHARACTERS))


def similarity_why(similarity: float) -> Why:
    """Tell how near a component's text is in meaning."""
    return Why("similarity", f"similar in meaning ({similarity:.2f})")


def name_why(component: Component) -> Why:
    """Tell that a component was asked for by its name."""
    return Why("name", clean_line(f"named {component.name}", MAX_CHARACTERS))


def capability_whys(capabilities: Sequence[str], position: int, snapshot: Snapshot) -> list[Why]:
    """Name the capabilities of a question that a component provides."""
    topology = snapshot.topology
    wanted = set(capabilities)
    return [
        Why("capability", clean_line(f"provides {topology.names[end]}", MAX_CHARACTERS))
        for end in snapshot.edges(PROVIDES).get(position, ())
        if topology.types[end] == CAPABILITY and topology.names[end] in wanted
    ]


def path_why(path: Sequence[str]) -> Why:
    """Show the way through the graph from a seed to the component."""
    return Why("path", clean_line("path: " + " → ".join([*path[:_MAX_PATH], "this"]), MAX_CHARACTERS))
