"""Computes the confidence in an answer by logistic regression, and holds it against the thresholds for answering."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from repertoire.retrieval.ranking_weights import GATE

ANSWER_THRESHOLD = 0.2  # below this confidence an answer only names near misses
_CROWD_SIZE = 150  # among more components than this, any question finds something that looks likely
_USUAL_NEARNESS = 0.5  # usual cosine of components that serve a question to its adapted vector


@dataclass(frozen=True)
class ConfidenceFeatures:
    """The features of the confidence: cosine, and shares of the question's words, of the first three hits."""

    nearness: float  # largest cosine of the three to the adapted question
    first: float  # share of the question's words that the first hit holds
    best: float  # largest share that one of the three holds


def confidence(evidence: ConfidenceFeatures, *, vectors: bool) -> float:
    """Return the confidence, 0 to 1, that a stored component serves the question.

    Without vectors the share of words stands in for the cosine: all words held counts as the usual cosine.
    """
    nearness = evidence.nearness if vectors else _USUAL_NEARNESS * evidence.best
    odds = float(np.dot(GATE, (nearness, evidence.first, evidence.best, 1.0)))
    return 1.0 / (1.0 + math.exp(-odds))


def fits(sure: float, *, among: int) -> bool:
    """Tell whether a confidence passes the answer threshold; among more components it must be higher."""
    odds = sure / max(1.0 - sure, 1e-9) / max(1.0, among / _CROWD_SIZE) ** (1.0 / 3.0)
    return bool(odds >= ANSWER_THRESHOLD / (1.0 - ANSWER_THRESHOLD))


# A set is recommended from this chance on (the chance that its first component helps, with the odds that one is
# needed). Of 100 tasks that need no component 6 reach it, of 100 plain requests 70. With the chance alone and a
# threshold of .3 these were 9 and 42.
SET_THRESHOLD = 0.12
SURE_THRESHOLD = 0.4  # from this chance on a set is called fitting
# Weights of the log-odds that the first component helps: the confidence above, the share of likely capabilities that it
# provides, the share of its name that nobody asked for, its lead, the length of the task; then the constant. Learned
# on the dev half of graded plain tasks, beside tasks that need nothing; calibration error on folds: 9 points. What the
# leader loses by its binding is added as it is: too few leaders are bound to learn a weight.
_SERVES_WEIGHTS = (0.770, 0.336, -0.512, 0.803, 0.640, -5.266)
_FULL_TASK_WORDS = 6  # content words beyond which a longer task is no clearer
_LEAD, _LOW = 3.0, 1e-4  # largest lead that counts; smallest chance of which log-odds are taken


@dataclass(frozen=True)
class LeaderFeatures:
    """The features of the first component of an answer, for the chance that it serves the task."""

    sure: float  # confidence in the answer
    provides: float  # how far it provides the likely capabilities
    beside_it: float  # share of its name that the task neither says nor implies
    lead: float  # log-odds by which it leads the second
    words: int  # content words of the task
    bound: float  # log-odds, at most 0, that it loses since it is bound to a product that the task does not name


def chance(leader: LeaderFeatures) -> float:
    """Return the chance that the first component of an answer serves the task, 0 to 1."""
    values = (_log_odds(leader.sure), leader.provides, leader.beside_it, min(leader.lead, _LEAD))
    odds = float(np.dot(_SERVES_WEIGHTS, (*values, min(leader.words, _FULL_TASK_WORDS), 1.0))) + leader.bound
    return 1.0 / (1.0 + math.exp(-odds))


def interpolate(first: float, second: float, share: float) -> float:
    """Interpolate between two chances in log-odds: the first at a share of 0, the second at 1."""
    odds = (1.0 - share) * _log_odds(first) + share * _log_odds(second)
    return 1.0 / (1.0 + math.exp(-odds))


def _log_odds(likely: float) -> float:
    likely = min(max(likely, _LOW), 1.0 - _LOW)
    return math.log(likely / (1.0 - likely))
