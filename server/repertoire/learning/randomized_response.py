"""Answers a yes-or-no question untruly once in four times, for good, and estimates from many answers how many are yes.

Warner's randomized response (1965), permanent as in RAPPOR: the same secret gives the same answer to the same question
for ever, so that asking again shows nothing more. A yes is three times as likely where it is true as where it is not:
whoever sees an answer, or anything made of answers, can at most triple the odds that he gave before.
"""

from __future__ import annotations

import hashlib
import hmac

FLIPPED = 0.25  # the chance that an answer is untrue
_KEPT_SHARE = 1 - 2 * FLIPPED  # of a difference between two teams' true shares, in the shares of their answers
_SPREAD = 1 / 12  # variance of the true share before anything is known: any share is as likely
_NOISE = FLIPPED * (1 - FLIPPED) / _KEPT_SHARE**2  # variance that the untrue answers of one person add to the estimate


def answer(secret: bytes, question: str, *, truth: bool) -> bool:
    """Return the answer to a question: the truth in three of four questions, which ones the secret decides."""
    drawn = hmac.digest(secret, question.encode(), hashlib.sha256)[0]
    return truth != (drawn < 256 * FLIPPED)


def estimated_share(yes: int, answers: int) -> float:
    """Return the share of those whose truth is yes, as far as answers tell: near one half where they are few."""
    seen = (yes / answers - FLIPPED) / _KEPT_SHARE
    weight = _SPREAD / (_SPREAD + _NOISE / answers)
    return 0.5 + weight * (min(max(seen, 0.0), 1.0) - 0.5)
