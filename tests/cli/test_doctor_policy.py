"""`doctor` and `status` tell what settings of Claude Code keep of the plugin from running, and whom to ask."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Run
from cli.test_doctor import NAME, ROOT, client, plugin, write  # noqa: F401 - fixtures
from repertoire.app.health.client_policy import SERVER
from repertoire.app.health.doctor_client import registration
from repertoire.domain.health import Finding
from repertoire.learning.selections import OURS
from repertoire.sources import client_files


def test_the_plugin_and_its_server_are_called_as_they_are_looked_for() -> None:
    assert json.loads((ROOT / ".claude-plugin/plugin.json").read_text())["name"] == OURS
    assert [*json.loads((ROOT / "server/mcp.json").read_text())["mcpServers"]] == [SERVER]


@pytest.fixture
def told(client: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Finding]:  # noqa: F811
    """Return what is found last of the plugin's registration, with settings of a person or an administrator."""
    monkeypatch.setattr(client_files, "MANAGED", tmp_path)
    known = {"repertoire": {"source": {"source": "directory", "path": str(ROOT)}}}
    write(client / "plugins" / "known_marketplaces.json", known)

    def last(settings: object, *, managed: bool = False) -> Finding:
        write(tmp_path / "managed-settings.json" if managed else client / "settings.json", settings)
        return [*registration(ROOT, {"CLAUDE_CONFIG_DIR": str(client)}, project=tmp_path)][-1]

    return last


@pytest.mark.parametrize(
    ("settings", "state", "text"),
    [
        ({"deniedMcpServers": [{"serverName": "plugin:repertoire:graph"}]}, "fail", "settings deny the MCP server"),
        ({"allowedMcpServers": [{"serverName": "graph"}]}, "fail", "is not among those that settings allow, so Claude"),
        ({"permissions": {"deny": ["mcp__plugin_repertoire_graph"]}}, "warn", "permissions.deny refuses Claude"),
        ({"disableAllHooks": True}, "warn", "disableAllHooks is set"),
    ],
)
def test_settings_that_keep_claude_from_our_server_or_hooks_are_told(
    told: Callable[..., Finding], settings: object, state: str, text: str
) -> None:
    found = told(settings)
    assert (found.check, found.state) == ("client-policy", state)
    assert text in found.text


def test_a_list_that_has_the_command_of_our_server_as_it_is_stated_is_fine(told: Callable[..., Finding]) -> None:
    mend = told({"allowedMcpServers": []}).mend
    rule = json.loads(mend[mend.index("{") :])
    assert rule["serverCommand"][-1] == str(ROOT / "server/launch.py"), "the client runs it in the marketplace's folder"
    assert told({"allowedMcpServers": [rule]}).state == "ok"


@pytest.mark.parametrize(
    ("settings", "text", "mend"),
    [
        ({"allowManagedHooksOnly": True}, "so no hook of ours runs", '{"enabledPlugins": {"repertoire@repertoire"'),
        ({"strictKnownMarketplaces": []}, f"Claude Code does not load {NAME}: an administrator's", "ask who manages"),
        ({"enabledPlugins": {NAME: False}}, f"{NAME} is disabled by an administrator", "ask who manages"),
        ({"allowManagedHooksOnly": True, "enabledPlugins": {NAME: True}}, "is installed and enabled", ""),
    ],
)
def test_what_an_administrator_keeps_of_the_plugin_is_told_with_whom_to_ask(
    told: Callable[..., Finding], settings: object, text: str, mend: str
) -> None:
    found = told(settings, managed=True)
    assert text in found.text
    assert mend in found.mend


def test_status_tells_it_too(run: Run, client: Path) -> None:  # noqa: F811
    write(client / "settings.json", {"deniedMcpServers": [{"serverName": "plugin:repertoire:graph"}]})
    assert "Note: settings deny the MCP server plugin:repertoire:graph, so Claude has none" in run("status").stdout
