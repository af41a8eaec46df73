"""What an administrator's settings keep the client from, our own plugin and others, is what we take them to forbid."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from client.machine import Machine, Settle
from client.test_withheld import SERVER, give
from repertoire.domain.component import HOOK, MCP_SERVER, PLUGIN, SKILL, Component
from repertoire.sources import client_files
from repertoire.sources.policy import policy

pytestmark = pytest.mark.client

# lays a folder over /etc for one program alone, in which it finds an administrator's settings
UNDER = """#!/bin/sh
exec unshare -m sh -c 'mount -t overlay none -o "lowerdir=/etc,upperdir=$0/up,workdir=$0/work" /etc && exec "$@"' \\
  "{folder}" "{program}" "$@"
"""
HOOKS = {"SessionStart": [{"hooks": [{"type": "command", "command": "echo ran"}]}]}


def overlay_works(folder: Path) -> bool:
    for name in ("up", "work"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    options = f"lowerdir=/etc,upperdir={folder}/up,workdir={folder}/work"
    line = ["unshare", "-m", "mount", "-t", "overlay", "overlay", "-o", options, "/etc"]
    return sys.platform == "linux" and subprocess.run(line, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def governed(settle: Settle, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return a machine with a plugin and things of a person's own, whose client finds settings in `up/claude-code`."""
    folder = tmp_path_factory.mktemp("etc")
    if shutil.which("unshare") is None or not overlay_works(folder):
        pytest.skip("NOT TESTED AGAINST THE REAL CLIENT: no file system can be laid over /etc here")
    found = settle()
    box, program = found.root / "box", folder / "claude"
    give(found.root / "server.py", SERVER)
    run = {"command": sys.executable, "args": [str(found.root / "server.py")]}
    listed = {"name": "box", "owner": {"name": "x"}, "plugins": [{"name": "kit", "source": "./kit"}]}
    give(box / ".claude-plugin" / "marketplace.json", listed)
    give(box / "kit" / ".claude-plugin" / "plugin.json", {"name": "kit", "version": "1.0.0"})
    give(box / "kit" / ".mcp.json", {"mcpServers": {"inside": run}})
    give(box / "kit" / "hooks" / "hooks.json", {"hooks": HOOKS})
    give(box / "kit" / "skills" / "boxed" / "SKILL.md", "---\ndescription: Boxes.\n---\nBox.\n")
    give(found.home / ".claude" / "skills" / "plain" / "SKILL.md", "---\ndescription: Paints.\n---\nPaint.\n")
    for step in (("marketplace", "add", str(box)), ("install", "kit@box")):
        done = found.command("plugin", *step)
        assert done.returncode == 0, done.stdout + done.stderr
    state = found.home / ".claude.json"
    servers = {"mine": {**run, "args": [*run["args"], "mine"]}}
    give(state, {**json.loads(state.read_text(encoding="utf-8")), "mcpServers": servers})
    give(program, UNDER.format(folder=folder, program=found.binary))
    program.chmod(0o755)
    found.binary = program
    return found


def parts(machine: Machine) -> dict[str, Component]:
    kit: dict[str, Any] = {"plugin": "kit", "marketplace": "box", "installed": True}
    run = {"command": sys.executable, "args": [str(machine.root / "server.py")]}
    mine = {**run, "args": [*run["args"], "mine"]}
    return {
        "kit": Component("", PLUGIN, "kit", **kit),
        "kit:boxed": Component("", SKILL, "boxed", **kit),
        "plain": Component("", SKILL, "plain", installed=True),
        "plugin:kit:inside": Component("", MCP_SERVER, "inside", front_matter=run, **kit),
        "mine": Component("", MCP_SERVER, "mine", installed=True, front_matter=mine),
        "hook": Component("", HOOK, "hooks", **kit),
    }


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"strictKnownMarketplaces": []},
        {"strictKnownMarketplaces": [{"source": "pathPattern", "pathPattern": "box$"}]},
        {"blockedMarketplaces": [{"source": "pathPattern", "pathPattern": "box$"}]},
        {"enabledPlugins": {"kit@box": False}},
        {"deniedMcpServers": [{"serverName": "plugin:kit:inside"}, {"serverName": "inside"}]},
        {"allowedMcpServers": [{"serverName": "mine"}, {"serverName": "inside"}]},
        {"allowedMcpServers": [{"serverCommand": ["PYTHON", "SERVER"]}, {"serverName": "mine"}]},
        {"strictPluginOnlyCustomization": ["mcp"]},
        {"strictPluginOnlyCustomization": True},
        {"allowManagedHooksOnly": True},
        {"allowManagedHooksOnly": True, "enabledPlugins": {"kit@box": True}},
    ],
    ids=json.dumps,
)
def test_the_client_leaves_out_what_we_take_its_settings_to_forbid(
    governed: Machine, monkeypatch: pytest.MonkeyPatch, settings: dict[str, object]
) -> None:
    managed = governed.binary.parent / "up" / "claude-code"
    text = json.dumps(settings).replace("PYTHON", sys.executable).replace("SERVER", str(governed.root / "server.py"))
    give(managed / "managed-settings.json", text)
    monkeypatch.setattr(client_files, "MANAGED", managed)
    monkeypatch.setenv("HOME", str(governed.home))
    allowed = policy(governed.env, governed.project)
    session = governed.session("hello")
    there = [one["name"] for one in (*session.init["plugins"], *session.init["mcp_servers"])] + session.init["skills"]
    there += ["hook"] if session.hook_runs("SessionStart") else []
    assert {name for name, one in parts(governed).items() if not allowed(one)} == {*parts(governed)} & {*there}
