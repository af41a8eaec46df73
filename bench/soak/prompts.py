"""Sends one server ten thousand prompts and looks at what grows: `python bench/soak/prompts.py [--prompts 10000]`.

A real server over stdio, as the client starts it, over 120 components with their vectors, on a machine where nothing is
installed. Sessions of 40 prompts; a prompt is one of 6,000 wordings, or small talk. Two of five are followed by the use
of a component, some of those by a failed call, a test that passes, or an edit that is undone; each ends with a stop.
Every fifth session begins with the session-start hook. After every tenth of the way it is told how much memory the
server has, how large the file and its log are, and how many events, counts and requests are kept.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from crowd import ROOT, SIZE, Crowd, bytes_of, spelled, watched
from harness import percentile, plain_python
from stdio import Client
from works import Recalled

from repertoire.app.embed import embed_pending
from repertoire.store.database import Store
from repertoire.store.events import COUNTED

_SESSION, _GREETED = 40, 5
_ACTS = ("fill", "audit", "explain", "test", "deploy", "write", "compare", "draft", "check", "summarise")
_THINGS = ("PDF form", "accounting ledger", "slow PostgreSQL query", "browser flow", "Kubernetes service", "changelog")
_SMALL_TALK = ("thanks", "ok, go on", "yes please", "what do you mean?")


class Soak:
    """One client with one server."""

    def __init__(self, made: Crowd, client: Client) -> None:
        self._made, self._client = made, client
        self._draw = random.Random(3)
        self.spent: list[float] = []
        self.hints = self.late = 0

    def session(self, number: int, prompts: int) -> None:
        """Go through one session."""
        session, place = f"soak {number}", str(self._made.place / "project")
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
            if self._draw.random() < 0.4:
                self._use(session, place)
            self._call("hook_stop", session, place, stop_hook_active="false")

    def _prompt(self) -> str:
        if self._draw.random() < 0.15:
            return self._draw.choice(_SMALL_TALK)
        act, thing = self._draw.choice(_ACTS), self._draw.choice(_THINGS)
        return f"Please {act} the {thing} of the {spelled(self._draw.randrange(100))} team before Friday"

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


def soak(prompts: int, size: int) -> dict[str, Any]:
    """Send so many prompts; return what was seen on the way."""
    with tempfile.TemporaryDirectory(prefix="repertoire-prompts-") as named:
        made = Crowd(Path(named).resolve(), 0.0, size)
        database = made.home / "repertoire.db"
        with Store.open(database) as store:
            embed_pending(store, Recalled())
        wal = database.with_name(f"{database.name}-wal")
        rows = []
        with made.server() as client, watched(wal) as sizes:
            run = Soak(made, client)
            for number in range(-(-prompts // _SESSION)):
                run.session(number, min(_SESSION, prompts - number * _SESSION))
                if len(run.spent) * 10 // prompts > len(rows):
                    client.call("status")  # waits for what is still to be written
                    rows.append(_row(run, client, database, sizes))
                    print(rows[-1], flush=True)
        return {"prompts": prompts, "hints": run.hints, "late": run.late, "rows": rows}


def _row(run: Soak, client: Client, database: Path, sizes: list[int]) -> dict[str, Any]:
    memory = client.memory()
    with Store.open(database, read_only=True) as store:
        events = len(store.events.since(0, limit=-1))
        kept = {"events": events, "counts": store.events.count(COUNTED), "requests": store.requests.count()}
    last = run.spent[-max(len(run.spent) // 10, 1) :]
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
    parser.add_argument("--prompts", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=SIZE, help="components in each of three sources")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    began = time.monotonic()
    found = soak(options.prompts, options.size) | {"seconds": round(time.monotonic() - began, 1)}
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
