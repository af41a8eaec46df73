"""Reads a hook payload as one step of a session: a command, an edit, a look-up, a server's tool, the turn's end.

The caller must redact the text first, because steps become attempts, and attempts become a draft.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from repertoire.traces.expressions import expression

COMMAND, EDIT, LOOK, CALL, PROMPT, STOP = "command", "edit", "look", "call", "prompt", "stop"
FAILED, ENDED, CUT = "failed", "ended", "cut"  # results of a command; CUT: interrupted, denied, or still running
LONGEST, PRINTED = 4_000, 20_000  # characters of a command or of a side of an edit; characters of output
LINES, HUNKS = 600, 20

_EXIT = expression(
    r"(?i)^\s*(?:error:[ ]*)?(?:command[ ]failed[ ]with[ ])?exit[ ](?:code|status):?[ ]-?\d+[.:]?[ ]*\n?"
)
_INTERRUPTED = expression(r"(?i)\[request[ ]interrupted[ ]by[ ]user")
_DENIED = expression(
    r"""(?i)doesn't[ ]want[ ]to[ ](?:proceed|take)|tool[ ]use[ ]was[ ]rejected|request[ ]interrupted
    |interrupted[ ]by[ ](?:the[ ])?user
    |permission[ ]to[ ]use[ ].{0,80}[ ]denied|requires[ ]approval|requested[ ]permissions
    |blocked[ ]by[ ].{0,40}hook|hook[ ]error
    |was[ ]blocked\b|user[ ](?:denied|rejected|declined|cancelled)|denied[ ]by[ ](?:the[ ])?user
    |command[ ]was[ ]aborted"""
)
_TURNS = {"Stop": STOP, "UserPromptSubmit": PROMPT}
_CALLS = frozenset(("PostToolUse", "PostToolUseFailure"))
_EDITORS = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit"))
_AGENTS = frozenset(("Task", "Agent"))  # what another agent does may be told to no hook of this session
_LOOKS = {"WebSearch": "query", "WebFetch": "url"}
_LOOK_WORDS = ("search", "fetch", "docs", "browse", "crawl", "context7")
_READS = frozenset(("get", "list", "read", "find", "view", "show", "describe", "resolve", "status", "screenshot"))


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a session; fields that its kind does not use are empty."""

    kind: str
    at: float = 0.0  # seconds
    command: str = ""
    end: str = ""
    printed: str = ""
    place: str = ""  # the folder that a command works in, as far as known
    outside: bool = False  # it is known to be outside of the session's project
    file: str = ""
    hunks: tuple[tuple[str, str], ...] = ()  # pairs of text before and after
    whole: bool = False  # the whole file was written
    query: str = ""


def step_of(told: Mapping[str, Any]) -> Step | None:
    """Return the step in a hook payload; None if it is irrelevant or invalid."""
    hook, at = str(told.get("hook") or told.get("hook_event_name") or ""), _seconds(told.get("at"))
    if hook in _TURNS:
        return Step(_TURNS[hook], at)
    tool, given = str(told.get("tool_name") or ""), _mapping(told.get("tool_input"))
    if hook in _CALLS and tool == "Bash":
        return _command(hook, at, given, told)
    if hook != "PostToolUse":
        return None
    if tool in _EDITORS:
        return _edit(tool, at, given, _mapping(told.get("tool_response")))
    return _look(tool, at, given)


def _command(hook: str, at: float, given: Mapping[str, Any], told: Mapping[str, Any]) -> Step | None:
    command = _text(given.get("command"), LONGEST)
    if not command.strip():
        return None
    place, outside = _text(told.get("place"), 400), _true(told.get("outside"))
    if hook == "PostToolUseFailure":
        error = told.get("error")
        printed = _ends(error if isinstance(error, str) else _printed(error or told.get("tool_response")))
        ran = _EXIT.match(printed) is not None  # a denied command has no exit status
        stopped = (_INTERRUPTED if ran else _DENIED).search(printed[:LONGEST]) is not None
        cut = stopped or _true(told.get("is_interrupt"))
        return Step(COMMAND, at, command, CUT if cut else FAILED, _EXIT.sub("", printed, count=1), place, outside)
    response = told.get("tool_response")
    fields = _mapping(response)
    printed = _ends(_printed(response))
    cut = any(_true(fields.get(name)) for name in ("interrupted", "backgroundTaskId")) or _true(
        given.get("run_in_background")
    )
    return Step(COMMAND, at, command, CUT if cut else ENDED, printed, place, outside)


def _edit(tool: str, at: float, given: Mapping[str, Any], response: Mapping[str, Any]) -> Step | None:
    file = _text(given.get("file_path") or given.get("notebook_path"), 400)
    if not file:
        return None
    if tool == "Write":
        before = _text(response.get("originalFile"), LONGEST)
        return Step(EDIT, at, file=file, hunks=((before, _text(given.get("content"), LONGEST)),), whole=True)
    listed = given.get("edits")
    edits = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, Sequence) else [given]
    pairs = tuple(
        (
            _text(each.get("old_string"), LONGEST),
            _text(each.get("new_string", each.get("new_source")), LONGEST),
        )
        for each in edits[:HUNKS]
    )
    return Step(EDIT, at, file=file, hunks=pairs)


def _look(tool: str, at: float, given: Mapping[str, Any]) -> Step | None:
    name = _LOOKS.get(tool, "")
    if not name and tool.startswith("mcp__") and any(word in tool.lower() for word in _LOOK_WORDS):
        name = next((each for each in ("query", "url", "q", "topic", "libraryName", "error") if given.get(each)), "")
    asked = _text(given.get(name), 300) if name else ""
    if asked:
        return Step(LOOK, at, query=asked)
    if tool in _AGENTS:
        return Step(CALL, at)
    own = tool.rpartition("__")[2].lower()  # a server's tool may change what no other hook reports
    reads = _READS & set(own.replace("-", "_").split("_")) or any(word in own for word in _LOOK_WORDS)
    return Step(CALL, at) if tool.startswith("mcp__") and not reads else None


def _printed(response: Any) -> str:
    if isinstance(response, str):
        fields = _mapping(response)
        return _printed(fields) if fields else response
    fields = _mapping(response)
    streams = [_text(fields.get(stream), 10 * PRINTED) for stream in ("stdout", "stderr", "output")]
    return "\n".join(each for each in streams if each)


def _ends(text: str) -> str:
    """Return the beginning and the end of output, where errors are, because every line takes time."""
    cut = text if len(text) <= PRINTED else f"{text[: PRINTED // 2]}\n{text[-PRINTED // 2 :]}"
    lines = cut.splitlines()
    return cut if len(lines) <= LINES else "\n".join([*lines[: LINES // 3], *lines[-2 * LINES // 3 :]])


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return an object, which the client may have sent as JSON text; empty if it is not one."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value, parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, Mapping) else {}


def _text(value: Any, limit: int) -> str:
    return value[:limit] if isinstance(value, str) else ""


def _true(value: Any) -> bool:
    return bool(value) and str(value).lower() not in ("false", "0", "null", "none")


def _seconds(value: Any) -> float:
    if isinstance(value, (int, float)) and math.isfinite(value):
        return float(value)
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
