#!/usr/bin/env python3
"""Measure over a home what binding and direction do to plain requests: `binding.py HOME [--every N]`.

Each request of plain_requests/ that was written for a component of this home is asked once; the order before is the
one without what the two parts add. Told: how often its component is first and among five, and how often the first
answer is bound to what the request does not name; apart for requests that name a technology.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

from repertoire.app.kernel import Repertoire  # noqa: E402
from repertoire.app.wiring import open_repertoire  # noqa: E402
from repertoire.domain.answer import Query  # noqa: E402
from repertoire.retrieval.binding import BINDING, BoundProducts  # noqa: E402
from repertoire.retrieval.direction import DIRECTION  # noqa: E402

REQUESTS = HERE / "plain_requests" / "requests.jsonl"
HEAD = 40


def judged(opened: Repertoire, text: str, wanted: str) -> tuple[list[bool], bool]:
    """Return first, among five, bound to the unnamed, each before and after; and whether the request names anything."""
    ranking = opened.pipeline.rank(Query(text), intent="recommend")
    bindings, summaries, rows = opened.pipeline.bindings, ranking.snapshot.summaries, ranking.answering[:HEAD]
    added = sum(ranking.parts[part][rows] for part in (BINDING, DIRECTION) if part in ranking.parts)
    before = rows[np.argsort(-(ranking.odds(rows) - added), kind="stable")]
    known, named = bindings.of(ranking.reader, rows), bindings.named(ranking.plan)
    found = []
    for order in (before, rows):
        names = [summaries[row].name.lower() for row in order[:5].tolist()]
        bound = known.get(int(order[0]), BoundProducts()) if len(order) else BoundProducts()
        found += [names[:1] == [wanted], wanted in names, bool((bound.name | bound.within) - named)]
    return found, bool(named)


def main() -> None:
    """Print the figures, in percent."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    rows = [json.loads(line) for line in REQUESTS.read_text(encoding="utf-8").splitlines()]
    found: dict[str, list[list[bool]]] = defaultdict(list)
    with open_repertoire(given.home, environment={"REPERTOIRE_QUERY_MS": "60000"}, read_only=True) as opened:
        for row in [row for row in rows if row["component"]][:: given.every]:
            stored = opened.store.graph.by_key(row["component"])
            if stored is not None:
                told, names = judged(opened, row["text"], stored.component.name.lower())
                for group in ("all", "names something" if names else "names nothing"):
                    found[group].append(told)
    for group, told in found.items():
        first, five, bound, first_after, five_after, bound_after = 100.0 * np.mean(told, axis=0)
        print(
            f"{group}: {len(told)} requests, first {first:.1f} -> {first_after:.1f}, among five {five:.1f} -> "
            f"{five_after:.1f}, first answer bound to what is not named {bound:.1f} -> {bound_after:.1f}"
        )


if __name__ == "__main__":
    main()
