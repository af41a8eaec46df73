"""Times prompts in a running session, in quiet and while ingests or a refresh work on the same store."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import closing

import harness
import library
from harness import Row, Section, milliseconds
from stdio import Client, launch_command
from work import Ingests, IngestsForModel, Nothing, Refresh, Work, changing_repository, environment

GOAL_MS = 200.0
WARMUPS = 10
SPELL_S = 60.0
PAUSE_S = 0.3  # between prompts
# While vectors come in, a server reads them again at most every two seconds; so far apart, every prompt pays for that.
RELOAD_PAUSE_S = 2.1
QUIET = "nothing beside it"


def measure(options: argparse.Namespace) -> Section:
    """Ask one session after the other, each beside other work."""
    section = Section(
        "prompts", {"seconds_each": SPELL_S * options.runs, "pause_s": PAUSE_S, "processor_ms": {}, "rounds": {}}
    )
    with library.opened(library.home()) as repertoire:
        section.settings |= library.counts(repertoire)
        asked = library.questions(repertoire).short
    with library.copied(library.home()) as home, changing_repository() as repository:
        for beside, work, pause in (
            (QUIET, Nothing(), PAUSE_S),
            ("beside ingests from a terminal", Ingests(home, repository), PAUSE_S),
            ("beside ingest_repo in its own session", IngestsForModel(repository), PAUSE_S),
            ("beside a refresh that embeds", Refresh(home, repository), RELOAD_PAUSE_S),
        ):
            # pings tell how long the machine itself makes a session wait for anything at all
            with closing(Client(launch_command(), environment(home, repository), cwd=repository)) as client:
                client.handshake()
                for number, prompt in enumerate(asked[:WARMUPS]):
                    client.prompt(prompt, session=number)
                used = client.processor_ms()
                pings, spent = _timed(client, asked, work, (pause, SPELL_S * options.runs))
                section.settings["processor_ms"][beside] = round((client.processor_ms() - used) / len(spent), 1)
            section.settings["rounds"][beside] = work.rounds
            section.rows.append(Row(f"ping, {beside}", pings))
            baseline = f"hook_prompt, {QUIET}" if beside != QUIET else ""
            section.rows.append(Row(f"hook_prompt, {beside}", spent, baseline=baseline, goal=GOAL_MS))
    return section


def _timed(
    client: Client, prompts: Sequence[str], work: Work, rhythm: tuple[float, float]
) -> tuple[list[float], list[float]]:
    pause, seconds = rhythm
    pings: list[float] = []
    spent: list[float] = []
    until = time.monotonic() + seconds
    with work.going_on(client):
        while time.monotonic() < until and (work.goes_on() or not spent):
            number = len(spent)
            prompt = prompts[number % len(prompts)]
            pings.append(milliseconds(lambda: client.ask("ping")))
            spent.append(milliseconds(lambda prompt=prompt, number=number: client.prompt(prompt, session=number)))
            time.sleep(pause)
    return pings, spent


if __name__ == "__main__":
    harness.run_script("prompts", measure, runs=1)
