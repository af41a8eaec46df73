"""Ranks the sections of a pack for a question by the stages of a profile: further evidence, then a better order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from repertoire.domain.pack_stages import (
    CROSS_ENCODER,
    DEDUPE,
    FEWSHOT,
    GRAPH,
    MULTI_QUERY,
    MULTIDOC,
    QUALITY,
    RERANKER,
)
from repertoire.ports import Reranker, Vectors, model_of
from repertoire.retrieval.arrays import Floats, best_rows
from repertoire.retrieval.query_forms import forms_of
from repertoire.retrieval.sections import (
    EVIDENCE,
    SUM,
    WEIGHTS,
    RankedSection,
    SectionRun,
    add_up,
    rank_sections,
    ranked_sections,
)
from repertoire.retrieval.stage import Stage, take_all
from repertoire.retrieval.translation import in_english

# Weights of the further evidence; among the values that were compared, those that did least harm (bench/packs).
PACK_WEIGHTS: Mapping[str, float] = {**WEIGHTS, MULTI_QUERY: 0.15, FEWSHOT: 0.3, GRAPH: 0.05}
LEAST_QUALITY = 0.02  # a word: "Seven days." below a heading is an answer, a heading alone is none
_WORDS_OF_GOOD_TEXT = 50  # a text of so many words has the quality 1
_ALIKE = 0.8  # cosine from which a question of the exam speaks for its sections
_EXAMPLES = 2  # nearest questions of the exam that are heard
_POOL, _HEAD = 40, 20  # best sections whose texts are read, and those that are put in another order
_RRF, _CENTRALITY = 60, 0.5  # the usual constant of reciprocal rank fusion, and the weight of the links
_KEPT = 3  # the best section stays first, unless the links leave it among so many
_LINKED = 2  # sections of linked documents that are added
_CROSS_TEXT = 1_500  # characters of a section that a cross-encoder reads


class Examples(NamedTuple):
    """Questions of an exam: their vectors, and the node ids of the sections that answer each."""

    vectors: Vectors
    answers: Sequence[Sequence[int]]


Texts = Callable[[Sequence[int]], Mapping[int, str]]  # returns texts of sections by node id


@dataclass
class PackRun(SectionRun):
    """The state of one question to a pack; the last stages order `pool`, the rows that may be shown, best first."""

    held = True

    weights: Mapping[str, float] = field(default_factory=lambda: PACK_WEIGHTS)
    texts: Texts = lambda _: {}
    examples: Callable[[], Examples | None] = lambda: None
    reranker: Reranker | None = None
    least_quality: float = LEAST_QUALITY
    limit: int = 5
    pool: list[int] = field(default_factory=list)
    linked: list[int] = field(default_factory=list)  # rows of linked documents, which follow the answer
    text_of: dict[int, str] = field(default_factory=dict)  # by row, of the pool

    def reorder(self, rows: Sequence[int]) -> None:
        """Put the head of the pool into another order; scores stay comparable across packs, since ranks trade them."""
        head = [*rows]
        ordered = sorted((float(self.scores[row]) for row in head), reverse=True)
        self.scores[head] = ordered
        self.pool[: len(head)] = head


def by_forms(run: PackRun) -> str:
    """Score sections by the form of the question that finds them best."""
    forms = forms_of(in_english(run.question, model_of(run.embedder)))
    if run.embedder is not None and run.vector is not None:
        fresh = [form for form in forms if form not in run.embedded]
        vectors = run.embedder.embed_passages(fresh) if fresh else ()
        run.embedded.update({form: np.asarray(one, dtype=np.float32) for form, one in zip(fresh, vectors, strict=True)})
    best = np.zeros(len(run.index))
    for form in forms:
        other = SectionRun(form, run.graph, run.index, run.embedder, without=run.without, embedded=run.embedded)
        rank_sections(other, limit=0)
        np.maximum(best, other.scores, out=best)
    run.evidence[MULTI_QUERY] = best
    return f"{len(forms)} forms"


def by_examples(run: PackRun) -> str:
    """Score the sections that answer a question of the exam which is nearly the same."""
    examples = run.examples()
    if examples is None or run.vector is None:
        return "no exam"
    near = examples.vectors @ run.vector
    scores = np.zeros(len(run.index))
    heard = [one for one in np.argsort(-near, kind="stable")[:_EXAMPLES].tolist() if near[one] >= _ALIKE]
    for one in heard:
        rows, known = run.index.rows_of(np.array(examples.answers[one], dtype=np.int64))
        np.maximum.at(scores, rows[known], float(near[one]))
    run.evidence[FEWSHOT] = scores
    return f"{len(heard)} alike"


def by_links(run: PackRun) -> str:
    """Score sections by the mean of the best sections of the documents that are linked with theirs."""
    add_up(run)
    source, target = run.index.links
    best = np.zeros(len(run.index.topology.ids))
    ranked = np.isfinite(run.scores)
    np.maximum.at(best, run.index.article_of[ranked], run.scores[ranked])
    total, count = np.zeros_like(best), np.zeros_like(best)
    for one, other in ((source, target), (target, source)):
        np.add.at(total, one, best[other])
        np.add.at(count, one, 1.0)
    run.evidence[GRAPH] = (total / np.maximum(count, 1.0))[run.index.article_of]
    return f"{len(source)} links"


def fill_pool(run: PackRun) -> str:
    """Take the best sections with their texts."""
    run.pool = best_rows(run.scores, max(_POOL, 4 * run.limit)).tolist()
    ids = run.index.node_ids
    texts = run.texts([int(ids[row]) for row in run.pool])
    run.text_of = {row: texts.get(int(ids[row]), "") for row in run.pool}
    return f"{len(run.pool)} taken"


def quality_of(text: str) -> float:
    """Return the quality of a section, 0 to 1: its length in words without headings."""
    words = sum(len(line.split()) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return min(1.0, words / _WORDS_OF_GOOD_TEXT)


def drop_poor(run: PackRun) -> str:
    """Drop sections that say hardly anything, unless nothing else is left."""
    kept = [row for row in run.pool if quality_of(run.text_of[row]) >= run.least_quality]
    dropped = len(run.pool) - len(kept)
    run.pool = kept or run.pool
    return f"{dropped} dropped"


def drop_copies(run: PackRun) -> str:
    """Keep the best of sections with the same text."""
    seen = {same_text(run.text_of[row]): row for row in reversed(run.pool)}
    kept = [row for row in run.pool if seen[same_text(run.text_of[row])] == row]
    dropped, run.pool = len(run.pool) - len(kept), kept
    return f"{dropped} dropped"


def same_text(text: str) -> str:
    """Return a text in small letters and single blanks, without the marks of its heading: equal ones say the same."""
    return " ".join(text.lower().lstrip("#").split())


def by_cross_encoder(run: PackRun) -> str:
    """Order the best sections by a cross-encoder, where one is configured."""
    if run.reranker is None:
        return "none is configured"
    head = run.pool[:_HEAD]
    with run.stage_log.aside():
        run.reranker.load()
    scores: Floats = np.asarray(run.reranker.score(run.question, [run.text_of[row][:_CROSS_TEXT] for row in head]))
    run.reorder([head[place] for place in np.argsort(-scores, kind="stable").tolist()])
    return f"{len(head)} read"


def by_centrality(run: PackRun) -> str:
    """Fuse the order of the best sections with that of their documents' links, by reciprocal ranks."""
    head = run.pool[:_HEAD]
    source, target = run.index.links
    if not head or not len(source):
        return "no links"
    degree = np.bincount(np.concatenate((source, target)), minlength=len(run.index.topology.ids))
    central = np.argsort(np.argsort(-degree[run.index.article_of[head]], kind="stable"))
    fused = 1.0 / (_RRF + 1 + np.arange(len(head))) + _CENTRALITY / (_RRF + 1 + central)
    order = [head[place] for place in np.argsort(-fused, kind="stable").tolist()]
    if head[0] not in order[:_KEPT]:
        order.remove(head[0])
        order.insert(0, head[0])
    run.reorder(order)
    return f"{len(head)} fused"


