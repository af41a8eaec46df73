#!/usr/bin/env python3
"""Scores the overlaps of a home that holds the labelled repositories: how many of what was judged there is right."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.domain.component import ALTERNATIVE_TO, CONFLICTS_WITH, MENTIONS, TWIN_OF
from repertoire.store.database import Store

VERDICTS = Path(__file__).with_name("verdicts.jsonl")
BOUNDARY = "boundary"
Key = tuple[str, str, str]


def main() -> int:
    """Print, for each kind, how many are found, how many of these were judged, and how many of the judged are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path, help="a data folder into which the repositories were ingested")
    parser.add_argument("--faults", action="store_true", help="name what is wrong, and what was right and is missing")
    asked = parser.parse_args()
    with Store.open(asked.home / "repertoire.db", read_only=True) as store:
        found = findings(store)
    judged = [json.loads(line) for line in VERDICTS.read_text(encoding="utf-8").splitlines()]
    print("kind\tfound\tjudged\tright\tprecision\tright_ones_still_found")
    for kind in (TWIN_OF, CONFLICTS_WITH, ALTERNATIVE_TO, BOUNDARY):
        verdicts = {key(row["kind"], row["first"], row["second"]): row for row in judged if row["kind"] == kind}
        here = [row for known, row in verdicts.items() if found[known]]
        right = sum(row["right"] for row in here)
        kept = f"{right}/{sum(row['right'] for row in verdicts.values())}"
        total = sum(count for known, count in found.items() if known[0] == kind)
        print(f"{kind}\t{total}\t{len(here)}\t{right}\t{right / len(here) if here else 1.0:.3f}\t{kept}")
        for known, row in verdicts.items() if asked.faults else ():
            if bool(found[known]) != row["right"]:
                print(f"  {'wrong' if found[known] else 'missing'}: {' | '.join(row['names'])}")
    return 0


def findings(store: Store) -> Counter[Key]:
    """Count the findings of a home by kind and the contents of the two."""
    content = {outline.node_id: outline.content_hash for outline in store.graph.outlines()}
    found: Counter[Key] = Counter()
    for kind in (TWIN_OF, CONFLICTS_WITH, ALTERNATIVE_TO, MENTIONS):
        for source, target, _, _, evidence, _ in store.graph.edges_of(kind):
            if source in content and target in content:
                stated = kind in (ALTERNATIVE_TO, MENTIONS) and evidence.startswith("says: ")
                if stated or kind != MENTIONS:
                    found[key(BOUNDARY if stated else kind, content[source], content[target])] += 1
    return found


def key(kind: str, first: str, second: str) -> Key:
    """Return what a verdict and a finding are matched by."""
    low, high = sorted((first, second))
    return kind, low, high


if __name__ == "__main__":
    sys.exit(main())
