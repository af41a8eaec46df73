"""What a file of traces brings is nobody's own here, so that it never leaves for the commons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Run
from repertoire.app.commons import membership

JOINED = membership.Membership("http://127.0.0.1:9", "rpc_team_key", "team", "ann", "2026-01-01T00:00:00Z")
LINE = {"title": "vite build is killed", "context": "Exit code 137 in CI.", "solution": "Raise the memory limit."}


@pytest.mark.parametrize("author", ["", " ", "me", "m\u200be", " me\n", "\ud800", "bob"])
def test_a_trace_from_a_file_waits_for_no_commons_whatever_its_author_is_called(run: Run, tmp_path: Path, author: str):
    run("ingest", ".")
    membership.write(tmp_path / "home", JOINED)
    file = tmp_path / "theirs.jsonl"
    file.write_text(json.dumps({**LINE, "author": author}))
    assert json.loads(run("trace", "import", str(file), "--json").stdout)["added"] == 1
    assert json.loads(run("commons", "outbox", "--json").stdout) == []
