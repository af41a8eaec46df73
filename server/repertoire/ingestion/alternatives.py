"""Finds alternatives: pairs of components that do the same job, of which a set needs only one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from repertoire.domain.component import ALTERNATIVE_TO, Edge
from repertoire.ingestion.minhash import candidates, hashes, jaccard, signature
from repertoire.ingestion.twins import bounded, kind_of
from repertoire.ports import Outline

MAX_ALTERNATIVES = 5  # alternatives that are kept of one component
# Cosine of two descriptions; a lower threshold would make all components of one field alternatives.
SIMILARITY_THRESHOLD = 0.75
_COMPARED = 40
_FEW_WORDS = 6  # words of the shortest description that is compared: shorter ones are similar by chance
_WORDS_ALIKE, _NAMESAKES_ALIKE = 0.6, 0.25
_OVERLAP = 0.5
_NAMED_IN = "name"


@dataclass(frozen=True)
class ComponentPurpose:
    """A component's purpose: its description's words and its capabilities; `named` are those that its name states."""

    id: str
    type: str
    name: str
    source: str
    repository: str
    purpose: frozenset[str]
    capabilities: Mapping[str, float] = field(default_factory=dict)
    named: frozenset[str] = frozenset()
    content_hash: str = ""

    @classmethod
    def of(
        cls, outline: Outline, provides: Mapping[str, tuple[float, str]], purpose: frozenset[str]
    ) -> ComponentPurpose:
        """Make it from a component, the (weight, evidence) of each capability, and the description's words."""
        return cls(
            outline.id,
            outline.type,
            outline.name,
            outline.source,
            outline.repository,
            purpose,
            {term: weight for term, (weight, _) in provides.items()},
            frozenset(term for term, (_, evidence) in provides.items() if evidence.split(",")[0] == _NAMED_IN),
            outline.content_hash,
        )

    @property
    def slug(self) -> str:
        """The name in lower case, its words joined by hyphens."""
        return "-".join(self.name.lower().replace("_", " ").replace("-", " ").split())

    @property
    def kind(self) -> str:
        """The kind of component that could replace it: a skill, an agent and a command replace each other."""
        return kind_of(self.type)


def apart(one: ComponentPurpose, other: ComponentPurpose) -> bool:
    """Tell whether two components are no copies and of different sources: one author's parts go together."""
    same_place = one.source == other.source or (one.repository != "" and one.repository == other.repository)
    return not same_place and not _one_content(one, other)


def _one_content(one: ComponentPurpose, other: ComponentPurpose) -> bool:
    """Tell whether two components are exact copies, however short their text is."""
    return one.content_hash != "" and (one.content_hash, one.type, one.name) == (
        other.content_hash,
        other.type,
        other.name,
    )


def overlap(one: ComponentPurpose, other: ComponentPurpose) -> tuple[float, list[str]]:
    """Return the share of the smaller component's capabilities that the other provides too, and these capabilities.

    It is 0 if one's name states what the other does not do: `csharp-mcp-expert` replaces none for TypeScript.
    """
    if not (one.named <= other.capabilities.keys() and other.named <= one.capabilities.keys()):
        return 0.0, []
    shared = {term: min(weight, other.capabilities.get(term, 0.0)) for term, weight in one.capabilities.items()}
    least = min(sum(one.capabilities.values()), sum(other.capabilities.values()))
    terms = sorted((term for term, weight in shared.items() if weight), key=lambda term: (-shared[term], term))
    return (sum(shared.values()) / least if least else 0.0), terms


def by_words(jobs: Sequence[ComponentPurpose], known: frozenset[tuple[str, str]]) -> list[Edge]:
    """Return alternatives found by names and by words of descriptions; `known` are pairs with another relation."""
    edges: dict[tuple[str, str], Edge] = {}
    for edge in (*_namesakes(jobs), *_same_words(jobs)):
        key = edge.source, edge.target
        if key not in known and (key not in edges or edges[key].weight < edge.weight):
            edges[key] = edge
    return list(edges.values())


