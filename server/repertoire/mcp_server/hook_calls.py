"""Reads what a hook sends, whatever it sends, and writes what a hook may answer."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from repertoire.domain.text import sendable

NOTHING = "{}"


@dataclass(frozen=True)
class Hook:
    """One hook call. The client sends every value as text, objects as JSON; what is missing is empty."""

    arguments: Mapping[str, Any]
    until: float = math.inf  # of the monotonic clock: how long somebody waits for the answer

    @property
    def late(self) -> bool:
        """Whether nobody waits any more: what happened is to be recorded, and nothing to be offered."""
        return time.monotonic() >= self.until

    @property
    def session(self) -> str:
        """The session's id."""
        return self.text("session_id")

    @property
    def project(self) -> str:
        """The folder that the session works in."""
        return self.text("cwd")

    def text(self, name: str) -> str:
        """Return a value as text."""
        value = self.arguments.get(name, "")
        return sendable(value) if isinstance(value, str) else json.dumps(value, default=str)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a value as an object, empty where it is none."""
        value = self.arguments.get(name, {})
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):  # no JSON, or thousands of brackets
                return {}
        return value if isinstance(value, Mapping) else {}


def context_output(event: str, text: str) -> str:
    """Return the hook output that adds text to what the model sees; nothing where there is no text."""
    if not text:
        return NOTHING
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}, ensure_ascii=False)
