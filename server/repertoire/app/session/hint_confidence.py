"""Computes the confidence, 0 to 1, that a prompt needs the components that were found for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from repertoire.domain.answer import Hit
from repertoire.learning.arbiter import HINT_THRESHOLD, odds_of
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.sets.goodness import gives_way
from repertoire.retrieval.similar_requests import SAME_REQUEST_THRESHOLD

NEEDLESS_WEIGHT = 3.0  # weight of the log-odds that a prompt needs no component
# This chance that the first component serves equals a confidence of HINT_THRESHOLD, for a brief and for a long prompt.
SERVES_THRESHOLD = 0.55, 0.6
# What is installed costs nobody an installation if it does not serve, and is of no use while it is never called.
SERVES_THRESHOLD_INSTALLED = 0.45, 0.5
# Where a project's stack is known, and a prompt clearly asks for work, so much lower a chance will do. Of 506 graded
# prompts in 74 projects 16 more draw a hint: 11 begin with one that serves, 4 with one that helps, 1 is ungraded; of
# 412 everyday prompts in four projects no more. Without a project 5 of 28 that would be new are wrong.
PROJECT_EASE, SURELY_ASKED = 0.04, 2.0
CROWD_SIZE = 150  # among more components than this, chance matches grow likely, so the odds are divided by the excess
SUBJECT_WEIGHT = 0.7  # weight of the log-odds that a prompt has a subject of components; 0.5 does nearly as well
SUBJECT_CREDIT_LIMIT = 1.0  # log-odds that a fitting subject adds at most, so as not to outweigh reasons for silence
# An installed component with this share of the best component's score is named first.
INSTALLED_FIRST_THRESHOLD = 0.65
MIN_PROMPT_WORDS = 4  # a component's text easily holds all words of a shorter prompt by chance


def hint_confidence(ranking: Ranking, hits: Sequence[Hit], *, ready: bool = False) -> float:
    """Return the confidence, 0 to 1, that the prompt needs the components that were found.

    `ready`: an installed one serves about as likely as the first hit, and will be named before it.

    The pipeline's confidence is calibrated for questions. For a prompt, which asks for no component, chance matches
    grow with the number of components: all of them, or the installed ones if the first hit is installed. A known
    chance that the first hit serves replaces the confidence, and with it the bar that few words in common do not reach:
    of 1,402 graded tasks over real homes 60 more draw a hint without it, of which 49 begin with one that serves. A
    prompt that needs no component lowers both.
    """
    if not hits or (ranking.chance is None and not ranking.fits):
        return 0.0
    installed = hits[0].component.installed
    snapshot = ranking.snapshot
    others = snapshot.column("installed") if installed else ~(snapshot.inner_tools | snapshot.pointers)
    crowd = int(others.sum())
    odds = odds_of(ranking.confidence) / max(1.0, crowd / CROWD_SIZE)
    odds *= math.exp(SUBJECT_WEIGHT * min(ranking.subject, SUBJECT_CREDIT_LIMIT))
    odds *= math.exp(-max(0, MIN_PROMPT_WORDS - len(ranking.plan.words)))
    past = ranking.past
    served = past.trust if past.trust >= SAME_REQUEST_THRESHOLD and past.share[ranking.rows[0]] > 0.0 else 0.0
    if ranking.chance is not None:
        brief, long = SERVES_THRESHOLD_INSTALLED if installed or ready else SERVES_THRESHOLD
        threshold = long + (brief - long) * ranking.plan.brevity
        threshold -= PROJECT_EASE * (bool(ranking.plan.stack.uses) and ranking.need >= SURELY_ASKED)
        odds = odds_of(ranking.chance) * odds_of(HINT_THRESHOLD) / odds_of(threshold)
    odds *= math.exp(NEEDLESS_WEIGHT * min(ranking.need, 0.0))
    return max(odds / (1.0 + odds), served)  # a past success is no chance match


def is_ready(ranking: Ranking, hits: Sequence[Hit]) -> bool:
    """Tell whether an installed component, which will be named first, serves about as likely as the first hit."""
    if ranking.grades is None or not hits:
        return False
    snapshot, least = ranking.snapshot, INSTALLED_FIRST_THRESHOLD * hits[0].score
    rows = [snapshot.row_of(hit.component.id) for hit in hits if hit.component.installed and hit.score >= least]
    serves, _ = ranking.chances(snapshot.row_of(hits[0].component.id))
    return any(gives_way(serves, ranking.chances(row)[0], own=bool(snapshot.own[row])) for row in rows)
