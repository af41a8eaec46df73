"""Converts components to rows of their table and back; only this module knows the order of the columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from repertoire.domain.component import Component
from repertoire.domain.trust import Flag, risk
from repertoire.ports import StoredComponent

# the columns of the table `component` after node_id, in the order of the schema
COLUMNS = (
    "type",
    "description",
    "body",
    "code",
    "examples",
    "front_matter",
    "allowed_tools",
    "repository",
    "path",
    "plugin",
    "marketplace",
    "licence",
    "content_hash",
    "first_commit",
    "last_commit",
    "installed",
    "install",
    "popularity",
    "version",
    "flags",
    "risk",
    "client",
    "client_reason",
    "english",
    "invocation",
)
VERSION = COLUMNS.index("version")
CONTENT_HASH = COLUMNS.index("content_hash")
_BEFORE = "n.id, n.key, n.name, n.first_seen, s.key, s.kind, a.at"
SELECT_STORED = (
    f"SELECT {_BEFORE}, {', '.join('c.' + column for column in COLUMNS)} "
    "FROM node n JOIN component c ON c.node_id = n.id LEFT JOIN source s ON s.id = n.source_id "
    "LEFT JOIN acceptance a ON a.content_hash = c.content_hash"
)
_FIRST = _BEFORE.count(",") + 1


def storable(text: str) -> str:
    """Return text that UTF-8 can encode: a lone surrogate, as escapes in a manifest can make, would fail the write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def storable_value(value: object) -> object:
    """Return a value of a row, storable if it is text."""
    return storable(value) if isinstance(value, str) else value


def as_json(value: Mapping[Any, Any] | tuple[Any, ...]) -> str:
    """Return a value as JSON; a part without a JSON form, such as a date, becomes its text."""
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, default=str, skipkeys=True)


def flags_as_json(flags: Iterable[Flag]) -> str:
    """Return flags in the form of their column, a JSON list of lists."""
    return json.dumps(
        [[f.rule, f.severity, f.line, storable(f.file), storable(f.reason), storable(f.text)] for f in flags]
    )


def flags_of(text: str) -> tuple[Flag, ...]:
    """Return the flags stored in a column."""
    return tuple(Flag(*values) for values in _read(text))


def row_of(component: Component) -> tuple[Any, ...]:
    """Return a component's values in the order of COLUMNS."""
    return (
        component.type,
        storable(component.description),
        storable(component.body),
        storable(component.code),
        as_json(component.examples),
        as_json(component.front_matter),
        as_json(component.allowed_tools),
        storable(component.repository),
        storable(component.path),
        storable(component.plugin),
        storable(component.marketplace),
        storable(component.licence),
        component.content_hash,
        component.first_commit,
        component.last_commit,
        int(component.installed),
        as_json(component.install),
        float(component.popularity),
        component.version,
        flags_as_json(component.flags),
        risk(component.flags),
        storable(component.client),
        storable(component.client_reason),
        storable(component.english),
        component.invocation,
    )


def stored(row: tuple[Any, ...]) -> StoredComponent:
    """Return the component in a row of SELECT_STORED."""
    node_id, key, name, first_seen, source, kind, accepted = row[:_FIRST]
    values = dict(zip(COLUMNS, row[_FIRST:], strict=True))
    for column in ("examples", "allowed_tools", "install"):
        values[column] = tuple(_read(values[column]))
    values["front_matter"] = _read(values["front_matter"])
    values["installed"] = bool(values["installed"])
    del values["risk"]
    values["flags"] = () if accepted else flags_of(values["flags"])
    component = Component(id=key, name=name, **values)
    return StoredComponent(node_id, component, source or "", kind or "", first_seen, accepted or "")


def _read(text: str) -> Any:
    # Most columns hold an empty value: parsing them as JSON took half of the time to read a component.
    return [] if text == "[]" else {} if text == "{}" else json.loads(text)
