"""A home, a FastAPI project, and the session hook as the client runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hooks.starting import FASTAPI, HOOK, Run, make_project


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project", FASTAPI)


@pytest.fixture
def run(tmp_path: Path, home: Path) -> Run:
    def start(project: Path, *, source: str = "startup", session: str = "s1", **env: str) -> Any:
        told = {"session_id": session, "cwd": str(project), "source": source, "hook_event_name": "SessionStart"}
        return subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK)],
            input=json.dumps(told),
            env={"HOME": str(tmp_path), "REPERTOIRE_HOME": str(home), **env},
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )

    return start
