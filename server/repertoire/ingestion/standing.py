"""What only all sources together show: which components stand for each other, how often each is carried and named."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from repertoire.domain.component import ALTERNATIVE_TO, Edge
from repertoire.domain.text import content_words

_ALTERNATIVES = 8  # for each component: twenty copies of one agent must not become four hundred edges
_COMPARED = 60
_SAME_WORDS = 10  # a description shorter than this is alike by chance
_SAME, _NAMESAKE, _ALIKE = 0.95, 0.5, 0.8


@dataclass(frozen=True)
class Carrier:
    """A component as seen beside those of all other sources."""

    node_id: int
    id: str
    type: str
    name: str
    source: str
    content_hash: str
    words: frozenset[str]  # of its description
    stated: float = 0.0  # installs or stars, where a marketplace says

    @classmethod
    def of(cls, node_id: int, identity: tuple[str, str, str, str, str], description: str, stated: float) -> Carrier:
        """Make a carrier of (id, type, name, source, content hash)."""
        return cls(node_id, *identity, frozenset(content_words(description[:400])), stated)


def alternatives(carriers: Sequence[Carrier]) -> list[Edge]:
    """Return edges between components of one type that bear one name or one description, the closest first."""
    pairs: dict[tuple[str, str], tuple[float, str]] = {}
    for group, by_name in _groups(carriers):
        for index, first in enumerate(group):
            for second in group[index + 1 : index + _COMPARED]:
                low, high = sorted((first.id, second.id))
                found = _closeness(first, second, by_name=by_name)
                pairs[low, high] = max(found, pairs.get((low, high), found))
    degree: dict[str, int] = {}
    edges = []
    for (low, high), (weight, evidence) in sorted(pairs.items(), key=lambda item: (-item[1][0], item[0])):
        if degree.get(low, 0) < _ALTERNATIVES and degree.get(high, 0) < _ALTERNATIVES:
            degree[low] = degree.get(low, 0) + 1
            degree[high] = degree.get(high, 0) + 1
            edges.append(Edge(low, high, ALTERNATIVE_TO, weight, evidence))
    return edges


def _groups(carriers: Sequence[Carrier]) -> Iterator[tuple[list[Carrier], bool]]:
    names: dict[tuple[str, str], list[Carrier]] = {}
    texts: dict[tuple[str, frozenset[str]], list[Carrier]] = {}
    for carrier in sorted(carriers, key=lambda carrier: (carrier.content_hash, carrier.id)):
        names.setdefault(_name(carrier), []).append(carrier)
        if len(carrier.words) >= _SAME_WORDS:
            texts.setdefault((carrier.type, carrier.words), []).append(carrier)
    for group in names.values():
        if len(group) > 1:
            yield group, True
    for group in texts.values():
        if len(group) > 1:
            yield group, False


def _name(carrier: Carrier) -> tuple[str, str]:
    return carrier.type, carrier.name.lower().replace("_", "-").replace(" ", "-")


def _closeness(first: Carrier, second: Carrier, *, by_name: bool) -> tuple[float, str]:
    if first.content_hash == second.content_hash:
        return _SAME, "same content"
    if not by_name:
        return _ALIKE, "same words in their descriptions"
    union = len(first.words | second.words)
    alike = len(first.words & second.words) / union if union else 0.0
    return round(_NAMESAKE + 0.4 * alike, 3), f"same name, descriptions alike to {alike:.0%}"


def popularity(carriers: Iterable[Carrier], named: Mapping[int, float]) -> dict[int, float]:
    """Return how popular each component is, 0 for one that is carried once and named nowhere.

    It adds the sources that carry it, how strongly others name or need it (`named`, by node id), and what a marketplace
    says, each by its logarithm.
    """
    listed = list(carriers)
    sources: dict[tuple[str, str], set[str]] = {}
    for carrier in listed:
        sources.setdefault(_name(carrier), set()).add(carrier.source)
    return {
        carrier.node_id: round(
            math.log2(len(sources[_name(carrier)]))
            + 0.5 * math.log2(1.0 + named.get(carrier.node_id, 0.0))
            + math.log10(1.0 + carrier.stated),
            3,
        )
        for carrier in listed
    }
