"""Before an installation a person is told what it starts, what it still needs, and what is left to do by hand."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cli.conftest import tree, write
from ingestion.workbench import repository

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: programs are sh scripts")

SHELF = {"name": "shelf", "owner": {"name": "o"}, "plugins": [{"name": "kit", "source": "./"}]}


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


def test_a_person_is_told_what_an_installed_server_still_needs_and_where_its_key_belongs(run, servers, user, tmp_path):
    servers({"reef": {"command": "pipx", "args": ["run", "reef"], "env": {"REEF_TOKEN": ""}}})
    (tmp_path / "empty").mkdir()
    path = {"PATH": str(tmp_path / "empty")}

    shown = run("install", "reef", "--dry-run", **path).stdout
    set_now = run("install", "reef", "--dry-run", REEF_TOKEN="r", **path).stdout

    where = "Set variables in the environment that starts Claude Code, or under `env` in its settings.json"
    assert f"note: it requires pipx, not found here; REEF_TOKEN, not set here. {where}\n" in shown
    assert "note: it requires pipx, not found here\n" in set_now
    (user / "settings.json").write_text(json.dumps({"env": {"REEF_TOKEN": "r"}}))
    assert "REEF_TOKEN, not set" not in run("install", "reef", "--dry-run").stdout


def test_of_a_plugin_a_person_is_told_what_its_servers_and_hooks_need(run, tmp_path, user):
    kit = tmp_path / "kit"
    write(kit / ".claude-plugin/plugin.json", '{"name": "kit", "description": "Counts fish."}')
    write(kit / ".mcp.json", json.dumps({"mcpServers": {"reef": {"command": "reef-mcp"}}}))
    write(kit / "skills/fish/SKILL.md", "---\nname: fish\ndescription: Counts fish.\n---\nCount.\n")
    assert run("ingest", str(kit)).returncode == 0

    assert "it requires reef-mcp, not found here" in run("install", f"folder:{kit}:.", "--dry-run").stdout


def test_what_sessions_will_start_is_the_command_and_never_what_the_author_says_of_it(run, servers):
    told = "Counts fish.\nRuns: true"
    servers(
        {
            "reef": {"command": "reef-mcp", "args": ["--deep"], "description": told},
            "tide": {"url": "https://tide.invalid/mcp", "description": told},
        }
    )
    started = [
        line
        for name in ("reef", "tide")
        for line in run("install", name, "--dry-run").stdout.splitlines()
        if "sessions will start" in line
    ]
    assert started == [
        "  sessions will start: reef: reef-mcp --deep",
        "  sessions will start: tide: https://tide.invalid/mcp",
    ]


def test_of_a_copied_plugin_the_command_of_its_server_is_told(run, tmp_path, user):
    kit = tmp_path / "kit"
    write(kit / ".claude-plugin/plugin.json", '{"name": "kit", "description": "Counts fish."}')
    reef = {"command": "reef-mcp", "args": ["--deep"], "description": "Runs: true"}
    write(kit / ".mcp.json", json.dumps({"mcpServers": {"reef": reef}}))
    assert run("ingest", str(kit)).returncode == 0

    shown = run("install", f"folder:{kit}:.", "--dry-run").stdout

    assert "sessions will start: reef: reef-mcp --deep\n" in shown
    assert "Runs: true" not in shown


def test_of_a_catalogued_plugin_it_is_said_that_its_programs_are_not_known_yet(run, user):
    shown = run("install", "playwright", "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "what sessions will start is not known yet" in shown.stdout
    assert "sessions will start:" not in shown.stdout


@pytest.mark.parametrize("how", [shutil.copytree, shutil.move])
def test_what_was_read_in_another_home_is_to_be_read_again(run, environment, user, tmp_path, how):
    write(tmp_path / "made/skills/fish/SKILL.md", "---\nname: fish\ndescription: Counts fish.\n---\nCount.\n")
    repository(tmp_path / "made")
    address = (tmp_path / "made").as_uri()
    path = {"GIT_ALLOW_PROTOCOL": "file", "REPERTOIRE_HOME": str(tmp_path / "moved")}
    assert run("ingest", address, GIT_ALLOW_PROTOCOL="file").returncode == 0
    how(environment["REPERTOIRE_HOME"], tmp_path / "moved")

    refused = run("install", "fish", "--yes", **path)

    assert refused.returncode == 1
    assert "where its source lies now; `repertoire ingest` its source again" in refused.stderr
    assert run("ingest", address, **path).returncode == 0
    assert run("install", "fish", "--yes", **path).returncode == 0


def test_what_was_copied_is_replaced_by_the_new_text_of_its_source_and_the_undo_brings_the_old_one_back(
    run, shelf, user, skill
):
    assert run("install", "weave", "--yes").returncode == 0
    old = tree(user)
    skill(shelf, "weave", "Weaves baskets from hazel.")
    (shelf / "skills/weave/logo.png").unlink()
    assert run("ingest", str(shelf)).returncode == 0

    done = run("install", "weave", "--yes")

    assert done.returncode == 0, done.stderr
    assert f"replaces {user / 'skills/weave/SKILL.md'}" in done.stdout
    assert f"note: {user / 'skills/weave/logo.png'} is no longer in its source; it stays" in done.stdout
    assert "hazel" in (user / "skills/weave/SKILL.md").read_text()
    assert "Nothing to do." in run("install", "weave", "--yes").stdout
    assert run("install", "--undo").returncode == 0
    assert tree(user) == old


def test_a_copy_that_a_person_changed_is_not_replaced_by_the_new_text_of_its_source(run, shelf, user, skill):
    assert run("install", "weave", "--yes").returncode == 0
    (user / "skills/weave/SKILL.md").write_text("mine")
    skill(shelf, "weave", "Weaves baskets from hazel.")
    assert run("ingest", str(shelf)).returncode == 0

    refused = run("install", f"folder:{shelf}:skills/weave/SKILL.md", "--yes")

    assert refused.returncode == 1
    assert "exists already with other content: nothing is overwritten" in refused.stderr


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"deniedMcpServers": [{"serverName": "reef"}]}, "settings deny the MCP server reef"),
        ({"allowedMcpServers": [{"serverName": "tide"}]}, "the MCP server reef is not among those that settings allow"),
    ],
)
def test_a_server_that_settings_do_not_allow_is_refused_before_anything_changes(run, servers, user, settings, why):
    servers({"reef": {"command": "reef-mcp"}})
    (user / "settings.json").write_text(json.dumps(settings))
    before = tree(user.parent)

    refused = run("install", "reef", "--yes")

    assert refused.returncode == 1
    assert f"reef cannot be used here: {why}; ask who wrote them" in refused.stderr
    assert tree(user.parent) == before


def test_a_person_is_told_what_of_a_plugin_will_be_of_no_use(run, tmp_path, user):
    kit = tmp_path / "kit"
    write(kit / ".claude-plugin/plugin.json", '{"name": "kit", "description": "Counts fish."}')
    write(kit / ".mcp.json", json.dumps({"mcpServers": {"reef": {"command": "reef-mcp"}}}))
    write(kit / "skills/fish/SKILL.md", "---\nname: fish\ndescription: Counts fish.\n---\nCount.\n")
    write(kit / "skills/crab/SKILL.md", "---\nname: crab\ndescription: Counts crabs.\n---\nCount.\n")
    write(kit / ".claude-plugin/marketplace.json", json.dumps(SHELF))
    assert run("ingest", str(kit)).returncode == 0
    denied = {"permissions": {"deny": ["Skill(kit:crab)"]}, "allowedMcpServers": []}
    (user / "settings.json").write_text(json.dumps(denied))

    shown = run("install", "kit:fish", "--dry-run").stdout

    assert "note: of no use here: crab (settings deny it to the model in this project)\n" in shown
    assert "of no use here: reef (the MCP server plugin:kit:reef is not among those that settings allow)\n" in shown
