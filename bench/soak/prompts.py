"""Sends one server thousands of prompts and looks at what grows: `python bench/soak/prompts.py [--prompts 16000]`.

A real server over stdio, as the client starts it, over 120 components with their vectors, on a machine where nothing is
installed. Sessions of 40 prompts, each session in a project of its own; a prompt is one of 60,000 wordings, or small
talk. Four of five are followed by the use of a component, some of those by a failed call, a test that passes, or an
edit that is undone; each ends with a stop. Every fifth session begins with the session-start hook. So past requests,
events and counts all reach their bounds on the way, and what is sent after that shows whether anything grows on.

After each twenty-fourth part of the way it is noted how much memory the server has, how large the file and its log
are, and how many events, counts and requests are kept. A bound is reached when there are no more of what it bounds
than before; the slopes are those of the best lines from where the last one is.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from crowd import ROOT, SIZE, Crowd, bytes_of, spelled, watched
from harness import percentile, plain_python
from stdio import Client
from works import Recalled

from repertoire.app.sources.embed import embed_pending
from repertoire.domain.event import COUNTED
from repertoire.settings import Settings
from repertoire.store.database import Store

_SESSION, _GREETED, _PARTS = 40, 5, 24
_ACTS = ("fill", "audit", "explain", "test", "deploy", "write", "compare", "draft", "check", "summarise")
_THINGS = ("PDF form", "accounting ledger", "slow PostgreSQL query", "browser flow", "Kubernetes service", "changelog")
_SMALL_TALK = ("thanks", "ok, go on", "yes please", "what do you mean?")


class Soak:
    """One client with one server."""

    def __init__(self, made: Crowd, client: Client, part: int) -> None:
        self._made, self._client, self.part = made, client, part
        self._draw = random.Random(3)
        self.spent: list[float] = []
        self.hints = self.late = 0

    def session(self, number: int, prompts: int) -> None:
        """Go through one session."""
        session, place = f"soak {number}", str(self._made.place / "projects" / str(number))
        Path(place).mkdir(parents=True)
        if number % _GREETED == 0:
            hook = [plain_python(), "-I", "-S", str(ROOT / "hooks/session_start.py")]
            given = json.dumps({"session_id": session, "cwd": place, "source": "startup"})
            subprocess.run(hook, input=given, env=self._made.environment, capture_output=True, text=True, check=True)
        for _ in range(prompts):
            began = time.perf_counter()
            told = self._call("hook_prompt", session, place, prompt=self._prompt())
            self.spent.append(1000.0 * (time.perf_counter() - began))
            self.late += self.spent[-1] >= 1500.0
            self.hints += "hookSpecificOutput" in told
            if self._draw.random() < 0.8:
                self._use(session, place)
            self._call("hook_stop", session, place, stop_hook_active="false")

    def _prompt(self) -> str:
        if self._draw.random() < 0.15:
            return self._draw.choice(_SMALL_TALK)
        act, thing = self._draw.choice(_ACTS), self._draw.choice(_THINGS)
        return f"Please {act} the {thing} of the {spelled(self._draw.randrange(1000))} team before Friday"

    def _use(self, session: str, place: str) -> None:
        skill = {"tool_name": "Skill", "tool_input": json.dumps({"skill": self._draw.choice(self._made.skills)})}
        chance = self._draw.random()
        self._call("hook_failed" if chance < 0.1 else "hook_used", session, place, error="it broke", **skill)
        commands = {"pytest -q": chance > 0.5, "git checkout -- app.py": 0.1 <= chance < 0.15}
        for command in (command for command, given in commands.items() if given):
            bash = {"tool_name": "Bash", "tool_input": json.dumps({"command": command})}
            self._call("hook_used", session, place, **bash)

    def _call(self, hook: str, session: str, place: str, **arguments: str) -> str:
        return self._client.call(hook, session_id=session, cwd=place, **arguments)


def soak(prompts: int, size: int, most: int) -> dict[str, Any]:
    """Send so many prompts to a server that keeps so many requests at most; return what was seen on the way."""
    with tempfile.TemporaryDirectory(prefix="repertoire-prompts-") as named:
        made = Crowd(Path(named).resolve(), 0.0, size, {"REPERTOIRE_MAX_REQUESTS": str(most)})
        database = made.home / "repertoire.db"
        with Store.open(database) as store:
            embed_pending(store, Recalled())
        wal = database.with_name(f"{database.name}-wal")
        rows = []
        with made.server() as client, watched(wal) as sizes:
            run = Soak(made, client, max(prompts // _PARTS, 1))
            for number in range(-(-prompts // _SESSION)):
                run.session(number, min(_SESSION, prompts - number * _SESSION))
                if len(run.spent) // run.part > len(rows):
                    client.call("status")  # waits for what is still to be written
                    rows.append(_row(run, client, database, sizes))
                    print(rows[-1], flush=True)
        found = {"prompts": prompts, "max_requests": most, "hints": run.hints, "late": run.late}
        return {**found, **since_full(rows), "rows": rows}


def since_full(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return from which prompt on all bounds were reached, and how memory and file went from there."""
    reached = {name: _stopped(rows, name) for name in ("requests", "events", "counts")}
    if not all(reached.values()):
        return {"reached": reached}
    full = [row for row in rows if row["prompts"] >= max(reached.values())]
    resident = [row["resident_mb"] for row in full]
    return {
        "reached": reached,
        "resident_mb_min_median_max": [min(resident), statistics.median(resident), max(resident)],
        "resident_mb_per_1000": _slope(full, "resident_mb"),
        "file_mb_per_1000": _slope(full, "file_kb", 1024),
    }


def _stopped(rows: list[dict[str, Any]], name: str) -> int:
    """Return after how many prompts there were no more than before; 0 where there always were."""
    return next((row["prompts"] for before, row in pairwise(rows) if 0 < row[name] <= before[name]), 0)


def _slope(rows: list[dict[str, Any]], name: str, unit: int = 1) -> float:
    prompts, values = [row["prompts"] / 1000 for row in rows], [row[name] / unit for row in rows]
    return round(statistics.linear_regression(prompts, values).slope, 2) if len(rows) > 1 else 0.0


def _row(run: Soak, client: Client, database: Path, sizes: list[int]) -> dict[str, Any]:
    memory = client.memory()
    with Store.open(database, read_only=True) as store:
        counts = store.events.count(COUNTED)
        kept = {"events": store.events.size() - counts, "counts": counts, "requests": store.requests.count()}
    last = run.spent[-run.part :]
    return {
        "prompts": len(run.spent),
        **{f"{name}_mb": round(value, 1) for name, value in memory.items()},
        "file_kb": bytes_of(database) // 1024,
        "wal_kb": bytes_of(database.with_name(f"{database.name}-wal")) // 1024,
        "wal_peak_kb": max(sizes, default=0) // 1024,
        **kept,
        "prompt_p50_ms": round(percentile(last, 0.5), 1),
        "prompt_p95_ms": round(percentile(last, 0.95), 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=16_000)
    parser.add_argument("--size", type=int, default=SIZE, help="components in each of three sources")
    parser.add_argument("--requests", type=int, default=Settings().max_requests, help="past requests that are kept")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    began = time.monotonic()
    found = soak(options.prompts, options.size, options.requests)
    found |= {"seconds": round(time.monotonic() - began, 1)}
    print({name: value for name, value in found.items() if name != "rows"})
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
