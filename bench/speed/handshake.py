"""Times spawn to handshake, environment ready or not yet built, and to the first answers, beside a bare python."""

from __future__ import annotations

import argparse
import fcntl
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import harness
import library
from harness import Row, Section, bare_environment, in_turn, plain_python, whole_process
from stdio import Client, launch_command, ready_environment

from repertoire.boot import layout

NOTHING = "python3 -c pass"
WARM, COLD = "spawn to handshake, environment ready", "spawn to handshake, no environment yet"
FIRST = {
    "hook_prompt": "spawn to first prompt answered",
    "search_components": "spawn to first search answered",
    "status": "spawn to first status answered",
}
ARGUMENTS = {
    "hook_prompt": {"prompt": "add OAuth login with sessions to a FastAPI service", "session_id": "s", "cwd": "/"},
    "search_components": {"query": "add OAuth login with sessions to a FastAPI service"},
    "status": {},
}


def measure(options: argparse.Namespace) -> Section:
    """Start a server for each sample."""
    section = Section("handshake", {"runs": options.runs})
    with library.opened(library.home()) as repertoire:
        section.settings |= library.counts(repertoire)
    used: dict[str, list[float]] = {}
    with library.copied(library.home()) as home:
        ready = ready_environment(home)
        cases: dict[str, Callable[[], float]] = {
            NOTHING: lambda: whole_process([plain_python(), "-c", "pass"], environment=bare_environment())[0],
            WARM: lambda: _start(ready, used.setdefault(WARM, [])),
            COLD: lambda: _cold(used.setdefault(COLD, [])),
        }
        for tool, name in FIRST.items():
            cases[name] = lambda tool=tool, name=name: _start(ready, used.setdefault(name, []), tool)
        samples = in_turn(cases, runs=options.runs)
    section.rows = [Row(name, values, baseline=NOTHING if name != NOTHING else "") for name, values in samples.items()]
    section.rows += [Row(f"  its processor time: {name}", values[-options.runs :]) for name, values in used.items()]
    return section


def _start(environment: dict[str, str], used: list[float], tool: str = "") -> float:
    with closing(Client(launch_command(), environment)) as client:
        spent = client.handshake()
        if tool:
            client.call(tool, **ARGUMENTS[tool])
            spent = 1000.0 * (time.perf_counter() - client.spawned)
        used.append(client.processor_ms())
        return spent


def _cold(used: list[float]) -> float:
    with tempfile.TemporaryDirectory(prefix="repertoire-cold-") as place, _build_held_up(Path(place)):
        return _start(bare_environment(REPERTOIRE_HOME=place), used)


@contextmanager
def _build_held_up(home: Path) -> Iterator[None]:
    """Let the build that a first start begins wait, then find its work done: nothing is downloaded."""
    root = home / "env"
    root.mkdir()
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        done = root / f"{layout.key()}-bench"
        python = layout.python_of(done)
        python.parent.mkdir(parents=True)
        python.symlink_to(sys.executable)
        (done / layout.MARKER).touch()
    time.sleep(3 * 0.2)  # the builder looks at the lock this often; then it goes


if __name__ == "__main__":
    harness.run_script("handshake", measure, runs=15)
