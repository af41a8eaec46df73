"""What settings deny to the model or turn off in a project is refused by the client there: the graph has the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from client.api_stub import Script, ToolUse
from client.belongings import link_worktree
from client.machine import REPOSITORY, Machine, Settle
from repertoire.domain.component import AGENT, COMMAND, MCP_SERVER, SKILL
from repertoire.domain.invocation import server_name
from repertoire.sources.withheld import withheld
from repertoire.store.database import Store

pytestmark = pytest.mark.client

SKILLS = ("named", "begun", "spaced", "starred", "plain", "both-one", "both-two", "Cased", "by-local")
COMMANDS = ("typed", "deep/er")
AGENTS = ("painter", "tasked", "free")
SERVERS = ("whole", "some", "below", "starred_all", "off here", "free-server")
OWN = [
    *("Skill(named)", "Skill(begun:*)", "Skill(spaced *)", "Skill(starr*)", "Skill(both:*)", "Skill(cased)"),
    *("Skill(/typed)", "Skill(kit:boxed)", "SlashCommand(/plain)", "Agent(painter)", "Task(tasked)", "Agent(fre*)"),
    *("mcp__whole", "mcp__some__alpha", "mcp__below__*", "mcp__starred*", "mcp__plugin_kit_inside", "Bash(rm:*)"),
]
SERVER = """
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("alpha", "beta")]
        hello = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        hello["serverInfo"] = {"name": "s", "version": "1"}
        result = {"initialize": hello, "tools/list": {"tools": tools}}.get(message["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def give(file: Path, text: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")


def add(file: Path, **values: object) -> None:
    """Write into a JSON file, and leave the rest of it."""
    give(file, {**(json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}), **values})


@pytest.fixture(scope="module")
def machine(settle: Settle, interpreter: str) -> Machine:
    """Return a machine on which much is denied, and a server is off in one project, all of it read."""
    found = settle(REPERTOIRE_PYTHON=interpreter)
    found = found.also(REPERTOIRE_HOME=str(found.root / "data"))
    claude, kit = found.home / ".claude", found.root / "kit"
    for place in (*(f"skills/{name}/SKILL" for name in SKILLS), *(f"commands/{name}" for name in COMMANDS)):
        give(claude / f"{place}.md", f"---\ndescription: Paints {place}.\n---\nPaint.\n")
    for name in AGENTS:
        give(claude / "agents" / f"{name}.md", f"---\nname: {name}\ndescription: Paints.\n---\nPaint.\n")
    give(found.root / "server.py", SERVER)
    servers = {
        name: {"command": sys.executable, "args": [str(found.root / "server.py"), name]}
        for name in (*SERVERS, "inside", "outside")
    }
    box = {"name": "box", "owner": {"name": "x"}, "plugins": [{"name": "kit", "source": "./kit"}]}
    give(kit / ".claude-plugin" / "marketplace.json", box)
    give(kit / "kit" / ".claude-plugin" / "plugin.json", {"name": "kit"})
    give(kit / "kit" / ".mcp.json", {"mcpServers": {name: servers[name] for name in ("inside", "outside")}})
    for name in ("boxed", "open"):
        give(kit / "kit" / "skills" / name / "SKILL.md", "---\ndescription: Boxes.\n---\nBox.\n")
    for step in (("marketplace", "add", str(kit)), ("install", "kit@box")):
        done = found.command("plugin", *step)
        assert done.returncode == 0, done.stdout + done.stderr
    add(claude / "settings.json", permissions={"deny": OWN}, disabledMcpjsonServers=["shared-off", "free-server"])
    off = {str(found.project): {"disabledMcpServers": ["off here", "plugin:kit:outside"]}}
    add(found.home / ".claude.json", mcpServers={name: servers[name] for name in SERVERS}, projects=off)
    shared = {
        name: {"command": sys.executable, "args": [str(found.root / "server.py"), f"of {name}"]}
        for name in ("shared", "shared-off")
    }
    give(found.project / ".mcp.json", {"mcpServers": shared})
    give(found.project / ".claude" / "settings.local.json", {"permissions": {"deny": ["Skill(by-local)"]}})
    (found.project / ".git").mkdir()
    give(found.project / ".git" / "HEAD", "ref: refs/heads/main\n")
    (found.project / "web").mkdir()
    link_worktree(found.project, found.root / "tree")
    done = found.run(REPOSITORY / "bin" / "repertoire", "refresh")
    assert done.returncode == 0, done.stdout + done.stderr
    return found


