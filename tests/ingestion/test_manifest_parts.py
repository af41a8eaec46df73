"""What a plugin's manifest writes or names in unusual forms is read as the client reads it."""

from __future__ import annotations

import json

STYLE = "---\ndescription: Says what matters first.\n---\nBe brief.\n"


def plugin(**manifest):
    """Return the manifest of a plugin without a marketplace."""
    return {"kit/.claude-plugin/plugin.json": json.dumps({"name": "kit", "description": "Baskets.", **manifest})}


def test_a_server_that_a_manifest_lists_among_paths_is_read(bench):
    other = {"kit/a.json": json.dumps({"mcpServers": {"loom": {"command": "loom"}}})}
    bench.ingest(bench.write({**plugin(mcpServers=["./a.json", {"sea": {"command": "sea"}}]), **other}))
    assert {one.name: one.plugin for one in bench.all().values() if one.type == "mcp_server"} == {
        "loom": "kit",
        "sea": "kit",
    }


def test_the_output_styles_that_a_manifest_names_are_settings_of_its_plugin(bench):
    bench.ingest(bench.write({**plugin(outputStyles="./styles/"), "kit/styles/terse.md": STYLE}))
    found = bench.one("setting")
    assert (found.name, found.plugin) == ("terse", "kit")
    assert found.install[0].endswith("/kit/styles/terse.md ~/.claude/output-styles/")


def test_a_persons_and_a_projects_output_styles_are_installed_settings(bench):
    bench.write({".claude/output-styles/terse.md": STYLE}, under="person")
    bench.write({".claude/output-styles/warm.md": STYLE}, under="project")
    bench.ingest_all("installed")
    settings = {one.name: one.installed for one in bench.all().values() if one.type == "setting"}
    assert settings == {"terse": True, "warm": True}
