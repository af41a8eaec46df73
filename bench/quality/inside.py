"""Asks a pipeline for what its learned parts read: evidence, second looks, features of grades and of confidence."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from repertoire.domain.answer import Query
from repertoire.retrieval.arrays import Floats
from repertoire.retrieval.confidence import WordFeatures
from repertoire.retrieval.fuse import Features
from repertoire.retrieval.grading import stack_fit_of
from repertoire.retrieval.judging import AnswerJudge, rarities_of
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.relevance import RELEVANCE
from repertoire.retrieval.relevance_features import relevance_features
from repertoire.retrieval.rerank import second_look
from repertoire.retrieval.snapshot import Snapshot

AFTER_FUSION = "capabilities"


def evidence(pipeline: Pipeline, query: Query) -> tuple[Snapshot, Features]:
    """Return the features of a query's rows, for learning the weights of fusion."""
    run = pipeline.run_before(AFTER_FUSION, query)
    return run.snapshot, run.evidence


def look(pipeline: Pipeline, query: Query, *, limit: int) -> tuple[list[str], Floats, Floats]:
    """Return the ids of an answer's head, their log-odds and their rerank features, for learning RERANK."""
    ranking = pipeline.rank(query, intent="")
    rows = ranking.rows[:limit]
    components = [entry.component for _, entry in ranking.reader.at(rows)]
    rarities = rarities_of(ranking.reader.graph, ranking.plan, ranking.snapshot)
    features = second_look(ranking.plan.query.text, rarities, components)
    return [component.id for component in components], ranking.odds(rows), features


def graded(pipeline: Pipeline, query: Query, *, keys: Collection[str], limit: int) -> tuple[list[str], Floats]:
    """Return the ids at the head of an answer and those of `keys`, with their features of relevance."""
    run = pipeline.run_before(RELEVANCE, query)
    wanted = [row for row in map(run.snapshot.row_of, keys) if row >= 0]
    rows = np.unique(np.concatenate([run.head(limit), np.array(wanted, dtype=np.int64)]))
    stored = run.reader.at(rows)
    rarities = rarities_of(run.reader.graph, run.plan, run.snapshot)
    rows, components = np.array([row for row, _ in stored]), [entry.component for _, entry in stored]
    return [one.id for one in components], relevance_features(run, rows, components, rarities)


def questions_read(pipeline: Pipeline, query: Query, keys: Collection[str]) -> dict[str, str]:
    """Map ids to the question as it is read together with each: in a project with a technology behind it."""
    run = pipeline.run_before(RELEVANCE, query)
    rows = {key: row for key in keys if (row := run.snapshot.row_of(key)) >= 0}
    questions = stack_fit_of(run, np.array([*rows.values()], dtype=np.int64)).questions(query.text)
    return dict(zip(rows, questions, strict=True))


def confidence_features(pipeline: Pipeline, query: Query) -> tuple[float, float, float]:
    """Return the three features of the confidence in an answer, for learning GATE."""
    ranking = pipeline.rank(query, intent="")
    judged = AnswerJudge(ranking.reader.graph, "").evidence(ranking, ranking.rows, ranking.nearness)
    return (judged.nearness, judged.first, judged.best) if judged else (0.0, 0.0, 0.0)


def word_features(pipeline: Pipeline, query: Query) -> tuple[str, WordFeatures] | None:
    """Return the first hit's id and the features of the confidence in it, by its words, for learning WORDS_GATE."""
    ranking = pipeline.rank(query, intent="")
    judged = AnswerJudge(ranking.reader.graph, "").word_evidence(ranking, ranking.rows)
    return (ranking.snapshot.summaries[ranking.rows[0]].id, judged) if judged else None
