"""Tells the time as the store writes it."""

from __future__ import annotations

from datetime import date, datetime, timezone


def now() -> str:
    """Return the present second, in UTC."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def today() -> date:
    """Return the present day, in UTC."""
    return datetime.now(timezone.utc).date()
