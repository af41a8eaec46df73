"""Gives the current time in UTC, as text in the store's format, and the date where the person is."""

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


def local_today() -> date:
    """Return the current date in the machine's time zone, which is the day that a person calls today."""
    return datetime.now().astimezone().date()
