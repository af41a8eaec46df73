"""A server that a person changed since it was added is never removed with what they wrote into it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cli.conftest import tree, write
from cli.test_installation import client, told

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: the client is an sh script")

ADDED = {"type": "stdio", "command": "loom", "env": {"LOOM_KEY": "${LOOM_KEY}"}}


def listed(server: dict[str, object] | None) -> str:
    """Return the text of a file of servers, in which the server may be missing."""
    return json.dumps({"numStartups": 2, "mcpServers": {} if server is None else {"loom": server}})


@pytest.fixture
def path(tmp_path):
    """Return the PATH to a client that keeps a server for a person and for a project, and removes only what it has."""
    write(tmp_path / "with", listed(ADDED))
    write(tmp_path / "without", listed(None))
    return client(
        tmp_path,
        f'file={tmp_path}/user/.claude.json; case "$*" in *"scope project"*) file=.mcp.json;; esac\n'
        f'case "$*" in *"mcp add"*) cp {tmp_path}/with "$file"; exit;; esac\n'
        f'grep -q \'"loom"\' "$file" || {{ echo "No MCP server named loom"; exit 1; }}; cp {tmp_path}/without "$file"',
    )


@pytest.mark.parametrize("flags", [(), ("--project",)])
def test_a_server_into_which_a_person_wrote_a_key_is_not_removed(run, shelf, path, tmp_path, flags):
    assert run("install", "loom", *flags, "--yes", **path).returncode == 0
    file = tmp_path / ("project/.mcp.json" if flags else "user/.claude.json")
    own = listed({**ADDED, "env": {"LOOM_KEY": "of my own"}})
    file.write_text(own)

    refused = run("install", "--undo", **path)

    assert refused.returncode == 1
    assert f"the MCP server loom in {file} was changed since it was installed; nothing was taken back" in refused.stderr
    assert file.read_text() == own
    assert told(tmp_path)[1] == "add"
    assert told(tmp_path).count("mcp") == 1
    file.write_text(listed(ADDED))
    assert run("install", "--undo", **path).returncode == 0
    assert not file.exists() if flags else file.read_text() == listed(None)


def test_a_server_that_a_person_removed_hinders_no_undo(run, shelf, path, user, tmp_path):
    before = tree(user)
    assert run("install", "loom", "weave", "--yes", **path).returncode == 0
    (tmp_path / "user/.claude.json").write_text(listed(None))

    undone = run("install", "--undo", **path)

    assert undone.returncode == 0, undone.stderr
    nothing = "there was nothing left for `claude mcp remove --scope user loom` to take back"
    assert (f"note: {nothing}" in undone.stdout, "ran: claude" in undone.stdout) == (True, False)
    assert tree(user) == before


def test_where_the_clients_file_cannot_be_read_nothing_counts_as_removed(run, shelf, path, tmp_path):
    assert run("install", "loom", "--yes", **path).returncode == 0
    (tmp_path / "user/.claude.json").write_text("{")
    refused = run("install", "--undo", **path)
    assert refused.returncode == 1
    assert "failed: No MCP server named loom; the rest stays as it is" in refused.stderr


def test_a_server_of_an_older_journal_is_removed_as_before(run, shelf, path, environment, tmp_path):
    assert run("install", "loom", "--yes", **path).returncode == 0
    journal = Path(environment["REPERTOIRE_HOME"]) / "installs/1/journal.json"
    older = json.loads(journal.read_text())
    del older["commands"][0]["made"]
    journal.write_text(json.dumps(older))
    assert run("install", "--undo", **path).returncode == 0
    assert (tmp_path / "user/.claude.json").read_text() == listed(None)
