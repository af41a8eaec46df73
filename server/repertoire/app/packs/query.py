"""Answers a question from packs: the best sections with citations, or that no pack covers the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from repertoire.app.packs.shelf import PackShelf
from repertoire.domain.errors import InvalidRequest, PackRefused, StoreError
from repertoire.domain.pack import PackPassage
from repertoire.ports import Embedder
from repertoire.retrieval.sections import SectionRun, rank_sections

NO_VECTORS = "no vectors: by words alone nobody can tell whether a pack covers the question"
NO_PACKS = "there is no pack here; `repertoire pack build NAME --from FOLDER` makes one"
_BEHIND = 0.03  # a pack whose nearest chunk is this much farther than another pack's does not cover the question
_QUESTION = 2_000  # characters of a question that are read


@dataclass(frozen=True)
class PackQuestion:
    """A question to packs; without names, all packs are asked."""

    question: str
    packs: tuple[str, ...] = ()
    limit: int = 5
    without: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PackHit:
    """A section that may answer, with the pack that holds it."""

    pack: str
    passage: PackPassage
    score: float


@dataclass(frozen=True)
class PackAnswer:
    """The answer to a question: sections, best first. If no pack covers it they are only the nearest.

    `covering` names the packs that cover it: above the gate, and hardly behind the nearest of them. `confidence` is
    the cosine between the question and the nearest chunk of the packs that were asked.
    """

    hits: tuple[PackHit, ...]
    covering: tuple[str, ...]
    confidence: float
    asked: tuple[str, ...]
    degraded: tuple[str, ...] = ()

    @property
    def covered(self) -> bool:
        """Whether any pack covers the question."""
        return bool(self.covering)


@dataclass
class _Found:
    """What one pack found."""

    name: str
    hits: list[PackHit] = field(default_factory=list)
    nearest: float = 0.0
    judged: bool = False  # whether vectors were compared


def query_packs(shelf: PackShelf, wanted: PackQuestion, *, embedder: Embedder | None, gate: float) -> PackAnswer:
    """Return the sections that answer a question best; packs that do not cover it count only where none does.

    Raises:
        InvalidRequest: nothing is asked.
        PackRefused: a named pack does not exist or cannot be read.
    """
    if not wanted.question.strip():
        message = "nothing is asked; send a question in words"
        raise InvalidRequest(message)
    names = wanted.packs or tuple(manifest.name for manifest in shelf.listing().packs)
    if not names:
        return PackAnswer((), covering=(), confidence=0.0, asked=(), degraded=(NO_PACKS,))
    asked = [_ask_or_leave_out(shelf, name, wanted, embedder) for name in names]
    found = [one for one in asked if isinstance(one, _Found)]
    degraded = [one for one in asked if isinstance(one, str)]
    if any(not one.judged for one in found):
        degraded.append(NO_VECTORS)
    nearest = max((one.nearest for one in found), default=0.0)
    least = max(gate, nearest - _BEHIND)
    covering = [one for one in found if one.hits and (one.nearest >= least or not one.judged)]
    hits = _merged(covering or found, wanted.limit)
    return PackAnswer(hits, tuple(one.name for one in covering), nearest, names, tuple(degraded))


def _ask_or_leave_out(shelf: PackShelf, name: str, wanted: PackQuestion, embedder: Embedder | None) -> _Found | str:
    """Return what a pack found; of a pack that nobody named and that cannot be read, the reason."""
    try:
        return _ask(shelf, name, wanted, embedder)
    except (PackRefused, StoreError) as error:
        if wanted.packs:
            raise
        return f"pack {name} was left out: {error}"


def _ask(shelf: PackShelf, name: str, wanted: PackQuestion, embedder: Embedder | None) -> _Found:
    pack = shelf.open(name, embedder.model if embedder is not None else "")
    question = wanted.question[:_QUESTION]
    run = SectionRun(question, pack.store.graph, pack.index, embedder, without=wanted.without)
    with pack.store.guarded():
        ranked = rank_sections(run, limit=wanted.limit)
        passages = pack.store.passages({one.node_id: one.chunk for one in ranked})
        hits = [PackHit(name, passages[one.node_id], one.score) for one in ranked]
    return _Found(name, hits, run.nearest, judged=run.compared)


def _merged(found: Sequence[_Found], limit: int) -> tuple[PackHit, ...]:
    """Return the best hits of all packs; a score sums cosines, which are comparable across packs of one model."""
    hits = [hit for one in found for hit in one.hits]
    hits.sort(key=lambda hit: (-hit.score, hit.pack, hit.passage.citation))
    return tuple(hits[:limit])
