"""Several real processes use one file at once: the short form of `bench/soak/crowd.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from repertoire.store.connection import LOG_LIMIT

BENCH = Path(__file__).parents[2] / "bench" / "soak"


def crowd(tmp_path: Path, roles: str) -> dict[str, Any]:
    figures = tmp_path / "crowd.json"
    arguments = ("--seconds", "2", "--roles", roles, "--size", "3", "--json", str(figures))
    done = subprocess.run(
        [sys.executable, str(BENCH / "crowd.py"), *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(figures.read_text())
    return found


def test_a_server_hooks_and_ingests_beside_each_other_lose_no_event_and_speak_of_no_lock(tmp_path):
    found = crowd(tmp_path, "sgi")
    assert found["acknowledged"] >= 3
    assert min(found["done"][name] for name in ("hook_prompt", "session start", "ingest")) >= 1
    assert found["wal_peak_kb"] < LOG_LIMIT // 1024


def test_eight_processes_that_contribute_vote_and_ingest_at_once_lose_nothing_that_was_acknowledged(tmp_path):
    found = crowd(tmp_path, "ccccppii")
    assert min(found["done"][name] for name in ("contribute_trace", "vote_trace", "trace contribute", "ingest")) >= 1
    assert found["acknowledged"] >= 6
