#!/usr/bin/env python3
"""Scores predicted capabilities against the labelled set; knows nothing of the product (standard library only)."""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LABELS = Path(__file__).with_name("labels.jsonl")
RESAMPLES = 2000
SEED = 7


@dataclass(frozen=True)
class Judged:
    """One labelled component beside what was predicted for it."""

    type: str
    predicted: frozenset[str]
    gold: frozenset[str]
    acceptable: frozenset[str]
    answered: bool

    @property
    def right(self) -> int:
        return len(self.predicted & (self.gold | self.acceptable))

    @property
    def found(self) -> int:
        return len(self.predicted & self.gold)


def key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["repository"], row["path"], row["name"]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def judge(labels: Iterable[dict[str, Any]], predictions: Iterable[dict[str, Any]]) -> list[Judged]:
    """Put every labelled component beside its prediction; one without a prediction counts as one with no terms."""
    told: dict[tuple[str, str, str], frozenset[str]] = {}
    for row in predictions:
        if key(row) in told:
            message = f"two predictions for {key(row)}: write one line a component"
            raise ValueError(message)
        told[key(row)] = frozenset(row["capabilities"])
    return [
        Judged(
            row["type"],
            told.get(key(row), frozenset()),
            frozenset(row["gold"]),
            frozenset(row["acceptable"]),
            key(row) in told,
        )
        for row in labels
    ]


def precision(rows: Sequence[Judged]) -> float:
    """Return the share of predicted terms that are gold or acceptable; nan where none was predicted."""
    predicted = sum(len(row.predicted) for row in rows)
    return sum(row.right for row in rows) / predicted if predicted else float("nan")


def recall(rows: Sequence[Judged]) -> float:
    """Return the share of gold terms that were predicted."""
    gold = sum(len(row.gold) for row in rows)
    return sum(row.found for row in rows) / gold if gold else float("nan")


def interval(rows: Sequence[Judged]) -> list[tuple[float, float]]:
    """Return the 95 % percentile bootstrap of precision and recall, components drawn with replacement."""
    chance = random.Random(SEED)
    drawn = [chance.choices(rows, k=len(rows)) for _ in range(RESAMPLES)]
    found = []
    for measure in (precision, recall):
        values = sorted(value for value in map(measure, drawn) if not math.isnan(value))
        last = len(values) - 1
        found.append((values[round(0.025 * last)], values[round(0.975 * last)]) if values else (float("nan"),) * 2)
    return found


def report(name: str, rows: Sequence[Judged]) -> str:
    (low, high), (under, over) = interval(rows)
    terms = sum(len(row.predicted) for row in rows) / len(rows)
    return (
        f"{name:<11}{len(rows):>5}  {precision(rows):.3f} [{low:.3f} {high:.3f}]  "
        f"{recall(rows):.3f} [{under:.3f} {over:.3f}]  {terms:>6.2f}  {sum(not row.predicted for row in rows):>5}"
    )


def figures(rows: Sequence[Judged]) -> dict[str, Any]:
    """Return what `report` prints as a value."""
    found = {"components": len(rows), "terms_each": round(sum(len(row.predicted) for row in rows) / len(rows), 2)}
    for name, measure, (low, high) in zip(("precision", "recall"), (precision, recall), interval(rows), strict=True):
        found[name] = round(measure(rows), 3)
        found[f"{name}_95"] = [round(low, 3), round(high, 3)]
    return found


def faults(rows: Iterable[Judged], top: int) -> list[str]:
    """List the terms that are most often wrong and most often missed."""
    wrong: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for row in rows:
        wrong.update(row.predicted - row.gold - row.acceptable)
        missed.update(row.gold - row.predicted)
    return [
        f"{title}: {', '.join(f'{term} {count}' for term, count in counts.most_common(top))}"
        for title, counts in (("most often wrong", wrong), ("most often missed", missed))
    ]


def main() -> int:
    """Print precision and recall, overall and per type."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("predictions", type=Path, help='JSONL of {"repository","path","name","capabilities":[…]}')
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--only-predicted", action="store_true", help="leave components without a line out")
    parser.add_argument(
        "--faults", type=int, default=0, metavar="N", help="name the N most wrong and most missed terms"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    asked = parser.parse_args()
    rows = judge(lines(asked.labels), lines(asked.predictions))
    without = sum(not row.answered for row in rows)
    if without:
        left_out = "left out" if asked.only_predicted else "counted as having no terms"
        print(f"{without} of {len(rows)} labelled components have no line in {asked.predictions}: {left_out}")
    if asked.only_predicted:
        rows = [row for row in rows if row.answered]
    if not rows:
        print("no labelled component is predicted: do repository, path and name agree?", file=sys.stderr)
        return 1
    if asked.json:
        kinds = {kind: [row for row in rows if row.type == kind] for kind in sorted({row.type for row in rows})}
        print(json.dumps({kind: figures(listed) for kind, listed in {**kinds, "overall": rows}.items()}, indent=1))
        return 0
    print(f"{'type':<11}{'n':>5}  {'precision [95 %]':<20} {'recall [95 %]':<21}{'terms':>6}  {'empty':>5}")
    for kind in sorted({row.type for row in rows}):
        print(report(kind, [row for row in rows if row.type == kind]))
    print(report("overall", rows))
    for line in faults(rows, asked.faults) if asked.faults else ():
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
