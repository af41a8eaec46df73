"""What is stale is told of what a person installs: a server, and not each of its tools."""

from __future__ import annotations

import json

from ingestion.workbench import repository
from repertoire.app.health.stale import StaleFilter, stale
from repertoire.app.wiring import open_repertoire


def test_a_stale_server_is_told_once_and_not_again_for_each_of_its_tools(bench):
    tools = [{"name": name, "description": "Draws."} for name in ("draw", "erase")]
    server = "name: atlas\nimage: mcp/atlas\nabout:\n  title: Atlas\n  description: Draws maps.\n"
    files = {"servers/atlas/server.yaml": server, "servers/atlas/tools.json": json.dumps(tools)}
    bench.ingest(repository(bench.write(files), date="2020-01-01T00:00:00Z"))
    assert "tool" in {found.type for found in bench.all().values()}
    with open_repertoire(bench.home, environment={"REPERTOIRE_MODEL": "none/at-all"}) as opened:
        report = stale(opened, StaleFilter(), environment={})
    assert ([found.type for found in report.shown], report.more, report.undated) == (["mcp_server"], 0, 0)
