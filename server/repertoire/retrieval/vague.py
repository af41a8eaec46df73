"""Whether a task says too little for any set: "make it better" is served by nothing, and by anything.

The regression of `need`, from a task's adapted vector, its words and pairs of them, learned from tasks that were
written to be vague, against requests, everyday prompts and what no component serves (bench/quality/vague.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from repertoire.retrieval.need import NeedModel, need_for

FILE = Path(__file__).with_name("vague.npz")
BAR = 1.3  # log-odds: of held-out requests 3 in 1,000 reach it, and most of those are vague, too
OF_AN_AREA = 3.0  # the bar of what names an area of work: "set up monitoring" is short and clear
SERVED = 0.5  # the chance of a set from which it is given whatever the wording


def vague_for(reading: str) -> NeedModel | None:
    """Return what was learned for exactly this reading of questions, or None where there is nothing."""
    return need_for(reading, FILE)


def too_vague(odds: float, chance: float | None, named: Iterable[str], areas: frozenset[str]) -> bool:
    """Tell whether to ask back: it is worded vaguely, names one area of work at most, and hardly has its set.

    `named` are the capabilities that the task names, `areas` those that have narrower ones.
    """
    few = tuple(named)
    bar = OF_AN_AREA if few else BAR
    return odds > bar and (chance or 0.0) < SERVED and len(few) <= 1 and areas.issuperset(few)
