"""Builds the spool row of a component's use whose component is looked up later; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repertoire.app.clock import now
from repertoire.boot.spool import HEARD
from repertoire.domain.hint import switched_off
from repertoire.domain.text import clean_line
from repertoire.learning.selections import Mention, from_command, from_tool


def used_tool(
    tool: str, arguments: Mapping[str, Any], environment: Mapping[str, str], server: str = ""
) -> Mapping[str, object] | None:
    """Return the spool row for a tool call; None if no component has such calls, or hints are switched off."""
    return _row(from_tool(tool, arguments, server), tool, environment)


def used_command(command: str, environment: Mapping[str, str]) -> Mapping[str, object] | None:
    """Return the spool row for any slash command with a name, but for our own; None if hints are switched off."""
    return _row(from_command(command), "", environment)


def _row(mention: Mention | None, tool: str, environment: Mapping[str, str]) -> Mapping[str, object] | None:
    if mention is None or mention.ours or switched_off(environment):
        return None
    told = {"tool": clean_line(tool, 200), "name": clean_line(mention.text, 120)}
    return {"at": now(), "kind": HEARD, "data": told}
