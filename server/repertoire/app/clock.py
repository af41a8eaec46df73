"""Gives the current time in UTC, as text in the store's format."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone


def now() -> str:
    """Return the current time in UTC, to the second."""
    return ago(timedelta())


def ago(past: timedelta) -> str:
    """Return the time that lies `past` before now, in UTC, to the second."""
    return (datetime.now(timezone.utc) - past).strftime("%Y-%m-%dT%H:%M:%SZ")


def today() -> date:
    """Return the current date in UTC."""
    return datetime.now(timezone.utc).date()
