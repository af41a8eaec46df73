"""The PostgreSQL of `--dev`: what its user may see of a home."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from repertoire.app.commons.errors import NoLocalPostgres
from repertoire.commons.local_postgres import server_in


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


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="PostgreSQL runs as another user for root")
def test_without_the_program_that_makes_its_user_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def nobody(name: str) -> pwd.struct_passwd:
        raise KeyError(name)

    monkeypatch.setattr(pwd, "getpwnam", nobody)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoLocalPostgres, match=r"'useradd'.*put that into PATH"):
        server_in(tmp_path / "postgres")
