"""Reads a component's use from a hook, to record it before the server can look the component up; imports little."""

from __future__ import annotations

from collections.abc import Mapping

from repertoire.app.session.deferred_use import used_command, used_tool
from repertoire.mcp_server.hook_calls import Hook


def heard(name: str, hook: Hook, environment: Mapping[str, str]) -> Mapping[str, object] | None:
    """Return the row that records a use whose component is looked up later; None if the hook tells of no use."""
    row = None
    if name == "hook_used":
        row = used_tool(hook.name("tool_name"), hook.names("tool_input"), environment)
    elif name == "hook_expanded":
        row = used_command(hook.name("command_name"), environment)
    return {**row, "session": hook.session, "project": hook.project} if row is not None else None
