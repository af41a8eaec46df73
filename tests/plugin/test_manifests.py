"""The manifests agree with each other, with the project file and with the files they name."""

from __future__ import annotations

import importlib.metadata

import repertoire
from plugin.surface import ROOT, project_field, read_json


def test_the_plugin_file_at_the_top_equals_the_manifest_that_the_client_reads() -> None:
    # a link would do on POSIX, but a Windows checkout without symlink rights turns it into a text file
    assert not (ROOT / "plugin.json").is_symlink()
    assert (ROOT / "plugin.json").read_bytes() == (ROOT / ".claude-plugin/plugin.json").read_bytes()


def test_one_version_stands_everywhere() -> None:
    manifest = read_json("plugin.json")
    for name in ("version", "name", "license"):
        assert manifest[name] == project_field(name)
    assert repertoire.__version__ == manifest["version"]
    assert importlib.metadata.version("repertoire") == manifest["version"]
    assert read_json("server/tools.json")["serverInfo"]["version"] == manifest["version"]


def test_the_repository_is_its_own_marketplace() -> None:
    market = read_json(".claude-plugin/marketplace.json")
    assert market["name"] == "repertoire"
    assert [(entry["name"], entry["source"]) for entry in market["plugins"]] == [("repertoire", "./")]


def test_the_server_is_named_in_a_file_that_projects_do_not_read() -> None:
    # a .mcp.json at the top would also be started, and fail, for whoever opens this repository
    assert not (ROOT / ".mcp.json").exists()
    path = read_json("plugin.json")["mcpServers"]
    assert path == "./server/mcp.json"
    servers = read_json(path)["mcpServers"]
    assert list(servers) == ["graph"]
    assert any("${CLAUDE_PLUGIN_ROOT}/server/launch.py" in argument for argument in servers["graph"]["args"])


def test_the_switch_for_suggestions_reaches_the_server() -> None:
    option = read_json("plugin.json")["userConfig"]["suggestions"]
    assert (option["type"], option["default"]) == ("boolean", True)
    environment = read_json("server/mcp.json")["mcpServers"]["graph"]["env"]
    assert environment["REPERTOIRE_SUGGESTIONS"] == "${user_config.suggestions}"


def test_only_the_command_line_tool_joins_the_path_of_every_session() -> None:
    assert [path.name for path in (ROOT / "bin").iterdir()] == ["repertoire"]
