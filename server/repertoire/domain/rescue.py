"""What became of a damaged database: where it lies now, what was brought from where, and what is lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from typing import Any

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
    """How a damaged database was mended."""

    kept: str  # the file's name now, in the same folder
    cause: str
    brought: Mapping[str, int] = field(default_factory=dict)  # out of the damaged file: rows by table, nodes by kind
    backed: Mapping[str, int] = field(default_factory=dict)  # out of the backup
    backup: str = ""  # when that was made; empty: there was none that could be read
    minutes: int = 0  # from then until the rescue
    partly: tuple[str, ...] = ()  # tables of which rows may be missing

    def data(self) -> dict[str, Any]:
        """Return it as the event holds it."""
        return asdict(self)

    @property
    def text(self) -> str:
        """Say what was brought from where, what is lost, and where the rest comes from."""
        parts = [f"brought over: {_counted(self.brought)}"]
        if self.partly:
            named = _listed(_CALLED.get(name, name) for name in self.partly)
            if self.backup:
                parts.append(f"from the backup of {self.backup}: {_counted(self.backed)}")
                still = ", but for what the first list counts" if self.brought else ""
                parts.append(
                    f"lost is what was recorded after that, in {_span(self.minutes)} at most, of: {named}{still}"
                )
            else:
                parts.append(f"there was no backup yet, some are lost of: {named}")
                if "source" in self.partly:
                    parts.append("compare `repertoire sources` with what you had added")
        return "; ".join([*parts, "components are read again from their sources"])


def _counted(rows: Mapping[str, int]) -> str:
    return _listed(f"{_CALLED.get(name, name)} ({count})" for name, count in rows.items() if count) or "nothing"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _span(minutes: int) -> str:
    if minutes < 2 * _HOUR:
        return f"{minutes} minute{'s' if minutes != 1 else ''}"
    return f"{minutes // _HOUR + 1} hours" if minutes < 2 * _DAY else f"{minutes // _DAY + 1} days"


def minutes_between(earlier: str, later: str) -> int:
    """Return how many minutes lie between two times at most."""
    try:
        end, start = (datetime.strptime(at, _FORMAT).replace(tzinfo=timezone.utc) for at in (later, earlier))
    except ValueError:
        return 0
    return max(0, int((end - start).total_seconds()) // 60 + 1)


def rescue_of(data: Mapping[str, Any]) -> Rescue:
    """Return what an event's data hold."""
    told: dict[str, Any] = {name: data[name] for name in (one.name for one in fields(Rescue)) if name in data}
    return Rescue(**{"kept": "", "cause": "", **told, "partly": tuple(told.get("partly", ()))})
