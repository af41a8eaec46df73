"""Reads whether and by whom a skill or command can be started: from its place, its front matter and the settings."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from repertoire.domain.component import AGENT, COMMAND, MCP_SERVER, SKILL
from repertoire.domain.invocation import MATCHED, MODEL, NOBODY, PERSON

OFF, BY_PERSON = "off", "user-invocable-only"  # values of `skillOverrides` that keep the model from a skill
_YES, _NO = frozenset(("1", "on", "true", "yes")), frozenset(("0", "false", "no", "off"))


def invocation_of(kind: str, fields: Mapping[str, Any], override: str = "", *, plugin: bool = False) -> str:
    """Return who alone may start a component; an empty string where a person and the model may, or for other types.

    Claude Code heeds the `paths` of skills alone, and not of a plugin's.
    """
    if kind not in (SKILL, COMMAND):
        return ""
    person = override != OFF and _plain(fields, "user-invocable") not in _NO
    model = override not in (OFF, BY_PERSON) and _plain(fields, "disable-model-invocation") not in _YES
    if (person or model) and kind == SKILL and not plugin and _has_to_match(fields.get("paths")):
        return MATCHED
    return ("" if model else PERSON) if person else MODEL if model else NOBODY


def is_refused(kind: str, path: str, fields: Mapping[str, Any], *, plugin: bool = False) -> bool:
    """Tell whether Claude Code leaves a component out: a server at no address, an agent without name or description.

    A plugin's agents need neither.
    """
    if kind == MCP_SERVER:
        return fields.get("url") == ""
    if kind != AGENT or plugin or not path.endswith(".md"):
        return False
    return not (_plain(fields, "name") and _plain(fields, "description"))


def is_too_deep(path: str) -> bool:
    """Tell whether a skill lies deeper below `skills/` than Claude Code looks: in no folder of its own right there."""
    above = path.rpartition("/")[0].split("/")[:-1]
    return path.endswith("/SKILL.md") and "skills" in above and above[-1] != "skills"


def is_miscalled(path: str) -> bool:
    """Tell whether a skill's file has a name in other case than Claude Code asks for, where that makes a difference."""
    name = path.rpartition("/")[2]
    return sys.platform == "linux" and name != "SKILL.md" and name.lower() == "skill.md"


def _has_to_match(paths: Any) -> bool:
    """Tell whether `paths` say more than that every file matches: `/**` at an end says nothing."""
    stated = [paths] if isinstance(paths, str) else paths if isinstance(paths, list) else []
    patterns = (
        pattern.strip().removesuffix("/**") for one in stated if isinstance(one, str) for pattern in one.split(",")
    )
    return any(pattern not in ("", "**") for pattern in patterns)


def _plain(fields: Mapping[str, Any], key: str) -> str:
    return str(fields.get(key, "")).strip().lower()
