"""What settings allow is judged as Claude Code 2.1.332 does: each case here was tried with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SKILL, Component
from repertoire.sources import client_files
from repertoire.sources.policy import Policy, policy

SHELF = "/srv/shelf"
GITHUB, GIT = {"source": "github", "repo": "o/r"}, {"source": "git", "url": "https://github.com/o/r.git"}
ADDRESSES = ("o/r", "https://github.com/o/r.git", SHELF)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a person's folder, with that of an administrator and a project beside it."""
    for name in ("config/plugins", "etc/managed-settings.d", "shop/.claude"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(client_files, "MANAGED", tmp_path / "etc")
    return tmp_path / "config"


def managed(config: Path, settings: object, name: str = "managed-settings.json") -> None:
    (config.parent / "etc" / name).write_text(json.dumps(settings))


def own(config: Path, settings: object) -> None:
    (config / "settings.json").write_text(json.dumps(settings))


def seen(config: Path) -> Policy:
    return policy({"CLAUDE_CONFIG_DIR": str(config)}, config.parent / "shop")


def offered(address: str) -> Component:
    lines = (f"/plugin marketplace add {address}", "/plugin install kit@box")
    return Component("", SKILL, "weave", plugin="kit", marketplace="box", install=lines)


def server(name: str = "db", plugin: str = "", **stated: Any) -> Component:
    return Component("", MCP_SERVER, name, plugin=plugin, marketplace="box", installed=True, front_matter=stated)


def test_nothing_is_forbidden_where_nobody_forbids(config: Path) -> None:
    own(config, {"strictKnownMarketplaces": [], "allowManagedHooksOnly": True, "strictPluginOnlyCustomization": True})
    assert not seen(config), "these are an administrator's alone"
    assert not any(map(seen(config), (*map(offered, ADDRESSES), server())))


@pytest.mark.parametrize(
    ("key", "rules", "admitted"),
    [
        ("strictKnownMarketplaces", [], ""),
        ("strictKnownMarketplaces", "no list", ""),
        ("allowedMarketplaces", [], ""),
        ("strictKnownMarketplaces", [GITHUB], "short"),
        ("strictKnownMarketplaces", [{**GITHUB, "repo": "O/R"}], "short"),
        ("strictKnownMarketplaces", [{**GITHUB, "repo": "o/*"}], "short"),
        ("strictKnownMarketplaces", [{**GITHUB, "ref": "main"}], ""),
        ("strictKnownMarketplaces", [GIT], "long"),
        ("strictKnownMarketplaces", [{"source": "hostPattern", "hostPattern": r"^github\.com$"}], "short long"),
        ("strictKnownMarketplaces", [{"source": "hostPattern", "hostPattern": "("}], ""),
        ("strictKnownMarketplaces", [{"source": "directory", "path": SHELF}], "folder"),
        ("strictKnownMarketplaces", [{"source": "pathPattern", "pathPattern": ".*"}], "folder"),
        ("blockedMarketplaces", [GITHUB], "folder"),
        ("blockedMarketplaces", [{**GITHUB, "repo": "O/*"}], "folder"),
        ("blockedMarketplaces", [GIT], "folder"),
        ("blockedMarketplaces", [{"source": "hostPattern", "hostPattern": "github"}], "folder"),
        ("blockedMarketplaces", [{"source": "directory", "path": SHELF}], "short long"),
        ("blockedMarketplaces", [{"source": "skills-dir"}], "short long folder"),
    ],
)
def test_a_marketplace_is_allowed_by_its_source(config: Path, key: str, rules: object, admitted: str) -> None:
    managed(config, {key: rules})
    judge = seen(config)
    told = [name for name, one in zip(("short", "long", "folder"), ADDRESSES, strict=True) if not judge(offered(one))]
    assert told == admitted.split()


def test_what_a_marketplace_was_added_from_counts_for_all_that_it_brings(config: Path) -> None:
    known = {"box": {"source": {"source": "directory", "path": SHELF}}}
    (config / "plugins/known_marketplaces.json").write_text(json.dumps(known))
    managed(config, {"strictKnownMarketplaces": [GITHUB]})
    judge = seen(config)
    installed = Component("", SKILL, "weave", plugin="kit", marketplace="box", installed=True)
    assert judge(installed) == "an administrator's settings do not allow the marketplace box"
    assert judge(Component("", SKILL, "weave", plugin="kit", marketplace="box", install=("/plugin install kit@box",)))
    managed(config, {"strictKnownMarketplaces": [{"source": "directory", "path": SHELF}]}, "managed-settings.d/1.json")
    assert not seen(config)(installed), "lists of several files are one"


@pytest.mark.parametrize(
    ("settings", "forbidden"),
    [
        ({"deniedMcpServers": [{"serverName": "db"}]}, "db"),
        ({"deniedMcpServers": [{"serverName": "inside"}]}, ""),
        ({"deniedMcpServers": [{"serverName": "plugin:kit:inside"}]}, "inside"),
        ({"deniedMcpServers": [{"serverCommand": ["db", "--now"]}]}, "db"),
        ({"deniedMcpServers": [{"serverCommand": ["db"]}]}, ""),
        ({"deniedMcpServers": [{"serverUrl": "https://*.example/*"}]}, "far"),
        ({"allowedMcpServers": [{"serverName": "db"}]}, "far inside"),
        ({"allowedMcpServers": []}, "db far inside"),
        ({"allowedMcpServers": [{"serverCommand": ["db", "--now"]}, {"serverName": "far"}]}, "inside"),
        ({"allowedMcpServers": [{"serverCommand": ["db"]}, {"serverName": "db"}]}, "db far inside"),
        ({"allowedMcpServers": [{"serverUrl": "https://far.*"}, {"serverName": "db"}]}, "inside"),
        ({"allowedMcpServers": [{"serverCommand": ["in", "/opt/kit/run.py"]}]}, "db far"),
        ({"strictPluginOnlyCustomization": ["mcp"]}, "db far"),
    ],
)
def test_a_server_is_allowed_by_its_name_its_command_or_its_address(
    config: Path, settings: object, forbidden: str
) -> None:
    servers = [
        server(command="db", args=["--now"]),
        server("far", url="https://far.example/mcp"),
        server("inside", "kit", command="in", args=["${CLAUDE_PLUGIN_ROOT}/run.py"]),
    ]
    managed(config, settings)
    assert [one.name for one in servers if seen(config)(one)] == forbidden.split()


def test_a_person_may_limit_servers_too_and_add_to_a_list_that_an_administrator_leaves_open(config: Path) -> None:
    own(config, {"allowedMcpServers": [{"serverName": "db"}], "deniedMcpServers": [{"serverName": "far"}]})
    assert [bool(seen(config)(server(name))) for name in ("db", "far", "new")] == [False, True, True]
    managed(config, {"allowedMcpServers": [{"serverName": "new"}]})
    assert [bool(seen(config)(server(name))) for name in ("db", "far", "new")] == [False, True, False]
    managed(config, {"allowManagedMcpServersOnly": True}, "managed-settings.d/1.json")
    assert [bool(seen(config)(server(name))) for name in ("db", "far", "new")] == [True, True, False]
    managed(config, {"mcpServers": {}}, "managed-mcp.json")
    assert "list all MCP servers that run" in seen(config)(server("new"))


def test_what_stands_by_itself_is_forbidden_where_only_plugins_may_bring_its_kind(config: Path) -> None:
    kinds = (SKILL, COMMAND, AGENT, HOOK, MCP_SERVER)

    def forbidden(**more: Any) -> list[str]:
        return [kind for kind in kinds if seen(config)(Component("", kind, "weave", **more))]

    managed(config, {"strictPluginOnlyCustomization": ["skills"]})
    managed(config, {"strictPluginOnlyCustomization": ["agents"]}, "managed-settings.d/1.json")
    assert forbidden(installed=True) == forbidden(install=("mkdir -p x && cp y x/",)) == [SKILL, COMMAND, AGENT]
    managed(config, {"strictPluginOnlyCustomization": True}, "managed-settings.d/1.json")
    assert forbidden(installed=True) == [*kinds]
    assert forbidden(installed=True, plugin="kit", marketplace="box") == []


def test_hooks_of_plugins_are_forbidden_where_an_administrators_alone_run(config: Path) -> None:
    hook = Component("", HOOK, "tidy", plugin="kit", marketplace="box", installed=True)
    managed(config, {"allowManagedHooksOnly": True})
    assert "run no hooks but their own" in seen(config)(hook)
    managed(config, {"allowManagedHooksOnly": True, "enabledPlugins": {"kit@box": True}})
    assert not seen(config)(hook)


def test_a_plugin_that_an_administrator_turns_off_is_forbidden(config: Path) -> None:
    managed(config, {"enabledPlugins": {"kit@box": False}})
    assert seen(config)(offered("o/r")) == "an administrator's settings turn off the plugin kit@box"
    assert not seen(config)(Component("", PLUGIN, "kat", install=("/plugin install kat@box",)))
