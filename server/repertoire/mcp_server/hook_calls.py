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
MOST_TEXT = 6_000  # characters of a text that are looked at: as many as say what a prompt wants
MOST_NAME = 300  # of a tool's, a command's or a component's name
MOST_JSON = 1_000_000  # of an object; a longer one tells nothing


@dataclass(frozen=True)
class Hook:
    """One hook call. The client sends every value as text, objects as JSON; what is missing is empty.

    What is read of a value is bounded here, before anything searches in it: a prompt may be a megabyte that was pasted.
    """

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
        """Return the beginning of a value as text; no half of a word, which may be half of a secret, ends it."""
        whole = self._whole(name)
        if len(whole) > MOST_TEXT:
            words, _, half = whole[:MOST_TEXT].rpartition(" ")
            whole = words or half
        return sendable(whole)

    def end(self, name: str) -> str:
        """Return the end of a value as text."""
        return sendable(self._whole(name)[-MOST_TEXT:])

    def ends(self, name: str) -> str:
        """Return a value as text, of a long one its beginning and its end: what failed is told at either."""
        whole = self._whole(name)
        return sendable(whole if len(whole) <= 2 * MOST_TEXT else f"{whole[:MOST_TEXT]}\n{whole[-MOST_TEXT:]}")

    def name(self, name: str) -> str:
        """Return a value that is a name."""
        return sendable(self._whole(name)[:MOST_NAME])

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a value as an object, empty where it is none."""
        value = self.arguments.get(name, {})
        if isinstance(value, str):
            try:  # as words, since a number may have a million digits
                value = json.loads(value, parse_int=str, parse_float=str) if len(value) <= MOST_JSON else {}
            except (ValueError, RecursionError):  # no JSON, or thousands of brackets
                return {}
        return value if isinstance(value, Mapping) else {}

    def names(self, name: str) -> Mapping[str, str]:
        """Return the text values of an argument's JSON object by key, each cut to the length of a name."""
        words = self.mapping(name).items()
        return {key: value[:MOST_NAME] for key, value in words if isinstance(value, str)}

    def _whole(self, name: str) -> str:
        value = self.arguments.get(name, "")
        return value if isinstance(value, str) else json.dumps(value, default=str)


def context_output(event: str, text: str) -> str:
    """Return the hook output that adds text to what the model sees; nothing where there is no text."""
    if not text:
        return NOTHING
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}, ensure_ascii=False)


def user_output(text: str) -> str:
    """Return the hook output that the client shows to the person, not to the model."""
    return json.dumps({"systemMessage": text}, ensure_ascii=False)
