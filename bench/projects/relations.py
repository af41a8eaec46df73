"""Measure what the sentences of notes are said to say of two things, against labels made by hand.

    python bench/projects/relations.py [--split dev] [--wrong]

A relation is right if both names, without regard to case, and the relation are those of the label.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.projects.said_relations import said_relations


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--split", default="dev")
    args.add_argument("--wrong", action="store_true", help="show the sentences that are read otherwise")
    asked = args.parse_args()
    rows = [json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text().splitlines()]
    rows = [row for row in rows if row["split"] == asked.split]
    right = found = wanted = 0
    for row in rows:
        said = {
            (one.source.lower(), one.relation.removeprefix("said_"), one.target.lower())
            for one in said_relations(row["text"])
        }
        labels = {(source.lower(), relation, target.lower()) for source, relation, target in row["relations"]}
        right, found, wanted = right + len(said & labels), found + len(said), wanted + len(labels)
        if asked.wrong and said != labels:
            print(row["text"], "\n   found", sorted(said - labels), "\n   not found", sorted(labels - said))
    print(
        json.dumps(
            {
                "sentences": len(rows),
                "relations": wanted,
                "precision": round(100 * right / max(found, 1), 1),
                "recall": round(100 * right / max(wanted, 1), 1),
            }
        )
    )


if __name__ == "__main__":
    main()
