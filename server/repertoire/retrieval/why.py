"""Says in a few words why a component is in an answer: facts, each one line."""

from __future__ import annotations

from collections.abc import Sequence

from repertoire.domain.answer import Why
from repertoire.domain.component import CAPABILITY, PROVIDES, Component
from repertoire.domain.text import STOPWORDS, clean_line, split_words
from repertoire.retrieval.snapshot import Snapshot

MAX_CHARACTERS = 100
_MAX_WORDS = 5
_MAX_PATH = 3


def word_why(words: Sequence[str], component: Component) -> Why | None:
    """Name the words of a question that a component holds."""
    held = {stem(word) for word in split_words(f"{component.name} {component.description} {component.body}")}
    shared = [word for word in words if word not in STOPWORDS and stem(word) in held]
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


def stem(word: str) -> str:
    """Return a crude stem: enough to see that `tests` and `testing` are one word."""
    for ending in ("ations", "ation", "ings", "ing", "ies", "ers", "er", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