def expand(run: PackRun) -> str:
    """Add the best section of each of the documents that are linked with the first one's; they follow the answer."""
    shown = run.pool[: run.limit]
    if not shown:
        return "nothing found"
    source, target = run.index.links
    first = run.index.article_of[shown[0]]
    near = {*target[source == first].tolist(), *source[target == first].tolist()} - {first}
    near -= {int(one) for one in run.index.article_of[shown]}
    rows = np.flatnonzero(np.isin(run.index.article_of, [*near]) & np.isfinite(run.scores))
    by_article: dict[int, int] = {}
    for row in rows[np.argsort(-run.scores[rows], kind="stable")].tolist():
        by_article.setdefault(int(run.index.article_of[row]), row)
    run.linked = [*by_article.values()][:_LINKED]
    return f"{len(run.linked)} added"


PACK_STAGES: tuple[Stage[PackRun], ...] = (
    *EVIDENCE,
    Stage(MULTI_QUERY, MULTI_QUERY, by_forms),
    Stage(FEWSHOT, FEWSHOT, by_examples),
    Stage(GRAPH, GRAPH, by_links),
    SUM,
    Stage("pool", "", fill_pool, cheap=True),
    Stage(QUALITY, QUALITY, drop_poor, cheap=True),
    Stage(DEDUPE, DEDUPE, drop_copies, cheap=True),
    Stage(CROSS_ENCODER, CROSS_ENCODER, by_cross_encoder, on=lambda run: bool(run.pool)),
    Stage(RERANKER, RERANKER, by_centrality),
    Stage(MULTIDOC, MULTIDOC, expand, cheap=True),
)


class PackRanking(NamedTuple):
    """The sections that answer best, best first, and sections of linked documents."""

    sections: list[RankedSection]
    linked: list[RankedSection]


def rank_pack(run: PackRun) -> PackRanking:
    """Return the best sections of a pack, and those of documents that the first one's is linked with."""
    take_all(PACK_STAGES, run)
    return PackRanking(ranked_sections(run, run.pool[: run.limit]), ranked_sections(run, run.linked))
