"""Measures who is demoted: `python bench/learning/harm.py [--write]`, by simulated outcomes, seed 0.

A component is offered for a request a day; half of the time it is used. With it a request goes well with one chance,
without it with another; two thirds of the outcomes become known. Each of so many components is looked at every fifth
day for half a year, as the product looks (`learning/lift.py`, half-life 90 days). *Ever*: the share that was demoted on
any such day. *At the end*: on the last one. *Until half were*: known outcomes, with and without it, at which half of
them had been demoted. Then what did harm gets as good as things are without it: *recovered* is the share of those
demoted at the end that is demoted no more after another half a year.
"""

from __future__ import annotations

import argparse
import random
import sys
from datetime import date, timedelta
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

from run import commit, keep  # noqa: E402

from repertoire.domain.event import BAD, OK, UNKNOWN  # noqa: E402
from repertoire.learning.lift import lift_of  # noqa: E402
from repertoire.learning.outcomes import Trial  # noqa: E402
from repertoire.learning.usage import Decay  # noqa: E402

COMPONENTS, DAYS, KNOWN, STEP = 400, 180, 2 / 3, 5
BEGIN = date(2026, 1, 1)
CHANCES = ((0.7, 0.7), (0.4, 0.4), (0.9, 0.7), (0.6, 0.7), (0.5, 0.7), (0.4, 0.7), (0.2, 0.7))


def main() -> int:
    """Print, or keep, who is demoted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the figures in bench/results")
    parser.add_argument("--components", type=int, default=COMPONENTS, help="how many of each kind")
    options = parser.parse_args()
    measured, rows = commit(), []
    for chances in CHANCES:
        rows.append(row(chances, options.components))
        print(rows[-1], flush=True)
    if options.write:
        settings = {"components": options.components, "days": DAYS, "known": KNOWN, "step": STEP, "seed": 0}
        keep("harm", {**measured, "settings": settings, "rows": rows})
    return 0


def row(chances: tuple[float, float], count: int) -> dict[str, object]:
    """Simulate components of one kind."""
    dice = random.Random(f"harm {chances}")
    ever, last, again, after = 0, 0, 0, list[int]()
    for _ in range(count):
        trials = [trial(day, chances, dice) for day in range(DAYS)]
        demoted = next((day for day in range(STEP, DAYS + 1, STEP) if harmful(trials[:day], day)), 0)
        ever += bool(demoted)
        after.append(known(trials[:demoted]) if demoted else DAYS)
        if harmful(trials, DAYS):
            last += 1
            later = [trial(day, (chances[1], chances[1]), dice) for day in range(DAYS, 2 * DAYS)]
            again += harmful([*trials, *later], 2 * DAYS)
    return {
        "well with it": chances[0],
        "well without it": chances[1],
        "ever demoted": share(ever, count),
        "demoted at the end": share(last, count),
        "known outcomes until half were": median(after) if 2 * ever > count else None,
        "recovered": share(last - again, last) if last else None,
    }


def trial(day: int, chances: tuple[float, float], dice: random.Random) -> Trial:
    """Let a component be offered once, and used or not."""
    at = f"{BEGIN + timedelta(days=day)}T00:00:00Z"
    used, told = dice.random() < 0.5, dice.random() < KNOWN
    outcome = (OK if dice.random() < chances[not used] else BAD) if told else UNKNOWN
    if used:
        return Trial("a", offered_at=at, rank=1, selected_at=at, outcome=outcome)
    return Trial("a", offered_at=at, rank=1, apart=outcome)


def harmful(trials: list[Trial], day: int) -> bool:
    """Tell whether a component is demoted on a day."""
    return lift_of(trials, Decay(f"{BEGIN + timedelta(days=day)}T00:00:00Z").weight).harmful


def known(trials: list[Trial]) -> int:
    """Count the known outcomes."""
    return sum(one.outcome != UNKNOWN or one.apart != UNKNOWN for one in trials)


def share(part: int, whole: int) -> float:
    """Return a share in percent."""
    return round(100.0 * part / whole, 1)


if __name__ == "__main__":
    raise SystemExit(main())
