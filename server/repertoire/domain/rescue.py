"""The result of a rescue: where the damaged database is kept, which rows came from which file, and what is lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from typing import Any

from repertoire.domain.text import counted

_CALLED = {
    "source": "sources",
    "event": "events of the log",
    "mute": "mutes",
    "correction": "corrections",
    "acceptance": "trust acceptances",
    "dismissal": "dismissals",
    "advisory": "advisories",
    "departed": "departures",
    "trace": "traces",
    "node": "past requests",
    "request": "past requests",
}
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
_HOUR, _DAY = 60, 24 * 60


@dataclass(frozen=True)
class Rescue:
    """The result of replacing a damaged database by a new one."""

    kept: str  # the damaged file's new name, in the same folder
    cause: str
    from_damaged: Mapping[str, int] = field(default_factory=dict)  # rows by table, nodes by kind
    from_backup: Mapping[str, int] = field(default_factory=dict)  # the same
    backup: str = ""  # the time of the backup; empty if none could be read
    minutes: int = 0  # between the backup and the rescue
    incomplete: tuple[str, ...] = ()  # tables that may lack rows

    def data(self) -> dict[str, Any]:
        """Return the fields as data of an event."""
        return asdict(self)

    @property
    def text(self) -> str:
        """Describe which rows came from which file, what is lost, and where components come from."""
        parts = [f"recovered from the damaged file: {_counted(self.from_damaged)}"]
        if self.incomplete:
            named = _listed(_CALLED.get(name, name) for name in self.incomplete)
            if self.backup:
                parts.append(f"from the backup of {self.backup}: {_counted(self.from_backup)}")
                still = ", except what the first list counts" if self.from_damaged else ""
                parts.append(f"what was recorded after it (at most {_span(self.minutes)}) is lost of: {named}{still}")
            else:
                parts.append(f"there was no backup; some rows are lost of: {named}")
                if "source" in self.incomplete:
                    parts.append("compare `repertoire sources` with what you had added")
        return "; ".join([*parts, "components are read again from their sources"])


def _counted(rows: Mapping[str, int]) -> str:
    return _listed(f"{_CALLED.get(name, name)} ({count})" for name, count in rows.items() if count) or "nothing"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _span(minutes: int) -> str:
    if minutes < 2 * _HOUR:
        return counted(minutes, "minute")
    return f"{minutes // _HOUR + 1} hours" if minutes < 2 * _DAY else f"{minutes // _DAY + 1} days"


def minutes_between(earlier: str, later: str) -> int:
    """Return the minutes between two times, rounded up; 0 if a time cannot be read."""
    try:
        end, start = (datetime.strptime(at, _FORMAT).replace(tzinfo=timezone.utc) for at in (later, earlier))
    except ValueError:
        return 0
    return max(0, int((end - start).total_seconds()) // 60 + 1)


def rescue_of(data: Mapping[str, Any]) -> Rescue:
    """Return the rescue that an event's data describe."""
    known: dict[str, Any] = {name: data[name] for name in (one.name for one in fields(Rescue)) if name in data}
    return Rescue(**{"kept": "", "cause": "", **known, "incomplete": tuple(known.get("incomplete", ()))})
