"""Names of our MCP tools as the client shows them, and the one question several scenarios ask."""

from __future__ import annotations

from typing import Any

from client.api_stub import Script, ToolUse
from client.machine import Machine

SERVER = "plugin:repertoire:graph"
PREFIX = "mcp__plugin_repertoire_graph__"
GRANTED = ("--allowedTools", f"{PREFIX}*")


def call(tool: str, **arguments: Any) -> ToolUse:
    """Return the scripted model's call of one of our tools."""
    return ToolUse(PREFIX + tool, arguments)


def ask(machine: Machine, tool: str, **arguments: Any) -> str:
    """Return what the model reads when it calls one of our tools in a session of its own."""
    seen = machine.session("go on", script=Script([call(tool, **arguments), "Done."]), args=GRANTED)
    return seen.main_requests[-1].last_message
