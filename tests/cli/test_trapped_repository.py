"""A repository whose settings start programs is read by the real command line; none of them runs, with any git."""

from __future__ import annotations

import os
import sys

import pytest

from git_traps import Trapped, old_git

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: the programs are sh scripts")


@pytest.fixture
def trapped(tmp_path):
    return Trapped(tmp_path)


def with_git(place) -> str:
    return f"{place}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize("kind", ["whole", "lacking"])
def test_no_way_of_naming_a_repository_runs_what_its_settings_name(run, trapped, tmp_path, kind):
    if kind == "lacking":
        trapped.lack("HEAD~3^{tree}")
    nested = trapped.nested()
    trapped.sprung()
    careless = with_git(old_git(tmp_path / "careless", version="2.99.0"))

    for source in (str(trapped.folder), trapped.folder.as_uri(), str(nested)):
        done = run("ingest", source, PATH=careless)

        assert trapped.sprung() == set()
        assert "1 component" in done.stdout or "git clone failed" in done.stderr, done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_with_an_old_git_the_report_says_that_no_history_was_read(run, trapped, tmp_path):
    old = with_git(old_git(tmp_path / "careless"))
    why = "git 2.39.3 is older than what is known to be safe in folders that others filled; update it to 2.45.1"

    read = run("ingest", str(trapped.folder), PATH=old)
    refused = [run("ingest", source, PATH=old) for source in (trapped.folder.as_uri(), str(trapped.nested()))]

    assert f"  Note: no commit dates: {why}\n" in read.stdout
    assert "example.com/acme/trapped: 1 component" in read.stdout
    for done in refused:
        assert (done.returncode, done.stdout) == (1, "")
        assert why in done.stderr
    assert trapped.sprung() <= {"fsmonitor"}, "what made the nested one may look at files"