def believed(machine: Machine) -> tuple[list[str], list[str], set[str], set[str]]:
    """Return skills and commands, agents, and servers by the names that start them, and those that are kept back."""
    kept = withheld(machine.env, machine.project)
    with Store.open(Path(machine.env["REPERTOIRE_HOME"]) / "repertoire.db") as store:
        ids = store.graph.withheld(kept)
        unused = store.sources.elsewhere(str(machine.project))
        rows = [row.node_id for row in store.graph.summaries() if row.installed and row.source not in unused]
        found = [entry.component for entry in store.graph.components(rows).values()]
    called = {
        one.id: server_name(one.name, one.plugin) if one.type == MCP_SERVER else one.call_name
        for one in found
        if one.type in (SKILL, COMMAND, AGENT, MCP_SERVER)
    }
    skills = [called[one.id] for one in found if one.type in (SKILL, COMMAND)]
    agents = [called[one.id] for one in found if one.type == AGENT]
    servers = {called[one.id] for one in found if one.type == MCP_SERVER}
    return skills, agents, servers, {name for one, name in called.items() if one in ids}


def refused(machine: Machine, skills: Sequence[str], agents: Sequence[str], servers: set[str]) -> set[str]:
    """Return which of these the client refuses the model: an answer that says so, or a server without tools."""
    starts = [*(ToolUse("Skill", {"skill": name}) for name in skills)]
    starts += [ToolUse("Agent", {"subagent_type": name, "prompt": "x", "description": "x"}) for name in agents]
    session = machine.session("hello", script=Script([*starts, "Done."]))
    blocks = [block for message in session.main_requests[-1].body["messages"] for block in message["content"]]
    answers = [block for block in blocks if isinstance(block, dict) and block.get("type") == "tool_result"]
    assert len(answers) == len(starts)
    tools = "\n".join(session.init["tools"])
    names = {name: f"mcp__{name.replace(':', '_').replace(' ', '_')}__" for name in servers}
    return {name for name, answer in zip((*skills, *agents), answers, strict=True) if answer.get("is_error")} | {
        name for name, prefix in names.items() if prefix not in tools
    }


@pytest.mark.parametrize(
    ("folder", "own"),
    [
        ("project", {"permissions": {"deny": ["Skill(plain)", "Skill(deep:*)", "Agent"]}}),
        ("project", {"permissions": {"deny": ["Skill", "Agent(*)", "mcp__*"]}}),
        ("project/web", {}),  # the same repository: of its settings the local ones alone count
        ("tree", {}),  # so in the repository's other worktrees
        ("other", {}),
    ],
)
def test_the_client_refuses_what_the_graph_withholds(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, folder: str, own: dict[str, object]
) -> None:
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setattr(machine, "project", machine.root / folder)
    machine.project.mkdir(exist_ok=True)
    settings = machine.project / ".claude" / "settings.json"
    if own:
        give(settings, own)
    skills, agents, servers, kept = believed(machine)
    assert {"named", "kit:boxed", "typed", "deep:er", "kit:open"} <= set(skills)
    assert {"whole", "off here", "plugin:kit:inside"} <= servers
    assert "shared-off" not in servers
    assert kept == refused(machine, skills, agents, servers)
    assert {"named", "painter", "whole", "plugin:kit:inside"} <= kept
    assert ("by-local" in kept) == ("off here" in kept) == ("plugin:kit:outside" in kept) == (folder != "other")
