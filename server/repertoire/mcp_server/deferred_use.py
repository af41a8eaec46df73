"""Keeps a use that a hook reports before the server can look the component up; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping

from repertoire.app.clock import now
from repertoire.boot.spool import HEARD
from repertoire.domain.hint import silenced
from repertoire.domain.text import clean_line
from repertoire.learning.selections import from_command, from_tool
from repertoire.mcp_server.hook_calls import Hook


def heard(name: str, hook: Hook, environment: Mapping[str, str]) -> Mapping[str, object] | None:
    """Return the row that keeps a use until its component can be looked up; None where nothing was used."""
    tool = hook.name("tool_name")
    if name == "hook_used":
        mention = from_tool(tool, hook.names("tool_input"))
    else:
        mention, tool = from_command(hook.name("command_name")) if name == "hook_expanded" else None, ""
    if mention is None or mention.ours or silenced({"REPERTOIRE_OFF": environment.get("REPERTOIRE_OFF", "")}):
        return None
    told = {"tool": clean_line(tool, 200), "name": clean_line(mention.text, 120)}
    return {"at": now(), "kind": HEARD, "session": hook.session, "project": hook.project, "data": told}
