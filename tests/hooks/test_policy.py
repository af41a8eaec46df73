"""A session's start names nothing that settings do not allow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hooks.starting import Run, context, make_project, store_with
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, record_of


@pytest.mark.parametrize("allowed", ["reef", "tide"])
def test_a_server_that_settings_do_not_allow_is_not_named(run: Run, project: Path, home: Path, allowed: str) -> None:
    store_with(home)
    with Store.open(home / "repertoire.db") as store:
        reef = component("mcp_server", "reef", "Serves FastAPI.", install=("claude mcp add reef -- reef-mcp",))
        info = SOURCE.__class__("folder:/other", "folder", "/other")
        store.sources.write(info, [record_of(reef, provides=["fastapi", "orm"])], [], derived=[], now=NOW)
    rules = {"allowedMcpServers": [{"serverName": allowed}]}
    make_project(project, {".claude/settings.json": json.dumps(rules)})
    assert ("reef" in context(run(project))) == (allowed == "reef")
