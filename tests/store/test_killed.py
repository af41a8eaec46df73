"""What is left of a file whose writer is killed anywhere: the short form of `bench/soak/kills.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "soak"
KILLS = 12


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed where there is SIGKILL")
def test_a_kill_at_any_write_of_ingest_learning_traces_and_migration_loses_nothing_committed(tmp_path):
    figures = tmp_path / "kills.json"
    arguments = ("--kills", str(KILLS), "--size", "2", "--without", "changed", "--json", str(figures))
    done = subprocess.run(
        [sys.executable, str(BENCH / "kills.py"), *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    works = json.loads(figures.read_text())["works"]
    assert sum(work["kills"] for work in works) == KILLS
    assert sum(work["too_late"] for work in works) < KILLS / 2
    assert all(work["writes"] and not work["faults"] for work in works)
