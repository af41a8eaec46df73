"""Computes the full-text scores and the vector similarities of every component for a question."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE, REQUEST_SPACE
from repertoire.domain.errors import ModelUnavailable
from repertoire.ports import Embedder, GraphReader
from repertoire.retrieval.arrays import Mask
from repertoire.retrieval.lexical import Lexical, lexical
from repertoire.retrieval.plan import QueryPlan
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.stage_reports import StageLog
from repertoire.retrieval.vector import Question, Semantic, semantic

# Characters from which on a question is embedded with the adapter alone: without its plain vector, which takes as long
# again, no figure of 370 such questions fell (dev). Shorter questions gain from both (cc_native, MRR 2.0).
_LONG = 300
# Characters from which on clauses are embedded by late chunking: as good, in half the time. The clauses of a shorter
# question tell more when embedded by themselves, which is fast (cc_trigger, one wrong hint less).
_READ_WHOLE = 120


class Gatherer:
    """Queries the full text and the vectors of one store with one embedding model."""

    def __init__(self, graph: GraphReader, embedder: Embedder | None) -> None:
        """Keep the store and the model; without an embedder only full text is queried."""
        self._graph = graph
        self._embedder = embedder
        # These threads embed the question while the index is read: both compute outside Python's lock.
        self._beside = ThreadPoolExecutor(2, thread_name_prefix="embed")

    def words(self, plan: QueryPlan, snapshot: Snapshot, allowed: Mask) -> Lexical:
        """Return the full-text scores of every row."""
        return lexical(self._graph, plan.words, plan.clauses, snapshot, allowed, depth=plan.effort.depth)

    def vectors(self, question: Question, snapshot: Snapshot, allowed: Mask) -> tuple[Semantic, Semantic]:
        """Return the similarities of every row to the question: those of the bodies, those of the descriptions."""
        body = self._beside.submit(semantic, snapshot.spaces[BODY_SPACE], question, allowed, snapshot.inside)
        description = semantic(snapshot.spaces[DESCRIPTION_SPACE], question, allowed, snapshot.inside)
        return body.result(), description

    def begin(self, plan: QueryPlan, snapshot: Snapshot, stage_log: StageLog) -> Callable[[], Question | None]:
        """Begin to embed the question and its clauses; return a function that waits for the vectors.

        Where they cannot be embedded it returns None, and the stage log notes what is missing.
        """
        embedder = self._embedder
        if embedder is None:
            if "vectors" not in plan.query.without:
                stage_log.missing("no embedding model: words and graph alone")
            return _none
        if not _may_embed(plan, snapshot, stage_log, loaded=embedder.loaded):
            return _none
        text, clauses = plan.query.text, plan.clauses if plan.effort.clauses else ()
        try:
            with stage_log.aside():
                embedder.load()
        except ModelUnavailable as error:
            stage_log.missing(f"no embedding model: {error}")
            return _none
        # Code is compared by plain vectors, without the adapter, however long the question is.
        plainly = plan.code or len(text) < _LONG
        asking = self._beside.submit(embedder.embed_passages, [text]) if plainly else None
        if len(text) < _READ_WHOLE:
            turning = [self._beside.submit(embedder.embed_queries, [part]) for part in (text, *clauses)]
        else:
            turning = [self._beside.submit(embedder.embed_question, text, clauses)]

        def question() -> Question | None:
            try:
                with stage_log.stage("embed") as detail:
                    detail.append(f"{1 + len(clauses)} texts")
                    adapted = np.concatenate([read.result() for read in turning])
                    return Question(adapted[0] if asking is None else asking.result()[0], adapted[0], adapted[1:])
            except ModelUnavailable as error:
                stage_log.missing(f"no embedding model: {error}")
                return None

        return question


def _none() -> None:
    return None


def _may_embed(plan: QueryPlan, snapshot: Snapshot, stage_log: StageLog, *, loaded: bool) -> bool:
    if "vectors" in plan.query.without:
        stage_log.skip("embed", "switched off")
        return False
    done = len(snapshot.spaces[BODY_SPACE].rows)
    if done < len(snapshot):
        left, known = len(snapshot) - done, len(snapshot)
        stage_log.missing(f"{left:,} of {known:,} components are found by words alone until they are embedded")
    if not done and not len(snapshot.spaces[REQUEST_SPACE].rows):
        return False
    if not (loaded or plan.effort.loading):
        stage_log.skip("embed", f"{plan.query.mode}, and the model is not in memory")
        return False
    return stage_log.in_time("embed")
