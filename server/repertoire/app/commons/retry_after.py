"""Reads the Retry-After header of an answer, which gives seconds or a date."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

_MOST_DIGITS = 9
_LONGEST = 100  # characters of a header that are read


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server asks to wait; 0 if it asks for none, or in a way that cannot be read.

    A date is compared with the server's own, where it sends one: the clock here may differ.
    """
    said = headers.get("Retry-After", "").strip()
    if said.isdecimal():
        return float(said) if len(said) <= _MOST_DIGITS else 0.0
    until = _moment(said)
    if until is None:
        return 0.0
    now = _moment(headers.get("Date", "")) or datetime.now(timezone.utc)
    return max((until - now).total_seconds(), 0.0)


def _moment(said: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(said[:_LONGEST])
    except (ValueError, TypeError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)  # HTTP knows UTC alone
