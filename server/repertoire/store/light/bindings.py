"""Binds many values to SQL statements, with the standard library alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

_Value = TypeVar("_Value")
_MOST = 500  # values of one statement, well below SQLite's bound


def marks(values: Sequence[object]) -> str:
    """Return one placeholder (question mark) for each value."""
    return ", ".join("?" * len(values))


def parts(values: Iterable[_Value]) -> Iterator[list[_Value]]:
    """Yield the values in lists, each short enough for one statement."""
    wanted = list(values)
    return (wanted[start : start + _MOST] for start in range(0, len(wanted), _MOST))
