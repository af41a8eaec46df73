"""Times the session-start hook as a whole process, with a store and without, beside a python that does nothing."""

from __future__ import annotations

import argparse
import json
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path

import harness
import library
from harness import Row, Section, bare_environment, in_turn, plain_python, whole_process

HOOK = harness.ROOT / "hooks" / "session_start.py"
GOAL_MS = 150.0
NOTHING, BARE, FIRST, STORE = "python3 -c pass", "python3 -I -S -c pass", "hook, no store yet", "hook, with the store"
# What a usual web project shows of itself.
PROJECT = {
    "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["fastapi", "sqlalchemy", "pytest", "pydantic"]\n',
    "package.json": '{"dependencies": {"react": "19", "next": "16"}, "devDependencies": {"vitest": "4"}}',
    "Dockerfile": "FROM python:3.13\n",
    "README.md": "# A shop\n",
}


def measure(options: argparse.Namespace) -> Section:
    """Start each process in turn and wait for its end."""
    section = Section("hook", {"runs": options.runs})
    with library.opened(library.home()) as repertoire:
        section.settings |= library.counts(repertoire)
    with library.copied(library.home()) as home, tempfile.TemporaryDirectory() as place:
        project, empty = Path(place) / "shop", Path(place) / "home"
        empty.mkdir()
        project.mkdir()
        for name, text in PROJECT.items():
            (project / name).write_text(text)
        python = plain_python()
        samples = in_turn(
            {
                NOTHING: lambda: whole_process([python, "-c", "pass"], environment=bare_environment())[0],
                BARE: lambda: whole_process([python, "-I", "-S", "-c", "pass"], environment=bare_environment())[0],
                FIRST: _hook(project, empty, section),
                STORE: _hook(project, home, section),
            },
            runs=options.runs,
        )
    section.rows = [
        Row(NOTHING, samples[NOTHING]),
        Row(BARE, samples[BARE], baseline=NOTHING),
        Row(FIRST, samples[FIRST], baseline=NOTHING, goal=GOAL_MS),
        Row(STORE, samples[STORE], baseline=NOTHING, goal=GOAL_MS),
    ]
    return section


def _hook(project: Path, home: Path, section: Section) -> Callable[[], float]:
    command = [plain_python(), "-I", "-S", str(HOOK)]
    environment = bare_environment(REPERTOIRE_HOME=str(home))

    def start() -> float:
        # a session of its own each time: one that has been told already is told nothing
        told = {"session_id": uuid.uuid4().hex, "cwd": str(project), "source": "startup"}
        spent, said = whole_process(command, environment=environment, given=json.dumps(told))
        section.settings["said"] = min(section.settings.get("said", len(said)), len(said))
        return spent

    return start


if __name__ == "__main__":
    harness.run_script("hook", measure, runs=40)
