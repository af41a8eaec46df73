"""Tells the time as the store writes it."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone


def now() -> str:
    """Return the present second, in UTC."""
    return ago(timedelta())


def ago(past: timedelta) -> str:
    """Return the second so long before the present one."""
    return (datetime.now(timezone.utc) - past).strftime("%Y-%m-%dT%H:%M:%SZ")


def today() -> date:
    """Return the present day, in UTC."""
    return datetime.now(timezone.utc).date()
