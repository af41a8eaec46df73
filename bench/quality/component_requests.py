#!/usr/bin/env python3
"""Measures what reading requests for components does to sets over a home: `component_requests.py HOME`.

Each prompt of component_requests/ is asked as it is, with and without that part. Told are how many requests are read,
with the right type, and how many look-alikes are taken for one; and of the sets how many are good (a member serves, and
none is of no use or was never graded), bad (none serves, or the first is of no use), and begin with what serves.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "server"), str(HERE)]

from graded import SERVES, UNKNOWN  # noqa: E402
from opening import UNHURRIED  # noqa: E402

from repertoire.app.ask.recommend import recommend  # noqa: E402
from repertoire.app.kernel import Repertoire  # noqa: E402
from repertoire.app.wiring import open_repertoire  # noqa: E402
from repertoire.domain.answer import Task  # noqa: E402
from repertoire.retrieval.component_request import ASKING, component_request  # noqa: E402

FOLDER = HERE / "component_requests"
GRADED = 1  # the round whose sets were graded


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    given = parser.parse_args()
    prompts = [json.loads(line) for line in (FOLDER / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
    grades: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for line in (FOLDER / "grades.tsv").read_text(encoding="utf-8").splitlines():
        prompt, component, grade = line.split("\t")
        grades[prompt][component] = int(grade)
    for number in sorted({prompt["round"] for prompt in prompts}):
        print(f"round {number}:", reading([prompt for prompt in prompts if prompt["round"] == number]))
    prompts = [prompt for prompt in prompts if prompt["round"] == GRADED and prompt["asks"] and prompt["job"]]
    with open_repertoire(given.home, environment={"REPERTOIRE_QUERY_MS": str(UNHURRIED)}, read_only=True) as opened:
        for name, without in (("without", frozenset({ASKING})), ("with", frozenset())):
            print(f"{name:8s}", sets(opened, prompts, grades, without))


def reading(prompts: list[dict]) -> str:
    """Return how many of the prompts are read as what they are, as text."""
    found = [(prompt, component_request(prompt["text"])) for prompt in prompts]
    asked = [(prompt, request) for prompt, request in found if prompt["asks"]]
    read = [request.type == prompt["type"] for prompt, request in asked if request]
    false = sum(request is not None for prompt, request in found if not prompt["asks"])
    return (
        f"{len(read)} of {len(asked)} requests read, {sum(read)} with the right type; "
        f"{false} of {len(found) - len(asked)} look-alikes taken for one"
    )


def sets(opened: Repertoire, prompts: list[dict], grades: dict[str, dict[str, int]], without: frozenset[str]) -> str:
    """Return the figures of the sets for requests that tell a job, in per cent, as text."""
    graded = []
    for prompt in prompts:
        answer = recommend(opened.pipeline, Task(prompt["text"], without=without), muted=opened.unfit_for_sets())
        named = [item.hit.component.id for item in answer.items if not item.spare]
        graded.append([grades[prompt["id"]].get(one) for one in named])
    figures = {
        "good": [SERVES in one and UNKNOWN not in one and None not in one for one in graded],
        "bad": [SERVES not in one or not one[0] for one in graded],
        "first serves": [one[:1] == [SERVES] for one in graded],
        "none": [not one for one in graded],
    }
    ungraded = sum(one.count(None) for one in graded)
    told = ", ".join(f"{name} {100 * sum(values) / len(values):.1f}" for name, values in figures.items())
    return f"{told} of {len(graded)}; {ungraded} members ungraded"


if __name__ == "__main__":
    main()
