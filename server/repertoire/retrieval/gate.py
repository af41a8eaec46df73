"""Whether an answer is good enough to be given: a confidence learned on requests that are served here and on others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from repertoire.retrieval.ranking_weights import GATE

ANSWER_THRESHOLD = 0.2  # below this confidence an answer only names near misses
_CROWD_SIZE = 150  # among more components than this, any question finds something that looks likely
_USUAL_NEARNESS = 0.5


@dataclass(frozen=True)
class Evidence:
    """What speaks for the head of an answer: nearness, and the share of the question's words that it holds."""

    nearness: float  # of the nearest of the first three to the adapted question
    first: float  # share held by the first
    best: float  # the largest share that one of the first three holds


def confidence(evidence: Evidence, *, vectors: bool) -> float:
    """Return how sure it is, 0 to 1, that something here serves the question.

    Without vectors the words speak for both: what is held in full is as good as a likeness usual among what serves.
    """
    nearness = evidence.nearness if vectors else _USUAL_NEARNESS * evidence.best
    odds = float(np.dot(GATE, (nearness, evidence.first, evidence.best, 1.0)))
    return 1.0 / (1.0 + math.exp(-odds))


def fits(sure: float, *, among: int) -> bool:
    """Tell whether an answer that is so sure, found among so many components, is good enough to be called one."""
    odds = sure / max(1.0 - sure, 1e-9) / max(1.0, among / _CROWD_SIZE) ** (1.0 / 3.0)
    return bool(odds >= ANSWER_THRESHOLD / (1.0 - ANSWER_THRESHOLD))


# A set is named from this chance on, at the odds that a component is needed. Of 100 tasks that need none 6 reach it, of
# 100 plain requests 70. With the chance alone and a threshold of .3 these were 9 and 42.
SET_THRESHOLD = 0.12
SURE_THRESHOLD = 0.4  # a set is called fitting from this chance on
# Weights of the log-odds that the first component helps: the confidence above, the share of likely capabilities that it
# provides, the share of its name that nobody asked for, its lead, the length of the task; then the constant. Learned
# on the dev half of graded plain tasks, beside tasks that need nothing; calibration error on folds: 9 points.
_SERVES_WEIGHTS = (0.770, 0.336, -0.512, 0.803, 0.640, -5.266)
_FULL_TASK_WORDS = 6  # more words than this make a task no clearer
_LEAD, _LOW = 3.0, 1e-4


@dataclass(frozen=True)
class Leader:
    """What is known of the first component of an answer."""

    sure: float
    provides: float
    beside_it: float
    lead: float  # log-odds before the second
    words: int  # of meaning, of the task


def chance(leader: Leader) -> float:
    """Return the chance that the first component of an answer serves the task, 0 to 1."""
    told = (_log_odds(leader.sure), leader.provides, leader.beside_it, min(leader.lead, _LEAD))
    odds = float(np.dot(_SERVES_WEIGHTS, (*told, min(leader.words, _FULL_TASK_WORDS), 1.0)))
    return 1.0 / (1.0 + math.exp(-odds))


def between(one: float, other: float, share: float) -> float:
    """Return what lies between two chances, in log-odds: the first at a share of 0, the other at 1."""
    odds = (1.0 - share) * _log_odds(one) + share * _log_odds(other)
    return 1.0 / (1.0 + math.exp(-odds))


def _log_odds(likely: float) -> float:
    likely = min(max(likely, _LOW), 1.0 - _LOW)
    return math.log(likely / (1.0 - likely))
