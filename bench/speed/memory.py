"""Weighs the real server: idle, after it has answered prompts and searches, and after it let its model go."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import harness
import library
from harness import MEGABYTES, Row, Section
from stdio import Client, launch_command, ready_environment

IDLE, ANSWERING, DROPPED = "before the model loads", "after prompts and searches", "after the model was dropped"
IDLE_GOAL_MB, ANSWERING_GOAL_MB = 120.0, 300.0
SETTLE_S = 2.0
PROMPTS = 100
# The very server, but one that lets an unused model go after one second instead of ten minutes.
IMPATIENT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from repertoire.inference.embedder import IdleEmbedder
from repertoire.mcp_server import __main__ as server
from repertoire.mcp_server import process
IdleEmbedder.__init__.__kwdefaults__["idle_seconds"] = 1.0
process.IDLE_CHECK_SECONDS = 0.5
server.main()
"""


def measure(options: argparse.Namespace) -> Section:
    """Start a server for each weight but the second, which is the first one's later."""
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


def _talk(client: Client, prompts: Sequence[str]) -> None:
    """Send prompts as hooks do, each tenth as a search too."""
    for number, prompt in enumerate(prompts):
        client.prompt(prompt, session=number // 10)
        if number % 10 == 0:
            client.call("search_components", query=prompt)


def _note(client: Client, when: str, weights: dict[str, list[float]]) -> None:
    for kind, value in client.memory().items():
        weights.setdefault(f"{kind}, {when}", []).append(value)


if __name__ == "__main__":
    harness.run_script("memory", measure, runs=5)
