"""Answers with words, vectors and both fused by reciprocal ranks: the plain searches that measurements stand beside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from repertoire.retrieval.sections import CHUNKS, HEADINGS, WORDS

_K = 60  # the constant of Cormack, Clarke and Buettcher (2009)
_ALONE = {WORDS: 0.0, CHUNKS: 0.0, HEADINGS: 0.0}


def fuse_equally(rankings: Iterable[Sequence[int]]) -> list[int]:
    """Return the ids of all rankings, best first; of equal sums the one that was met first."""
    scores = defaultdict[int, float](float)
    for ranking in rankings:
        for rank, one in enumerate(ranking, 1):
            scores[one] += 1 / (_K + rank)
    return sorted(scores, key=lambda one: -scores[one])


def plain_systems(
    ranked: Callable[[Mapping[str, float]], list[int]], *, vectors: bool
) -> dict[str, Callable[[], list[int]]]:
    """Return the plain ways to answer a question, given how sections are ranked with weights."""
    systems = {"fts5": lambda: ranked({**_ALONE, WORDS: 1.0})}
    if vectors:
        systems["vectors"] = lambda: ranked({**_ALONE, CHUNKS: 1.0})
        systems["rrf"] = lambda: fuse_equally(ranked({**_ALONE, one: 1.0}) for one in (WORDS, CHUNKS))
    return systems
