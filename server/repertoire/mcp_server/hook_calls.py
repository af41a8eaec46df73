"""Reads the untrusted values of a hook call, and writes the JSON that a hook may answer."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from repertoire.app.current_project import session_project
from repertoire.app.session.deferred_use import used_command, used_tool
from repertoire.domain.text import sendable

NOTHING = "{}"
MOST_TEXT = 6_000  # characters of a text that are read: enough to tell what a prompt asks for
MOST_NAME = 300  # characters of a name of a tool, a command or a component
MOST_JSON = 1_000_000  # characters of a JSON object; a longer one is ignored


@dataclass(frozen=True)
class Hook:
    """A hook call. The client sends every value as text, objects as JSON; a missing value is empty.

    What is read of a value is bounded here, before anything searches in it: a prompt may be a megabyte that was pasted.
    """

    arguments: Mapping[str, Any]
    until: float = math.inf  # time of the monotonic clock until which the client waits for the answer

    @property
    def late(self) -> bool:
        """Tell whether the client has stopped waiting; the event is then recorded, and nothing is offered."""
        return time.monotonic() >= self.until

    @property
    def session(self) -> str:
        """Return the session's id."""
        return self.text("session_id")

    @property
    def project(self) -> str:
        """Return the project folder of the session."""
        return session_project(self.text("cwd"))

    def text(self, name: str) -> str:
        """Return the beginning of a value as text, cut between words, so that no half of a secret remains."""
        whole = self._whole(name)
        if len(whole) > MOST_TEXT:
            words, _, half = whole[:MOST_TEXT].rpartition(" ")
            whole = words or half
        return sendable(whole)

    def tail(self, name: str) -> str:
        """Return the last characters of a value as text."""
        return sendable(self._whole(name)[-MOST_TEXT:])

    def head_and_tail(self, name: str) -> str:
        """Return a value as text, only the beginning and end of a long one: errors are printed at either."""
        whole = self._whole(name)
        return sendable(whole if len(whole) <= 2 * MOST_TEXT else f"{whole[:MOST_TEXT]}\n{whole[-MOST_TEXT:]}")

    def name(self, name: str) -> str:
        """Return a value as a name, cut to the length of one."""
        return sendable(self._whole(name)[:MOST_NAME])

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a value as an object, empty if it is not one."""
        value = self.arguments.get(name, {})
        if isinstance(value, str):
            try:  # numbers stay text, since one may have a million digits
                value = json.loads(value, parse_int=str, parse_float=str) if len(value) <= MOST_JSON else {}
            except (ValueError, RecursionError):  # not JSON, or thousands of nested brackets
                return {}
        return value if isinstance(value, Mapping) else {}

    def names(self, name: str) -> Mapping[str, str]:
        """Return the text values of an argument's JSON object by key, each cut to the length of a name."""
        words = self.mapping(name).items()
        return {key: value[:MOST_NAME] for key, value in words if isinstance(value, str)}

    @property
    def server(self) -> str:
        """Return the name of the MCP server whose tool was called; empty for another tool."""
        return self.names("mcp_server").get("name", "")

    def _whole(self, name: str) -> str:
        value = self.arguments.get(name, "")
        return value if isinstance(value, str) else json.dumps(value, default=str)


def context_output(event: str, text: str) -> str:
    """Return the hook output that adds text to the model's context; empty without text."""
    if not text:
        return NOTHING
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}, ensure_ascii=False)


def user_output(text: str) -> str:
    """Return the hook output that the client shows to the person, not to the model."""
    return json.dumps({"systemMessage": text}, ensure_ascii=False)


def deferred_use(name: str, hook: Hook, environment: Mapping[str, str]) -> Mapping[str, object] | None:
    """Return the row that records a use whose component is looked up later; None if the hook tells of no use."""
    row = None
    if name == "hook_used":
        row = used_tool(hook.name("tool_name"), hook.names("tool_input"), environment, hook.server)
    elif name == "hook_expanded":
        row = used_command(hook.name("command_name"), environment)
    return {**row, "session": hook.session, "project": hook.project} if row is not None else None