def by_meaning(
    jobs: Sequence[ComponentPurpose], near: Iterable[tuple[int, int, float]], known: frozenset[tuple[str, str]]
) -> list[Edge]:
    """Return alternatives among the nearest pairs of vectors (positions and cosine) that share capabilities too."""
    edges = []
    for first, second, cosine in near:
        one, other = sorted((jobs[first], jobs[second]), key=lambda job: job.id)
        if (
            cosine < SIMILARITY_THRESHOLD
            or one.kind != other.kind
            or not apart(one, other)
            or (one.id, other.id) in known
        ):
            continue
        share, terms = overlap(one, other)
        if share >= _OVERLAP:
            evidence = f"descriptions alike to {cosine:.2f} in meaning, both for {', '.join(terms[:3])}"
            edges.append(Edge(one.id, other.id, ALTERNATIVE_TO, round(cosine * (0.5 + 0.5 * share), 3), evidence))
    return edges


def choose(*edges: Iterable[Edge]) -> list[Edge]:
    """Keep the strongest few alternatives of each component, one edge a pair; authors' statements come first."""
    pairs: dict[tuple[str, str], Edge] = {}
    for group in edges:
        for edge in group:
            low, high = sorted((edge.source, edge.target))
            pairs.setdefault((low, high), edge)
    return bounded(list(pairs.values()), most=MAX_ALTERNATIVES)


def fill(present: Iterable[tuple[str, str]], found: Iterable[Edge]) -> list[Edge]:
    """Keep the strongest found alternatives, as many as each component may have beside those that are `present`."""
    ends = [end for pair in present for end in pair]
    return bounded(
        list({(edge.source, edge.target): edge for edge in found}.values()), most=MAX_ALTERNATIVES, beside=ends
    )


def _namesakes(jobs: Sequence[ComponentPurpose]) -> Iterator[Edge]:
    groups: dict[tuple[str, str], list[ComponentPurpose]] = {}
    for job in sorted(jobs, key=lambda job: job.id):
        groups.setdefault((job.kind, job.slug), []).append(job)
    for group in groups.values():
        for at, one in enumerate(group):
            for other in group[at + 1 : at + _COMPARED]:
                alike = _alike(one, other)
                share, terms = overlap(one, other)
                if apart(one, other) and (alike >= _NAMESAKES_ALIKE or share >= _OVERLAP):
                    evidence = f"same name, descriptions alike to {alike:.0%}"
                    both = f", both for {', '.join(terms[:3])}" if terms else ""
                    yield Edge(
                        one.id, other.id, ALTERNATIVE_TO, round(0.6 + 0.3 * max(alike, share), 3), evidence + both
                    )


def _same_words(jobs: Sequence[ComponentPurpose]) -> Iterator[Edge]:
    listed = [job for job in sorted(jobs, key=lambda job: job.id) if len(job.purpose) >= _FEW_WORDS]
    sets = [hashes(job.purpose) for job in listed]
    if len(sets) < 2:
        return
    for first, second in candidates(np.stack([signature(words) for words in sets]), least=_WORDS_ALIKE):
        one, other = listed[first], listed[second]
        alike = jaccard(sets[first], sets[second])
        if alike < _WORDS_ALIKE or one.kind != other.kind or not apart(one, other):
            continue
        share, terms = overlap(one, other)
        if share >= _OVERLAP:
            evidence = f"descriptions share {alike:.0%} of their words, both for {', '.join(terms[:3])}"
            yield Edge(one.id, other.id, ALTERNATIVE_TO, round(0.5 + 0.4 * alike, 3), evidence)


def _alike(one: ComponentPurpose, other: ComponentPurpose) -> float:
    union = len(one.purpose | other.purpose)
    return len(one.purpose & other.purpose) / union if union else 0.0
