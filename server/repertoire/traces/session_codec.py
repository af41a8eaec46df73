"""Encodes a folded session as JSON of bounded size, and decodes it; invalid JSON gives an empty session."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from repertoire.traces.problem import SessionTrace

MOST = 64_000  # bytes of an encoded session
_HINTS: dict[type, dict[str, Any]] = {}


def _same(text: str) -> str:
    return text


def dumps(session: SessionTrace, *, mask: Callable[[str], str] = _same) -> str:
    """Return a session as JSON of at most MOST bytes, every text masked; the oldest problems may be left out."""
    text = _json(session, mask)
    while len(text.encode("utf-8", "replace")) > MOST:
        session = replace(
            session, problems=session.problems[1:], changes=session.changes[10:], failed=session.failed[8:]
        )
        text = _json(session, mask)
    return text


def loads(text: str) -> SessionTrace:
    """Return the session in JSON, or an empty session if it is invalid."""
    try:
        session = _read(SessionTrace, json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError):
        return SessionTrace()
    return typing.cast("SessionTrace", session)


def _json(session: SessionTrace, mask: Callable[[str], str]) -> str:
    return json.dumps(_plain(session, mask), ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any, mask: Callable[[str], str]) -> Any:
    if dataclasses.is_dataclass(value):
        return {
            field.name: _plain(held, mask)
            for field in dataclasses.fields(value)
            if (held := getattr(value, field.name)) != field.default
        }
    if isinstance(value, frozenset):
        return sorted(_plain(each, mask) for each in value)
    if isinstance(value, str):
        return mask(value)
    return [_plain(each, mask) for each in value] if isinstance(value, tuple) else value


def _read(wanted: Any, value: Any) -> Any:
    if dataclasses.is_dataclass(wanted):
        kind = typing.cast("type", wanted)
        hints = _HINTS.setdefault(kind, typing.get_type_hints(kind))
        return kind(**{name: _read(hints[name], each) for name, each in _of(dict, value).items()})
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is None:
        return _of((int, float) if wanted is float else wanted, value)
    if len(arguments) == 2 and arguments[1] is not Ellipsis:
        first, second = _of(list, value)
        return (_read(arguments[0], first), _read(arguments[1], second))
    return origin(_read(arguments[0], each) for each in _of(list, value))


def _of(kind: Any, value: Any) -> Any:
    if not isinstance(value, kind):
        message = f"{value!r} is no {kind}"
        raise TypeError(message)
    return value
