"""Answers a question from packs: the best sections with citations, or that no pack covers the question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from repertoire.app.packs.examples import examples_of
from repertoire.app.packs.shelf import OpenPack, PackShelf
from repertoire.documentation.manifest import PackManifest
from repertoire.domain.answer import StageReport
from repertoire.domain.errors import InvalidRequest, PackRefused, StoreError
from repertoire.domain.pack import SECTIONS, PackPassage
from repertoire.domain.pack_stages import BALANCED, DEDUPE, GATE, PROFILES, STAGES
from repertoire.ports import Embedder, Reranker, Vectors, model_of
from repertoire.retrieval.pack_gate import NEAREST, PackView, margins
from repertoire.retrieval.pack_ranking import LEAST_QUALITY, PackRun, rank_pack, same_text
from repertoire.retrieval.sections import nearest_sections
from repertoire.retrieval.translation import words_asked

NO_VECTORS = "no vectors: by words alone nobody can tell whether a pack covers the question"
NO_PACKS = "there is no pack here; `repertoire pack build NAME --from SOURCE` makes one"
_FLOOR = 0.25  # the least gate that the manifest of a pack may ask for: it may come from a stranger
_EASED = 0.8  # of its gate a pack must reach beside others: the comparison with them tells more than nearness
_BEHIND = 0.06  # a pack that is this far behind the best other one does not cover the question
_WORDS = 24  # words of a question by which packs are compared
_QUESTION = 2_000  # characters of a question that are read


@dataclass(frozen=True)
class PackQuestion:
    """A question to packs; without names, all packs are asked.

    Profile and switches change what `PackMeans` says of stages. `held_back` is an exam's question that nobody may know.
    """

    question: str
    packs: tuple[str, ...] = ()
    limit: int = 5
    profile: str = ""
    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    held_back: str = ""


@dataclass(frozen=True)
class PackHit:
    """A section that may answer, with the pack that holds it."""

    pack: str
    passage: PackPassage
    score: float


@dataclass(frozen=True)
class PackAnswer:
    """The answer to a question: sections, best first. If no pack covers it they are only the nearest.

    `covering` names the packs that cover it: above the gate, and hardly behind the best of them. `confidence` is
    the cosine between the question and the nearest chunk of the packs that were asked. `linked` are sections of
    documents with which that of the best section is linked.
    """

    hits: tuple[PackHit, ...]
    covering: tuple[str, ...]
    confidence: float
    asked: tuple[str, ...]
    degraded: tuple[str, ...] = ()
    linked: tuple[PackHit, ...] = ()
    reports: Mapping[str, tuple[StageReport, ...]] = field(default_factory=dict)  # by pack

    @property
    def covered(self) -> bool:
        """Whether any pack covers the question."""
        return bool(self.covering)


@dataclass(frozen=True)
class PackMeans:
    """What a question to packs may use; `gates` overrides the gates that manifests ask for.

    `chosen`: a person chose the stages, so that the settings of a pack count for nothing.
    """

    embedder: Embedder | None
    gate: float
    least_quality: float = LEAST_QUALITY
    reranker: Reranker | None = None
    stages: frozenset[str] = PROFILES[BALANCED]
    gates: Mapping[str, float] = field(default_factory=dict)
    chosen: bool = False


@dataclass(frozen=True)
class _Found:
    """What one pack found."""

    name: str
    pack: OpenPack
    hits: list[PackHit]
    linked: list[PackHit]
    nearest: float
    gate: float
    judged: bool  # whether vectors were compared
    sections: Sequence[tuple[int, float]]  # the nearest, by node id, with their cosines
    reports: tuple[StageReport, ...]
    degraded: tuple[str, ...]


def query_packs(shelf: PackShelf, wanted: PackQuestion, means: PackMeans) -> PackAnswer:
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
    embedded: dict[str, Vectors] = {}  # a question is embedded once for all packs
    asked = [_ask_or_leave_out(shelf, name, wanted, means, embedded) for name in names]
    found = [one for one in asked if isinstance(one, _Found)]
    degraded = [one for one in asked if isinstance(one, str)]
    if any(not one.judged for one in found):
        degraded.append(NO_VECTORS)
    degraded += dict.fromkeys(note for one in found for note in one.degraded)
    covering = _covering(found, wanted.question[:_QUESTION], means)
    answering = covering or found
    hits = _merged([hit for one in answering for hit in one.hits], wanted, means)
    return PackAnswer(
        hits,
        tuple(one.name for one in covering),
        max((one.nearest for one in found), default=0.0),
        names,
        tuple(degraded),
        _merged([hit for one in answering for hit in one.linked], wanted, means),
        {one.name: one.reports for one in found},
    )


def gate_of(manifest: PackManifest, gate: float) -> float:
    """Return the least cosine at which a pack covers a question: what its exam showed, at most the usual one."""
    asked = next((one["gate"] for one in reversed(manifest.scores) if "gate" in one), None)
    return bounded_gate(float(asked), gate) if isinstance(asked, (int, float)) else gate


def bounded_gate(asked: float, gate: float) -> float:
    """Return the gate that a pack may have: at most the usual one, and not so low that everything passes."""
    return min(gate, max(_FLOOR, asked))


def _covering(found: Sequence[_Found], question: str, means: PackMeans) -> list[_Found]:
    """Return the packs that are near enough, and hardly behind the best other; without vectors those that match."""
    if GATE not in means.stages:
        return [one for one in found if one.hits]
    compared = [one for one in found if one.judged and one.hits]
    ahead = dict(zip((one.name for one in compared), _margins(compared, question), strict=True))

    def covers(one: _Found) -> bool:
        gate = max(_FLOOR, one.gate * _EASED) if len(compared) > 1 else one.gate
        return one.nearest >= gate and ahead[one.name] >= -_BEHIND

    return [one for one in found if one.hits and (not one.judged or covers(one))]


def _margins(found: Sequence[_Found], question: str) -> list[float]:
    """Return how far each pack is ahead of the best other one."""
    if len(found) <= 1:
        return [math.inf for _ in found]
    words = words_asked(question)[:_WORDS]
    return margins(words, [_view(one, words) for one in found])


def _view(found: _Found, words: Sequence[str]) -> PackView:
    pack = found.pack
    with pack.store.guarded():
        held = pack.store.held_by(words, [section for section, _ in found.sections])
        counts = pack.store.graph.document_frequency(words, view=SECTIONS)
    size = pack.manifest.statistics
    return PackView(size.sections, size.characters, counts, [(cosine, held[one]) for one, cosine in found.sections])


def _ask_or_leave_out(
    shelf: PackShelf, name: str, wanted: PackQuestion, means: PackMeans, embedded: dict[str, Vectors]
) -> _Found | str:
    """Return what a pack found; of a pack that nobody named and that cannot be read, the reason."""
    try:
        return _ask(shelf, name, wanted, means, embedded)
    except (PackRefused, StoreError) as error:
        if wanted.packs:
            raise
        return f"pack {name} was left out: {error}"


def _ask(shelf: PackShelf, name: str, wanted: PackQuestion, means: PackMeans, embedded: dict[str, Vectors]) -> _Found:
    pack = shelf.open(name, model_of(means.embedder))
    with pack.store.guarded():
        run = replace(_run(shelf, pack, wanted, means), embedded=embedded)
        ranking = rank_pack(run)
        passages = pack.store.passages({one.node_id: one.chunk for part in ranking for one in part})
        hits, linked = ([PackHit(name, passages[one.node_id], one.score) for one in part] for part in ranking)
    # A lone pack that nobody named tells subjects apart only at the usual gate: no other pack is compared with it.
    compared = bool(wanted.packs) or len(shelf.listing().packs) > 1
    gate = means.gates.get(name, gate_of(pack.manifest, means.gate) if compared else means.gate)
    log = run.stage_log
    near = nearest_sections(run, NEAREST)
    return _Found(name, pack, hits, linked, run.nearest, gate, run.compared, near, log.reports, log.degraded)


def _run(shelf: PackShelf, pack: OpenPack, wanted: PackQuestion, means: PackMeans) -> PackRun:
    """Return the question to one pack, ready to be ranked."""
    embedder, own = means.embedder, pack.config.quality_percent

    def texts(node_ids: Sequence[int]) -> dict[int, str]:
        return {one: passage.text for one, passage in pack.store.passages(dict.fromkeys(node_ids)).items()}

    return PackRun(
        wanted.question[:_QUESTION],
        pack.store.graph,
        pack.index,
        embedder,
        without=frozenset(STAGES) - _stages(pack, means),
        texts=texts,
        examples=lambda: examples_of(shelf, pack, embedder, held_back=wanted.held_back),
        reranker=means.reranker,
        least_quality=means.least_quality if own is None or means.chosen else own / 100,
        limit=wanted.limit,
    )


def _stages(pack: OpenPack, means: PackMeans) -> frozenset[str]:
    """Return the stages that a question to a pack passes: those of its own settings where no person chose."""
    config = pack.config
    return means.stages if means.chosen else (means.stages | frozenset(config.on)) - frozenset(config.off)


def _merged(hits: Sequence[PackHit], wanted: PackQuestion, means: PackMeans) -> tuple[PackHit, ...]:
    """Return the best hits of all packs; a score sums cosines, which are comparable across packs of one model."""
    ranked = sorted(hits, key=lambda hit: (-hit.score, hit.pack, hit.passage.citation))
    if DEDUPE in means.stages:
        first: dict[str, PackHit] = {}
        for hit in ranked:
            first.setdefault(same_text(hit.passage.text), hit)
        ranked = [*first.values()]
    return tuple(ranked[: wanted.limit])
