"""Computes the features of relevance: what the stages found about a component, and how clear the question is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SKILL, TOOL, Component
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.binding import BINDING
from repertoire.retrieval.direction import DIRECTION
from repertoire.retrieval.fuse import CARRIED, GRAPH, KIND, SIMILARITY, WORDS
from repertoire.retrieval.implied_capabilities import MEANT
from repertoire.retrieval.patterns import PATTERNS
from repertoire.retrieval.ranking import ComponentRun
from repertoire.retrieval.relevance import score_of
from repertoire.retrieval.rerank import STAGE as RERANK
from repertoire.retrieval.rerank import second_look

HEAD = 40  # rows that are graded
TYPES = (SKILL, AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, TOOL)
EVIDENCE = (WORDS, SIMILARITY, KIND, CARRIED, MEANT, GRAPH, PATTERNS, BINDING, DIRECTION)  # parts that are read
REPLACED = (*EVIDENCE, RERANK)  # parts whose sum the grades stand in for
_TEXT_FEATURES = 9  # of rerank.FEATURES, without those of the component's type
_STEEPNESS = 3.0  # factor that spreads grades as the sum of the parts was spread; sets were chosen by such distances
_LIKELIEST = 3  # probabilities of implied capabilities that tell how clear a question is


def relevance_features(
    run: ComponentRun, rows: Rows, components: Sequence[Component], rarities: Mapping[str, float]
) -> Floats:
    """Return the features of the components at these rows, one row each; the question has vectors.

    They are the parts of the score, where the text holds the question's words, the capabilities that the question
    implies against those that the component provides and those that its description implies, the component's type, and
    how brief and clear the question is.
    """
    if run.implied is None:
        return np.zeros((0, 0))
    plan, scorer = run.plan, run.resources.capability_scorer
    nothing = np.zeros(len(run.snapshot))
    parts = np.stack([run.parts.get(part, nothing)[rows] for part in EVIDENCE], axis=1)
    held = second_look(plan.query.text, rarities, components)[:, :_TEXT_FEATURES]
    provided = scorer.comparison(run.snapshot, rows, plan.query.text, run.implied)
    described = scorer.described(run.snapshot, rows, components, run.implied)
    types = np.array([[component.type == kind for kind in TYPES] for component in components], dtype=np.float64)
    clearest = sorted(run.implied.likely.values(), reverse=True)[:_LIKELIEST]
    question = [plan.brevity, plan.length, *clearest, len(plan.clauses), len(plan.capabilities)]
    return np.concatenate([parts, held, provided, described, types, np.tile(question, (len(rows), 1))], axis=1)


def graded_odds(run: ComponentRun, rows: Rows, grades: Floats, weight: float) -> Floats:
    """Return by row what replaces the parts that were read, as far as `weight` says; ungraded rows stay behind.

    A row that was not graded itself, as one that no answer may hold, gets what its graded copy gets.
    """
    summed = sum(run.parts[part][rows] for part in REPLACED if part in run.parts)
    score, copies = _STEEPNESS * score_of(grades), run.snapshot.copies
    change = weight * ((score - score.max()) - (summed - np.max(summed)))
    odds, graded = np.zeros(len(run.snapshot)), np.zeros(len(run.snapshot))
    odds[rows], graded[rows] = change, 1.0
    return np.where(copies.strongest(graded) > 0.0, copies.strongest(odds), change.min(initial=0.0))
