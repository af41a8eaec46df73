"""Reads the time that a question asks of: yesterday, last week, since Monday, in November, 3 days ago."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple

from repertoire.domain.project import is_day

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NEAR = {"today": 0, "tomorrow": 1}
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "few": 3, "couple": 2}
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
_OPEN = ("since", "after")
_CLOSED = ("before", "until")
_RECENT = 14  # days that `recently` means
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_POINT = re.compile(
    rf"(?:\b(?P<side>since|after|before|until|in|on|during|from|of) )?(?:the )?(?:"
    rf"\b(?P<day>today|yesterday|recently|lately)\b|\b(?P<this>this|last|past) (?P<unit>week|month|year)\b"
    rf"|\b(?:last|past) {_COUNT} (?P<units>day|week|month|year)s?\b"
    rf"|\b(?P<ago>\d{{1,3}}|{'|'.join(_NUMBERS)}) (?P<before>day|week|month|year)s? ago\b"
    rf"|\b(?:(?:last|past) )?(?P<weekday>{'|'.join(_WEEKDAYS)})\b"
    rf"|\b(?P<month>{'|'.join(_MONTHS)})\b(?: (?P<year>\d{{4}})\b)?"
    rf"|\b(?P<iso>\d{{4}}-\d\d(?:-\d\d)?)\b)",
    re.IGNORECASE,
)


class Span(NamedTuple):
    """The first and last day that a question asks of, and the question without the words that say so."""

    first: date
    last: date
    rest: str


def span_of(question: str, today: date) -> Span | None:
    """Return the time that a question asks of; None if it names none."""
    for found in _POINT.finditer(question):
        told = {name: value.lower() for name, value in found.groupdict().items() if value}
        try:
            days = _sided(_days(told, today), told.get("side", ""), today)
        except (OverflowError, ValueError):  # a day before the first one
            continue
        if days is not None:
            return Span(*days, question[: found.start()] + question[found.end() :])
    return None


def day_to_come(said: str, today: date) -> date | None:
    """Return the day that a date, `today`, `tomorrow` or the name of a weekday to come says; None for another text."""
    word = said.strip().lower()
    if word in _WEEKDAYS:
        return today + timedelta((_WEEKDAYS.index(word) - today.weekday()) % 7 or 7)
    if word in _NEAR:
        return today + timedelta(_NEAR[word])
    return date.fromisoformat(word) if is_day(word) else None


def _sided(days: tuple[date, date] | None, side: str, today: date) -> tuple[date, date] | None:
    if days is not None and side in _OPEN:
        return days[0], today
    return (date.min, days[0] - timedelta(1)) if days is not None and side in _CLOSED else days


def _days(told: dict[str, str], today: date) -> tuple[date, date] | None:
    if day := told.get("day"):
        back = {"today": 0, "yesterday": 1}.get(day, _RECENT)
        first = today - timedelta(back)
        return first, first if day == "yesterday" else today
    if "unit" in told:
        return _unit(told["this"], told["unit"], today)
    if "units" in told:
        return today - timedelta(_number(told["count"]) * _UNITS[told["units"]]), today
    if "before" in told:
        unit = _UNITS[told["before"]]
        middle = today - timedelta(_number(told["ago"]) * unit)
        return middle - timedelta(unit // 2), middle + timedelta(unit // 2)
    if "weekday" in told:
        back = (today.weekday() - _WEEKDAYS.index(told["weekday"])) % 7 or 7
        return today - timedelta(back), today - timedelta(back)
    return _named_month(told, today) if "month" in told else _written(told["iso"])


def _unit(which: str, unit: str, today: date) -> tuple[date, date]:
    begins = {
        "week": today - timedelta(today.weekday()),
        "month": today.replace(day=1),
        "year": today.replace(month=1, day=1),
    }[unit]
    if which == "this":
        return begins, today
    if which == "past":
        return today - timedelta(_UNITS[unit]), today
    end = begins - timedelta(1)
    before = {"week": begins - timedelta(7), "month": end.replace(day=1), "year": end.replace(month=1, day=1)}
    return before[unit], end


def _named_month(told: dict[str, str], today: date) -> tuple[date, date] | None:
    if "side" not in told and "year" not in told:  # `may` and `march` are words
        return None
    number = _MONTHS.index(told["month"]) + 1
    year = int(told.get("year", 0)) or (today.year if number <= today.month else today.year - 1)
    return _whole_month(year, number)


def _written(text: str) -> tuple[date, date] | None:
    try:
        if len(text) == len("2026-11"):
            return _whole_month(int(text[:4]), int(text[5:]))
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day, day


def _whole_month(year: int, month: int) -> tuple[date, date] | None:
    if not 1 <= year < date.max.year:
        return None
    after = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), after - timedelta(1)


def _number(told: str) -> int:
    return _NUMBERS.get(told) or int(told)
