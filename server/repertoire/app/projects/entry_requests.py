"""The requests that change or list what was saved in a project's memory, and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from repertoire.app.clock import local_today
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import ABOUT, DEPENDS_ON, PART_OF, SUPERSEDES, Entry, EntryLink
from repertoire.projects.times import day_to_come

_DATA = ("category", "due", "estimate", "assignee", "steps", "triggers", "files")  # fields that only some have


@dataclass(frozen=True)
class SaveRequest:
    """A new entry, or with an id the changed fields of one; what is None stays as it is."""

    kind: str = ""
    key: str = ""
    title: str | None = None
    body: str | None = None
    tags: tuple[str, ...] | None = None
    status: str = ""
    priority: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()  # (relation, target)
    expected_version: int | None = None
    used: bool = False  # it was followed once more
    apart: bool = False  # a note that says what another one says is not merged with it


def save_request(told: Mapping[str, Any], *, key: str = "") -> SaveRequest:
    """Return the request in named fields, as both doors take them.

    Raises:
        InvalidRequest: the day on which it is due is none.
    """
    data = {name: told[name] for name in _DATA if told.get(name)}
    if "due" in data:
        data["due"] = _day(str(data["due"]))
    links = [(relation, one) for relation in (ABOUT, DEPENDS_ON, SUPERSEDES) for one in told.get(relation) or ()]
    if told.get("epic"):
        links.append((PART_OF, told["epic"]))
    return SaveRequest(
        told.get("kind") or "",
        key,
        told.get("title"),
        told.get("body"),
        tuple(told["tags"]) if told.get("tags") else None,
        told.get("status") or "",
        told.get("priority"),
        data,
        tuple(links),
        told.get("expected_version"),
        bool(told.get("used")),
        bool(told.get("apart")),
    )


def _day(asked: str) -> str:
    day = day_to_come(asked, local_today())
    if day is None:
        message = f"due {asked[:40]!r} is no day; send a date such as 2026-01-31, today, tomorrow, or a weekday"
        raise InvalidRequest(message)
    return day.isoformat()


@dataclass(frozen=True)
class Saved:
    """Entries after a change, and what was done."""

    entries: tuple[Entry, ...]
    what: str
    links: tuple[EntryLink, ...] = ()
    superseded: tuple[Entry, ...] = ()
    remarks: tuple[str, ...] = ()  # what else happened, or may need a hand


@dataclass(frozen=True)
class ListQuery:
    """Which entries are listed."""

    kind: str = ""
    status: str = ""
    tag: str = ""
    words: str = ""
    linked: str = ""  # only what is linked with this id
    ready: bool = False
    stale: bool = False  # only notes that nobody confirmed for long
    limit: int = 30
    offset: int = 0


@dataclass(frozen=True)
class EntryListing:
    """Entries of a project; `waiting` maps a task to the unfinished ones that block it."""

    entries: tuple[Entry, ...]
    total: int
    ready: frozenset[str] = frozenset()
    waiting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unconfirmed: Mapping[str, int] = field(default_factory=dict)  # days of notes that may no longer hold
    overdue: frozenset[str] = frozenset()  # the open ones whose day is past
    remarks: tuple[str, ...] = ()  # what may need a hand
    passed: int = 0  # how many come before these


@dataclass(frozen=True)
class MoveRequest:
    """Entries that get another status or priority."""

    keys: tuple[str, ...]
    status: str = ""
    priority: int | None = None
    expected_version: int | None = None


@dataclass(frozen=True)
class LinkRequest:
    """A link between an entry and something else; with `remove` it is taken away."""

    source: str
    relation: str
    target: str
    remove: bool = False


@dataclass(frozen=True)
class DeleteRequest:
    """Entries to delete."""

    keys: tuple[str, ...]
    expected_version: int | None = None
