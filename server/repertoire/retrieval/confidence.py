"""Computes the confidence in an answer by logistic regression, and holds it against the thresholds for answering."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np

from repertoire.retrieval.ranking_weights import GATE, WORDS_GATE

ANSWER_THRESHOLD = 0.2  # below this confidence an answer only names near misses
_CROWD_SIZE = 150  # among more components than this, any question finds something that looks likely
# Log-odds, in an answer without grades, of the capabilities that the question implies: fitted on the graded tasks.
_IMPLIED = 0.4
_USUAL_NEARNESS = 0.5  # usual cosine of components that serve a question to its adapted vector


@dataclass(frozen=True)
class ConfidenceFeatures:
    """The features of the confidence: cosine, and shares of the question's words, of the first three hits."""

    nearness: float  # largest cosine of the three to the adapted question
    first: float  # share of the question's words that the first hit holds
    best: float  # largest share that one of the three holds


@dataclass(frozen=True)
class WordFeatures:
    """The features of the confidence in an answer of which nothing was graded; all are shares, 0 to 1.

    Something is found for every task. Whether it serves is told by how many words the first hit holds, how rarely they
    stand anywhere, and where it holds them. Cosines are not among them: another model has others.
    """

    held: float  # of the question's words, held by the first hit
    words: float  # held words, of 12: a word counts as far as the share above
    rarity: float  # mean rarity of the question's words, of the highest possible, times the share that is held
    in_name: float  # of the question's words, held in the first hit's name
    of_name: float  # of the first hit's name, held in the question
    in_description: float  # of the question's words, held in the first hit's description
    in_first_sentence: float  # the same of the description's first sentence


def words_confidence(evidence: WordFeatures, *, implied: bool) -> float:
    """Return the chance, 0 to 1, that the first hit serves a task, by the words that it holds.

    Learned on 1,088 graded tasks asked without vectors; on 1,557 and 1,564 others its calibration error is 2.7 and 3.1
    points, where GATE without vectors has 19.8 and 24.2. As another model is asked it is 3.1 and 6.5 (GATE 32.0
    and 28.5). Where the capabilities that a question implies had a say, the first serves more often; it is 5.1 and 5.2
    (28.4 and 24.2).
    """
    odds = float(np.dot(WORDS_GATE, (*astuple(evidence), 1.0))) + _IMPLIED * implied
    return _logistic(odds)


def confidence(evidence: ConfidenceFeatures, *, vectors: bool) -> float:
    """Return the confidence, 0 to 1, that a stored component serves the question.

    Without vectors the share of words stands in for the cosine: all words held counts as the usual cosine.
    """
    nearness = evidence.nearness if vectors else _USUAL_NEARNESS * evidence.best
    odds = float(np.dot(GATE, (nearness, evidence.first, evidence.best, 1.0)))
    return _logistic(odds)


def fits(sure: float, *, among: int) -> bool:
    """Tell whether a confidence passes the answer threshold; among more components it must be higher."""
    odds = sure / max(1.0 - sure, 1e-9) / max(1.0, among / _CROWD_SIZE) ** (1.0 / 3.0)
    return bool(odds >= ANSWER_THRESHOLD / (1.0 - ANSWER_THRESHOLD))


# A set is recommended from this chance on (the chance that its first component serves, with the odds that one is
# needed). By the chance alone, of 100 graded tasks for which a component serves 97 reach it, of 100 for which none
# serves 69 (their sets help in part), of 100 that need none 32.
SET_THRESHOLD = 0.15
SURE_THRESHOLD = 0.4  # from this chance on a set is called fitting
# Weight of the first component's grade, and constant, of the log-odds that it serves: the first is the best of many, so
# its grade is too low. Fitted on graded tasks that were held out; calibration error 1.9 points, 10.6 on 88 others.
_OF_GRADE, _OFFSET = 1.9, 1.1
# Share of the confidence in the chance for a long question. Of 0, .2, .4, .6 and 1 it is the best for 672 long prompts,
# for 236 long and for 430 partly brief tasks, none of which any of it was learned from: log-loss .564, .576 and .535,
# where a share of the confidence that fell with brevity had .661, .699 and .593.
_OF_CONFIDENCE = 0.2
_LOW = 1e-4  # smallest chance of which log-odds are taken


def chance(serves: float) -> float:
    """Return the chance that the first component of an answer serves the task, 0 to 1, from its grade in log-odds."""
    return _logistic(_OF_GRADE * serves + _OFFSET)


def chance_of_another(sure: float, first: float, other: float) -> float:
    """Return the chance that another component serves where the first does with `sure`, from what their grades say."""
    return _logistic(_log_odds(sure) + _OF_GRADE * (_log_odds(other) - _log_odds(first)))


def chance_share(brevity: float) -> float:
    """Return the share that the chance by the first grade has beside the confidence: all for a brief question."""
    return 1.0 - _OF_CONFIDENCE * (1.0 - brevity)


def interpolate(first: float, second: float, share: float) -> float:
    """Interpolate between two chances in log-odds: the first at a share of 0, the second at 1."""
    odds = (1.0 - share) * _log_odds(first) + share * _log_odds(second)
    return _logistic(odds)


def _logistic(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))


def _log_odds(likely: float) -> float:
    likely = min(max(likely, _LOW), 1.0 - _LOW)
    return math.log(likely / (1.0 - likely))
