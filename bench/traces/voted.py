#!/usr/bin/env python3
"""Answer a labelled set of traces after its traces were voted on at random, beside the plain ways and the blend.

SET is the set's folder, HOME an empty folder, or one that an earlier run filled. Seven traces of ten are good: of their
votes 85 % are for them, of the others' 25 %. Which trace answers a question does not depend on its votes, so that a
ranking loses here as much as it lets votes outweigh what the question asks.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.app.clock import ago
from repertoire.app.measure.traces import TraceOptions, evaluate_traces
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import VOTED, Event
from repertoire.rendering.measure import trace_evaluation_text

GOOD, UP, UP_OF_BAD = 0.7, 0.85, 0.25
VOTERS, MOST_VOTES, OLDEST_DAYS = 40, 8, 400


def voted(key: str, chance: random.Random) -> list[Event]:
    """Return the votes on a trace, each by another voter."""
    up = UP if chance.random() < GOOD else UP_OF_BAD
    voters = chance.sample(range(VOTERS), chance.randrange(MOST_VOTES + 1))
    return [
        Event(
            ago(timedelta(days=chance.randrange(OLDEST_DAYS))),
            VOTED,
            "",
            "",
            node=key,
            data={"voter": f"voter {number}", "up": chance.random() < up, "tag": "", "note": "", "environment": {}},
        )
        for number in voters
    ]


def main() -> None:
    """Fill the home, measure without votes and with them, and print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set_dir", type=Path)
    parser.add_argument("home", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run = Path(scratch) / "run.tsv"
        with open_repertoire(given.home, environment={}) as opened:
            filled = bool(opened.store.traces.counts())
            found = evaluate_traces(TraceOptions(given.set_dir, run, at_home=filled), opened, report=print)
            print(trace_evaluation_text(found, name=given.set_dir.name, split="dev"))
        home = Path(scratch) / "home"
        shutil.copytree(given.home, home)
        chance = random.Random(given.seed)
        with open_repertoire(home, environment={}) as opened:
            events = [event for trace in opened.store.traces.all() for event in voted(trace.key, chance)]
            opened.store.events.append(sorted(events, key=lambda event: event.at))
            print(f"{len(events)} votes")
            found = evaluate_traces(TraceOptions(given.set_dir, run, at_home=True), opened, report=print)
            print(trace_evaluation_text(found, name=given.set_dir.name, split="dev"))


if __name__ == "__main__":
    main()
