"""Splits a Markdown file into front matter and body; invalid YAML is read line by line, with a warning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from repertoire.ingestion import toml
from repertoire.ingestion.values import Unusable, plain, storable

_FENCE = re.compile(r"\A\s*---[ \t]*\r?\n(.*?)(?:(?<=\n)|\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TOML_FENCE = re.compile(r"\A\s*\+\+\+[ \t]*\n(.*?)(?:(?<=\n)|\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_MAX_YAML = 64_000
# Each `- ` or `? ` on a line opens a level, and libyaml composes levels on the C stack: thousands end the process.
_DEEP = re.compile(r"(?:[-?:][ \t]+){40,}")
_MAX_FLOW_DEPTH = 40
_PAIR = re.compile(r"^([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"^\s*-\s+(.*)$")
_DIALOGUE = frozenset(
    ("assistant", "commentary", "context", "example", "examples", "note", "user")
)  # words before a colon in a long description, which are no keys

# This loader keeps scalars as strings, so untrusted text yields no dates, huge numbers or tags.
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "null": None, "~": None, "": None}


@dataclass(frozen=True)
class MarkdownDocument:
    """The front matter and the body of a Markdown file; `warning` says what is wrong with the file."""

    front_matter: Mapping[str, Any]
    body: str
    warning: str = ""


def fenced(source: str) -> tuple[str, str] | None:
    """Return the front matter and the body of a Markdown file as they are written; None if it has no front matter."""
    found = _FENCE.match(source[: _MAX_YAML + 100])
    return None if found is None else (found.group(1), source[found.end() :])


def split_toml(source: str) -> MarkdownDocument | None:
    """Split a page of Hugo's into its TOML front matter, between lines of `+++`, and its body; None if it has none."""
    found = _TOML_FENCE.match(source[: _MAX_YAML + 100])
    if found is None:
        return None
    body = storable(source[found.end() :]).strip()
    try:
        return MarkdownDocument(toml.parse(found.group(1)), body)
    except Unusable as error:
        return MarkdownDocument({}, body, f"front matter is {error}")


def split(source: str) -> MarkdownDocument:
    """Split a Markdown file into front matter and body; never fails."""
    found = _FENCE.match(source[: _MAX_YAML + 100])
    if found is None:
        late = " (front matter without an end)" if source.lstrip()[:4] in ("---\n", "---\r") else ""
        return MarkdownDocument({}, storable(source).strip(), late and "front matter has no closing line")
    header, body = found.group(1), storable(source[found.end() :]).strip()
    above = "\n" * source.count("\n", 0, found.start(1))  # so that a fault has its line in the file
    try:
        return MarkdownDocument(read_yaml(above + header), body)
    except Unusable as error:
        return MarkdownDocument(_line_by_line(header), body, f"front matter is {error}; read line by line")


def read_yaml(source: str) -> Mapping[str, Any]:
    """Parse a YAML mapping within bounds; scalars are strings, except true, false and null.

    Raises:
        Unusable: the text is not YAML, no mapping, or out of bounds.
    """
    return {key: _typed(item) for key, item in read_strings(source).items()}


def read_strings(source: str) -> Mapping[str, Any]:
    """Parse a YAML mapping within bounds; every scalar is a string.

    Raises:
        Unusable: the text is not YAML, no mapping, or out of bounds.
    """
    if len(source) > _MAX_YAML:
        message = f"larger than {_MAX_YAML:,} characters"
        raise Unusable(message)
    if _DEEP.search(source) or _flow_depth(source) > _MAX_FLOW_DEPTH:
        message = "nested too deep"
        raise Unusable(message)
    try:
        value = plain(yaml.load(storable(source), Loader=_Loader))  # noqa: S506 - the base loader makes strings alone
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        problem = getattr(error, "problem", None) or type(error).__name__
        mark = getattr(error, "problem_mark", None)
        message = f"not YAML ({problem}{f', noticed in line {mark.line + 1}' if mark is not None else ''})"
        raise Unusable(message) from None
    if not isinstance(value, Mapping):
        message = "not a mapping"
        raise Unusable(message)
    return value


def _flow_depth(source: str) -> int:
    depth = deepest = 0
    for character in source:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth = max(0, depth - 1)
    return deepest


def _typed(value: Any) -> Any:
    if isinstance(value, str):
        return _WORDS.get(value.lower(), value)
    if isinstance(value, Mapping):
        return {key: _typed(item) for key, item in value.items()}
    return [_typed(item) for item in value] if isinstance(value, list) else value


def _line_by_line(header: str) -> dict[str, Any]:
    """Parse `key: value` lines leniently: a colon inside a description is only a colon."""
    found: dict[str, Any] = {}
    key = ""
    for line in storable(header).splitlines():
        pair, item = _PAIR.match(line), _ITEM.match(line)
        if pair and pair.group(1).lower() not in _DIALOGUE:
            key = pair.group(1)
            value = (pair.group(2) or "").strip()
            found[key] = "" if value in (">", "|", ">-", "|-") else _unquoted(value)
        elif key and item and (not found[key] or isinstance(found[key], list)):
            found[key] = [*(found[key] or []), _unquoted(item.group(1).strip())]
        elif key and line.strip() and isinstance(found[key], str):
            found[key] = f"{found[key]} {line.strip()}".strip()
    return {key: _list(value) for key, value in found.items()}


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def _list(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("[") and value.find("]") == len(value) - 1:
        return [_unquoted(item.strip()) for item in value[1:-1].split(",") if item.strip()]
    return _WORDS.get(value.lower(), value) if isinstance(value, str) else value
