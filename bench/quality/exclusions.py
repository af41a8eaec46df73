#!/usr/bin/env python3
"""Measures what reading exclusions does to answers over a home: `exclusions.py HOME`.

Each prompt of exclusions/ is asked as it is, with and without that part. Told of those that rule something out: how
often the first of the set, the hint or the list says in its name or description what is ruled out, and how often any
is given; of the others, in which nothing is ruled out: how many are read as if, and how many sets that changes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "server"), str(HERE)]

from opening import UNHURRIED  # noqa: E402

from repertoire.app.ask.recommend import recommend  # noqa: E402
from repertoire.app.ask.search import search  # noqa: E402
from repertoire.app.kernel import Repertoire  # noqa: E402
from repertoire.app.session.hint import HintLimits, offer  # noqa: E402
from repertoire.app.wiring import open_repertoire  # noqa: E402
from repertoire.domain.answer import Query, Task  # noqa: E402
from repertoire.domain.component import Component  # noqa: E402
from repertoire.retrieval.exclusion import EXCLUSION  # noqa: E402

PROMPTS = HERE / "exclusions" / "prompts.jsonl"
DOORS = ("set", "hint", "list")


def first_of(opened: Repertoire, text: str, without: frozenset[str]) -> dict[str, Component | None]:
    """Return the first component of each door's answer, None where it is silent."""
    chosen = recommend(opened.pipeline, Task(text, without=without), muted=opened.unfit_for_sets())
    hinted = offer(opened.pipeline, text, HintLimits(without=without)).hits
    listed = search(opened.pipeline, Query(text, without=without)).hits
    found = ([item.hit for item in chosen.items], hinted, listed)
    return {door: hits[0].component if hits else None for door, hits in zip(DOORS, found, strict=True)}


def says(component: Component | None, excluded: list[str]) -> bool:
    """Tell whether a component's name or description says one of these words."""
    text = f"{component.name} {component.description}".lower() if component else ""
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in excluded)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    given = parser.parse_args()
    prompts = [json.loads(line) for line in PROMPTS.read_text(encoding="utf-8").splitlines()]
    with open_repertoire(given.home, environment={"REPERTOIRE_QUERY_MS": str(UNHURRIED)}, read_only=True) as opened:
        read, unread = (
            [first_of(opened, prompt["text"], without) for prompt in prompts]
            for without in (frozenset[str](), frozenset((EXCLUSION,)))
        )
        taken = [opened.pipeline.rank(Query(one["text"]), intent="recommend").plan.exclusion for one in prompts]
    excluding = [place for place, prompt in enumerate(prompts) if prompt["excluded"]]
    others = [place for place, prompt in enumerate(prompts) if not prompt["excluded"]]
    print(f"{len(excluding)} rule something out, of {sum(taken[place] is not None for place in excluding)} it is read")
    for door in DOORS:
        for name, answers in (("unread", unread), ("read", read)):
            answered = sum(answers[place][door] is not None for place in excluding)
            wrong = sum(says(answers[place][door], prompts[place]["excluded"]) for place in excluding)
            print(f"  {door}, {name}: {answered} answered, {wrong} led by what is ruled out")
    changed = sum(read[place]["set"] != unread[place]["set"] for place in others)
    mistaken = sum(taken[place] is not None for place in others)
    print(f"{len(others)} rule nothing out, {mistaken} read as if, {changed} changed")


if __name__ == "__main__":
    main()
