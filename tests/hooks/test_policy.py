"""A session's start names nothing that settings do not allow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hooks.starting import Run, context, make_project, store_with
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, record_of


@pytest.mark.parametrize("allowed", [True, False])
def test_servers_that_settings_do_not_allow_are_not_named_but_others_in_their_place(
    run: Run, project: Path, home: Path, *, allowed: bool
) -> None:
    store_with(home)
    names = [f"fastapi-orm-{number}" for number in range(7)]
    made = [
        component("mcp_server", name, "Serves FastAPI.", popularity=9.0, install=(f"claude mcp add {name} -- x",))
        for name in names
    ]
    info = SOURCE.__class__("folder:/other", "folder", "/other")
    with Store.open(home / "repertoire.db") as store:
        records = [record_of(one, provides=["fastapi", "orm"]) for one in made]
        store.sources.write(info, records, [], derived=[], now=NOW)
    rules = {"allowedMcpServers": [{"serverName": name} for name in names]} if allowed else {"allowedMcpServers": []}
    make_project(project, {".claude/settings.json": json.dumps(rules)})
    told = context(run(project))
    assert ("fastapi-orm" in told) == allowed
    assert ("fastapi-templates" in told) != allowed
