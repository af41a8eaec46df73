"""A folder whose name is not UTF-8 is named and refused; nothing is made for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 there")


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/no\xff"))
    folder.mkdir()
    return folder


@pytest.mark.parametrize("words", [["recommend", "fill a form"], ["project", "init", "--no-vectors"], ["status"]])
def test_a_command_in_a_folder_whose_name_is_not_utf8_names_it(run, tmp_path, odd, words):
    done = run(*words, cwd=odd)
    assert done.returncode == 2
    assert "no\\udcff' is not UTF-8; rename it" in done.stderr
    assert not (tmp_path / "home/projects").exists()


@pytest.mark.parametrize("words", [["explain"], ["mute"], ["recommend"], ["feedback", "ok"]])
def test_a_file_whose_name_is_not_utf8_is_named_where_something_else_is_looked_up(run, tmp_path, words):
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/project/no\xff.md")).touch()
    verb, *rest = words
    done = run(verb, os.fsdecode(b"no\xff.md"), *rest)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "repertoire: 'no\\udcff.md' is not UTF-8, as whatever is looked up must be; rename it\n"


def test_a_source_whose_name_is_not_utf8_is_named(run, odd):
    done = run("ingest", str(odd))
    assert done.returncode == 1
    assert "no\\udcff' is not UTF-8, as a source's must be; rename it" in done.stderr
    done = run("project", "init", "--no-vectors", "--project", str(odd))
    assert done.returncode == 2
    assert "no\\udcff' is not UTF-8; rename it" in done.stderr
