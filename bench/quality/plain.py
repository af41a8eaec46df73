#!/usr/bin/env python3
"""Put plain tasks and everyday prompts to a real home, through the doors that users get, and write what comes back.

    plain.py HOME TASKS.jsonl RUN.jsonl [--everyday PROMPTS.txt] [--without PART]...

TASKS has an object a line with `text`. RUN gets, for each, the recommended set, the first twelve of a search, how sure
the set is, and what the prompt hook would name. The time budget is the command line's own, unless `--lifted`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.app.offer import Limits, offer
from repertoire.app.recommend import recommend
from repertoire.app.search import search
from repertoire.app.wiring import Repertoire, open_repertoire
from repertoire.domain.answer import Query, Task


def answered(opened: Repertoire, text: str, without: frozenset[str]) -> dict[str, object]:
    """Return what users get for a task: a set, a list, and a hint."""
    unfit = opened.unfit_for_sets("/nowhere")
    found = recommend(opened.pipeline, Task(text, without=without), muted=unfit)
    listed = search(opened.pipeline, Query(text, limit=12, without=without), muted=unfit)
    named = hinted(opened, text, without)
    return {
        "task": text,
        "set": [item.hit.component.id for item in found.items],
        "search": [hit.component.id for hit in listed.hits],
        "confidence": round(found.confidence, 4),
        "hint": named,
        "parts": [{k: round(v, 2) for k, v in hit.parts.items() if abs(v) > 0.005} for hit in listed.hits[:3]],
        "roles": [item.role for item in found.items],
    }


def hinted(opened: Repertoire, text: str, without: frozenset[str]) -> list[str]:
    """Return the ids that the prompt hook would name."""
    told = offer(opened.pipeline, text, Limits(muted=opened.unfit_for_hints("/nowhere"), without=without))
    return [hit.component.id for hit in told.hits]


def main() -> None:
    """Write the run, and print how many everyday prompts draw a hint."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--everyday", type=Path)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--split", default="")
    parser.add_argument("--lifted", action="store_true")
    given = parser.parse_args()
    without = frozenset(given.without)
    environment = {"REPERTOIRE_QUERY_MS": "60000"} if given.lifted else {}
    tasks = [json.loads(line) for line in given.tasks.read_text().splitlines() if line.strip()]
    with open_repertoire(given.home, environment=environment, read_only=True) as opened:
        with given.run.open("w") as out:
            for task in tasks:
                if not given.split or task.get("split") == given.split:
                    out.write(json.dumps(answered(opened, task["text"], without)) + "\n")
        if given.everyday:
            prompts = [line for line in given.everyday.read_text().splitlines() if line.strip()]
            drawn = [(prompt, named) for prompt in prompts if (named := hinted(opened, prompt, without))]
            print(f"everyday: {len(drawn)} of {len(prompts)} draw a hint")
            for prompt, named in drawn:
                print("  ", prompt, "->", *(one.rpartition(":")[2][-50:] for one in named))


if __name__ == "__main__":
    main()
