"""Before an installation a person is told what it starts, what it still needs, and what is left to do by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cli.conftest import write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: programs are sh scripts")


@pytest.fixture
def servers(tmp_path, run, user):
    """Ingest a folder with these MCP servers."""

    def ingest(found: Mapping[str, object]) -> Path:
        write(tmp_path / "servers/mcp.json", json.dumps({"mcpServers": found}))
        assert run("ingest", str(tmp_path / "servers")).returncode == 0
        return tmp_path / "servers"

    return ingest


def test_a_server_that_cannot_start_without_a_persons_own_value_is_not_installed_as_it_stands(run, servers):
    servers({"files": {"command": "npx", "args": ["-y", "files", "/path/to/allowed/files"]}})

    refused = run("install", "files", "--yes")

    assert refused.returncode == 1
    assert (
        "installed by hand, with your value in place of /path/to/allowed/files: claude mcp add files" in refused.stderr
    )
