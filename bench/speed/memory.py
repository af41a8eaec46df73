"""Weighs the real server idle, answering and after its model went; times prompts while ingests run beside it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import harness
import library
from harness import MEGABYTES, Row, Section, milliseconds
from stdio import Client, launch_command, ready_environment
from work import Ingests, IngestsForModel, Nothing, Refresh, Work, changing_repository, environment

IDLE, ANSWERING, DROPPED = "before the model loads", "after prompts and searches", "after the model was dropped"
IDLE_GOAL_MB, ANSWERING_GOAL_MB, PROMPT_GOAL_MS = 120.0, 300.0, 200.0
SETTLE_S = 2.0
PROMPTS = 100
WARMUPS = 5
QUIET = "hook_prompt, nothing beside it"
SPELL_S = 60.0
PAUSE_S = 0.3  # between prompts
RELOAD_PAUSE_S = 2.1  # while vectors come in, a server reads them again after two seconds: here for every prompt
# The very server, but one that lets an unused model go after one second instead of ten minutes.
IMPATIENT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from repertoire.inference.embedder import IdleEmbedder
from repertoire.mcp_server import __main__ as server
IdleEmbedder.__init__.__kwdefaults__["idle_seconds"] = 1.0
server.IDLE_CHECK_SECONDS = 0.5
server.main()
"""


def measure(options: argparse.Namespace) -> Section:
    """Weigh servers on an idle store, then time prompts in quiet and beside ingests."""
    section = Section("memory", {"prompts": PROMPTS, "runs": options.runs})
    with library.opened(library.home()) as repertoire:
        section.settings |= library.counts(repertoire)
        asked = library.questions(repertoire)
    weights: dict[str, list[float]] = {}
    with library.copied(library.home()) as home:
        for _ in range(options.runs):
            _weigh(home, asked.short[:PROMPTS], weights)
            _weigh_dropped(home, asked.short[:PROMPTS], weights)
    goals = {f"resident, {IDLE}": IDLE_GOAL_MB, f"resident, {ANSWERING}": ANSWERING_GOAL_MB}
    section.rows = [
        Row(name, values, unit=MEGABYTES, goal=goals.get(name), judged="max") for name, values in weights.items()
    ]
    for name, samples in _prompts(asked).items():
        section.rows.append(Row(name, samples, baseline=QUIET if name != QUIET else "", goal=PROMPT_GOAL_MS))
    return section


def _weigh(home: Path, prompts: Sequence[str], weights: dict[str, list[float]]) -> None:
    with closing(Client(launch_command(), ready_environment(home))) as client:
        client.handshake()
        client.ask("tools/list")
        client.call("status")
        time.sleep(SETTLE_S)
        _note(client, IDLE, weights)
        _talk(client, prompts)
        _note(client, ANSWERING, weights)


def _weigh_dropped(home: Path, prompts: Sequence[str], weights: dict[str, list[float]]) -> None:
    command = [sys.executable, "-I", "-X", "utf8", "-c", IMPATIENT, str(harness.SERVER)]
    with closing(Client(command, ready_environment(home))) as client:
        client.handshake()
        _talk(client, prompts)
        time.sleep(2 * SETTLE_S)
        _note(client, DROPPED, weights)


def _talk(client: Client, prompts: Sequence[str]) -> list[float]:
    """Send prompts as hooks do, each tenth as a search too; return how long each hook took."""
    spent = []
    for number, prompt in enumerate(prompts):
        spent.append(_hook_prompt(client, prompt, session=number // 10))
        if number % 10 == 0:
            client.call("search_components", query=prompt)
    return spent


def _hook_prompt(client: Client, prompt: str, *, session: int) -> float:
    return milliseconds(lambda: client.call("hook_prompt", prompt=prompt, session_id=f"s{session}", cwd="/"))


def _note(client: Client, when: str, weights: dict[str, list[float]]) -> None:
    for kind, value in client.memory().items():
        weights.setdefault(f"{kind}, {when}", []).append(value)


def _prompts(asked: library.Questions) -> dict[str, list[float]]:
    """Return how long prompts take, in quiet and beside work on the same store that does not end before them."""
    found = {}
    with library.copied(library.home()) as home, changing_repository() as repository:
        for name, work, pause in (
            (QUIET, Nothing(), PAUSE_S),
            ("hook_prompt, beside ingests from a terminal", Ingests(home, repository), PAUSE_S),
            ("hook_prompt, beside ingest_repo in its own session", IngestsForModel(repository), PAUSE_S),
            ("hook_prompt, beside a refresh that embeds", Refresh(home, repository), RELOAD_PAUSE_S),
        ):
            with closing(Client(launch_command(), environment(home, repository), cwd=repository)) as client:
                client.handshake()
                _talk(client, asked.short[:WARMUPS])
                found[name] = _timed(client, asked.short, work, pause)
    return found


def _timed(client: Client, prompts: Sequence[str], work: Work, pause: float) -> list[float]:
    spent: list[float] = []
    with work.going_on(client):
        for number in range(int(SPELL_S / pause)):
            if not work.goes_on():
                break
            prompt = prompts[number % len(prompts)]
            spent.append(_hook_prompt(client, prompt, session=number))
            time.sleep(pause)
    return spent


if __name__ == "__main__":
    harness.run_script("memory", measure, runs=3)
