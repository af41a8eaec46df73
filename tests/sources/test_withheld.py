"""What is kept from the model in a project is read from its settings and the client's state, whatever these hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repertoire.domain.component import MCP_SERVER, SKILL
from repertoire.sources import client_files
from repertoire.sources.withheld import Withheld, switched_off, withheld


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "shop" / ".claude").mkdir(parents=True)
    (tmp_path / "config").mkdir()
    return tmp_path / "config"


def seen(config: Path, folder: str = "shop") -> Withheld:
    return withheld({"CLAUDE_CONFIG_DIR": str(config)}, config.parent / folder)


def deny(*rules: object) -> str:
    return json.dumps({"permissions": {"deny": rules}})


def test_a_persons_rules_count_everywhere_and_a_projects_in_it_alone(config: Path) -> None:
    assert not seen(config)
    (config / "settings.json").write_text("\ufeff\n " + deny("Skill(pdf)", "Bash(rm:*)", 3), encoding="utf-8")
    (config.parent / "shop/.claude/settings.json").write_text(deny("Agent(one)"))
    (config.parent / "shop/.claude/settings.local.json").write_text(deny("mcp__db", "Skill(pdf)"))
    assert seen(config).rules == ("Skill(pdf)", "Agent(one)", "mcp__db")
    assert seen(config, "other").rules == ("Skill(pdf)",)
    assert seen(config)(SKILL, "pdf", "")
    assert not seen(config)(SKILL, "doc", "")


def test_an_administrators_settings_count_everywhere_and_win(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    managed = config.parent / "managed"
    monkeypatch.setattr(client_files, "MANAGED", managed)
    (managed / "managed-settings.d").mkdir(parents=True)
    plugins = {"kit@box": False, "own@box": True}
    (managed / "managed-settings.json").write_text(deny("Skill(pdf)"))
    (managed / "managed-settings.d" / "10-plugins.json").write_text(json.dumps({"enabledPlugins": plugins}))
    (managed / "managed-settings.d" / ".hidden.json").write_text(deny("Skill(doc)"))
    (config.parent / "shop/.claude/settings.json").write_text(
        json.dumps({"enabledPlugins": {"kit@box": True, "own@box": False, "off@box": False}})
    )
    (config / "settings.json").write_text(deny("Skill(own)"))
    assert seen(config, "other").rules == seen(config).rules == ("Skill(own)", "Skill(pdf)")
    (managed / "managed-settings.d" / "20.json").write_text('{"allowManagedPermissionRulesOnly": true}')
    assert seen(config).rules == ("Skill(pdf)",)
    assert switched_off({"CLAUDE_CONFIG_DIR": str(config)}, config.parent / "shop") == {"kit@box", "off@box"}
    assert switched_off({"CLAUDE_CONFIG_DIR": str(config)}, config.parent / "other") == {"kit@box"}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"permissions": []}', '{"permissions": {"deny": "Skill"}}', "[" * 9000]
)
def test_settings_that_say_nothing_deny_nothing(config: Path, text: str) -> None:
    (config / "settings.json").write_text(text)
    assert not seen(config)


def test_a_server_is_off_in_the_projects_of_whose_repository_the_state_says_so(config: Path) -> None:
    shop = config.parent / "shop"
    record = {
        "history": [{"display": f'"{shop}": {{"disabledMcpServers": ["fake"]}}'}],
        "disabledMcpServers": ["db", 4],
    }
    state = {"tips": {str(shop): 3}, "projects": {f"{shop}-2": {"disabledMcpServers": ["other"]}, str(shop): record}}
    (config / ".claude.json").write_text(json.dumps(state, indent=2, ensure_ascii=False))
    assert seen(config).servers == {"db", "4"}
    assert seen(config)(MCP_SERVER, "db", "")
    assert not seen(config)(MCP_SERVER, "db", "kit")
    assert not seen(config, "shop/web").servers
    (shop / ".git").mkdir()
    assert seen(config, "shop/web").servers == {"db", "4"}
    assert not seen(config, "else").servers
    (config / ".claude.json").write_text(
        json.dumps({"projects": {str(shop): {"disabledMcpServers": ["plugin:kit:db"]}}})
    )
    assert seen(config)(MCP_SERVER, "db", "kit")


@pytest.mark.parametrize(
    "text", ["", '"projects" "disabledMcpServers"', '{"disabledMcpServers": 1, "projects": {"SHOP": [']
)
def test_a_state_that_is_cut_off_turns_nothing_off(config: Path, text: str) -> None:
    (config / ".claude.json").write_text(text.replace("SHOP", str(config.parent / "shop")))
    assert not seen(config)
