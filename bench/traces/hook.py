#!/usr/bin/env python3
"""Time the hook of a failing command as a whole call over stdio to a live server, and weigh the server with traces.

FOLDER holds traces_error, whose dev errors are what the commands print; HOME is copied, and has traces. A server
over the same home without its traces gets the same calls, in turn. Memory is read when the server has idled so long
that it freed what it does not need.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "speed"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from harness import milliseconds, percentile
from stdio import Client, launch_command, ready_environment

from repertoire.store.database import Store

WARM = 10  # calls before the clock counts
SETTLE_S, IDLE_S = 3.0, 35.0


def errors(folder: Path) -> list[str]:
    """Return what the failing commands of the dev half print."""
    lines = (folder / "traces_error" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [row["text"] for row in map(json.loads, lines) if row["split"] == "dev"]


def fail(client: Client, number: int, printed: str) -> str:
    """Report a failing command in a session of its own, and return what the model is told."""
    command = json.dumps({"command": f"make part-{number}"})
    told = {"tool_name": "Bash", "tool_input": command, "session_id": f"bench-{number}", "cwd": "/"}
    return client.call("hook_failed", error=f"Exit code 1\n{printed}", **told)


def measured(home: Path, printed: Sequence[str]) -> dict[str, Any]:
    """Start a server over a home, report the failures, and return times, hints and memory."""
    with closing(Client(launch_command(), ready_environment(home))) as client:
        client.handshake()
        client.call("search_traces", query="warms the model up")
        time.sleep(SETTLE_S)
        times, hints = [], 0
        for number, text in enumerate(printed):
            said: list[str] = []
            times.append(
                milliseconds(lambda text=text, number=number, said=said: said.append(fail(client, number, text)))
            )
            hints += said != ["{}"]
        busy = client.memory()
        time.sleep(IDLE_S)
        warm = times[WARM:]
        return {
            "calls": len(warm),
            "hints": hints,
            "first_ms": round(times[0], 1),
            "p50_ms": round(percentile(warm, 0.5), 1),
            "p95_ms": round(percentile(warm, 0.95), 1),
            "max_ms": round(max(warm), 1),
            "busy_mb": _rounded(busy),
            "idle_mb": _rounded(client.memory()),
        }


def _rounded(weights: dict[str, float]) -> dict[str, float]:
    return {kind: round(value, 1) for kind, value in weights.items()}


def emptied(home: Path) -> int:
    """Delete all traces of a home, and return how many there were."""
    with Store.open(home / "repertoire.db") as store:
        keys = [trace.key for trace in store.traces.all()]
        store.privacy.forget_traces(keys)
    return len(keys)


def main() -> None:
    """Measure, and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("home", type=Path)
    arguments.add_argument("--rounds", type=int, default=2)
    given = arguments.parse_args()
    printed = errors(given.folder)
    figures: dict[str, Any] = {"load": os.getloadavg(), "with": [], "without": []}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(given.rounds):
            for name in ("with", "without"):
                home = Path(scratch) / name
                shutil.rmtree(home, ignore_errors=True)
                shutil.copytree(given.home, home)
                if name == "without":
                    figures["traces"] = emptied(home)
                figures[name].append(measured(home, printed))
    figures["load_after"] = os.getloadavg()
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
