"""The PostgreSQL of `--dev`: what its user may see of a home."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="PostgreSQL runs as another user for root")
def test_the_folders_above_its_data_can_be_passed_through_and_not_listed(commons_environment: dict[str, str]):
    with tempfile.TemporaryDirectory(prefix="repertoire-private-") as private:
        home = Path(private) / "home"
        line = [sys.executable, "-m", "repertoire", "commons", "jobs", "--dev"]
        environment = {**commons_environment, "REPERTOIRE_HOME": str(home), "HOME": private}
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stdout) == (0, "0 dead jobs; --retry ID or all queues again\n"), done.stderr
        for folder in (Path(private), home, home / "commons"):
            assert folder.stat().st_mode & 0o077 in {0o010, 0o001}, folder
