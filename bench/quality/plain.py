#!/usr/bin/env python3
"""Put plain tasks and everyday prompts to a real home, as `repertoire eval --home-store --as task` does.

    plain.py HOME TASKS RUN.jsonl [--everyday PROMPTS.txt] [--without PART]... [--lifted]

TASKS is a set's folder with `tasks.jsonl`, or that file. RUN gets, for each task, the recommended set, the first twelve
of a search, how sure the set is, and what the prompt hook would name. The time budget is that of `settings.json`,
unless `--lifted`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.app.measure.evaluate import TASK, EvalOptions, VerbCaller, evaluate
from repertoire.app.wiring import open_repertoire


def main() -> None:
    """Write the run, and print how many everyday prompts draw a hint."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--everyday", type=Path)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--split", default="dev")
    parser.add_argument("--lifted", action="store_true")
    given = parser.parse_args()
    without = frozenset(given.without)
    folder = given.tasks if given.tasks.is_dir() else given.tasks.parent
    environment = {"REPERTOIRE_QUERY_MS": "60000"} if given.lifted else {}
    with open_repertoire(given.home, environment=environment, read_only=True) as opened:
        asked = EvalOptions(folder, given.run, split=given.split, mode=TASK, without=without, at_home=True)
        print(evaluate(asked, opened, report=print))
        if given.everyday:
            doors = VerbCaller(opened, without)
            prompts = [line for line in given.everyday.read_text().splitlines() if line.strip()]
            drawn = [(prompt, named) for prompt in prompts if (named := doors.offer(prompt))]
            print(f"everyday: {len(drawn)} of {len(prompts)} draw a hint")
            for prompt, named in drawn:
                print("  ", prompt, "->", *(key.rpartition(":")[2][-50:] for key, _ in named))


if __name__ == "__main__":
    main()
