"""Gathers what words and vectors say of every component: the evidence that is then weighed into one score."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE, REQUEST_SPACE
from repertoire.domain.errors import ModelUnavailable
from repertoire.ports import Embedder, GraphReader
from repertoire.retrieval.fuse import Features, conditions, features
from repertoire.retrieval.lexical import Lexical, lexical
from repertoire.retrieval.plan import Plan
from repertoire.retrieval.snapshot import Mask, Snapshot
from repertoire.retrieval.trace import Trace
from repertoire.retrieval.vector import Question, Semantic, semantic

# Characters from which on a question is read once, turned: without its plain reading, which takes as long again, no
# figure of 370 such questions fell (dev). Among shorter ones it finds more (cc_native, MRR 2.0).
_LONG = 300
# Characters from which on clauses are read within the whole: as good, in half the time. In a few words each tells more
# by itself, and is soon read (cc_trigger, one wrong hint less).
_READ_WHOLE = 120


class Gatherer:
    """Reads the full text and the vectors of one store with one model."""

    def __init__(self, graph: GraphReader, embedder: Embedder | None) -> None:
        """Without an embedder there are words alone."""
        self._graph = graph
        self._embedder = embedder
        # They read the question and its clauses while the index is read here: all of that computes outside Python.
        self._beside = ThreadPoolExecutor(2, thread_name_prefix="embed")

    def gather(self, plan: Plan, snapshot: Snapshot, allowed: Mask, trace: Trace) -> tuple[Features, Question | None]:
        """Return the evidence for every row, and the vectors of the question where there are any."""
        embedding = self._begin(plan, snapshot, trace)
        words = self._words(plan, snapshot, allowed, trace)
        question = embedding()
        if question is not None and not trace.in_time("vectors"):
            question = None
        body = description = Semantic.silent(len(snapshot))
        if question is not None:
            with trace.stage("vectors") as detail:
                comparing = self._beside.submit(
                    semantic, snapshot.spaces[BODY_SPACE], question, allowed, snapshot.inside
                )
                description = semantic(snapshot.spaces[DESCRIPTION_SPACE], question, allowed, snapshot.inside)
                body = comparing.result()
                detail.append(f"{len(snapshot.spaces[BODY_SPACE].rows)} compared")
        asked = conditions(plan.words, plan.clauses, flatness=words.flatness, length=snapshot.length)
        return features(words, body, description, snapshot.priors, asked), question

    def _words(self, plan: Plan, snapshot: Snapshot, allowed: Mask, trace: Trace) -> Lexical:
        if "text" in plan.query.without:
            trace.skip("words", "switched off")
            return Lexical.silent(len(snapshot))
        with trace.stage("words") as detail:
            words = lexical(self._graph, plan.words, plan.clauses, snapshot, allowed, depth=plan.effort.depth)
            detail.append(f"{int((words.whole > 0).sum())} hold a word")
        return words

    def _begin(self, plan: Plan, snapshot: Snapshot, trace: Trace) -> Callable[[], Question | None]:
        """Begin to embed the question and its clauses; return what waits for their vectors.

        There are none, and a note of what is missing, where that cannot be.
        """
        embedder = self._embedder
        if embedder is None:
            if "vectors" not in plan.query.without:
                trace.missing("no embedding model: words and graph alone")
            return _none
        if not _may_embed(plan, snapshot, trace, loaded=embedder.loaded):
            return _none
        text, clauses = plan.query.text, plan.clauses if plan.effort.clauses else ()
        try:
            with trace.aside():
                embedder.load()
        except ModelUnavailable as error:
            trace.missing(f"no embedding model: {error}")
            return _none
        # Code is compared with code as the model alone reads it, however long it is.
        plainly = plan.code or len(text) < _LONG
        asking = self._beside.submit(embedder.embed_passages, [text]) if plainly else None
        if len(text) < _READ_WHOLE:
            turning = [self._beside.submit(embedder.embed_queries, [part]) for part in (text, *clauses)]
        else:
            turning = [self._beside.submit(embedder.embed_question, text, clauses)]

        def question() -> Question | None:
            try:
                with trace.stage("embed") as detail:
                    detail.append(f"{1 + len(clauses)} texts")
                    turned = np.concatenate([read.result() for read in turning])
                    return Question(turned[0] if asking is None else asking.result()[0], turned[0], turned[1:])
            except ModelUnavailable as error:
                trace.missing(f"no embedding model: {error}")
                return None

        return question


def _none() -> None:
    return None


def _may_embed(plan: Plan, snapshot: Snapshot, trace: Trace, *, loaded: bool) -> bool:
    if "vectors" in plan.query.without:
        trace.skip("embed", "switched off")
        return False
    done = len(snapshot.spaces[BODY_SPACE].rows)
    if done < len(snapshot):
        trace.missing(f"vectors {done}/{len(snapshot)}")
    if not done and not len(snapshot.spaces[REQUEST_SPACE].rows):
        return False
    if not (loaded or plan.effort.loading):
        trace.skip("embed", f"{plan.query.mode}, and the model is not in memory")
        return False
    return trace.in_time("embed")
