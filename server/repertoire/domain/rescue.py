"""What became of a damaged database: where it lies now, what was brought out of it, and what was not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from repertoire.domain.text import clean_line

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
    "edge": "past requests",
}
_NAMED = 5
_AGAIN = "components are read again from their sources"


@dataclass(frozen=True)
class Rescue:
    """How a damaged database was mended."""

    kept: str  # the file's name now, in the same folder
    cause: str
    brought: Mapping[str, int] = field(default_factory=dict)  # rows by table
    partly: tuple[str, ...] = ()  # tables of which rows may be missing
    missing: int = 0  # numbers of events that were not found; forgotten ones among them
    requests: int = 0  # past requests, made anew from the log
    again: tuple[str, ...] = ()  # sources whose rows were lost and that their clones told
    lost: tuple[str, ...] = ()  # what to ingest for sources that only the log speaks of

    def data(self) -> dict[str, Any]:
        """Return it as the event holds it."""
        return {
            "kept": self.kept,
            "cause": self.cause,
            "brought": dict(self.brought),
            "partly": list(self.partly),
            "missing": self.missing,
            "requests": self.requests,
            "again": list(self.again),
            "lost": list(self.lost),
        }

    @property
    def text(self) -> str:
        """Say what was brought out, what was not, and where the rest comes from."""
        counted = [f"{_CALLED.get(name, name)} ({count})" for name, count in self.brought.items() if count]
        parts = [f"brought over: {', '.join(counted) or 'nothing'}"]
        if self.requests:
            parts.append(f"past requests, from the log where need be ({self.requests})")
        if self.partly:
            listed = ", ".join(dict.fromkeys(_CALLED.get(name, name) for name in self.partly))
            parts.append(f"some may be missing of: {listed}")
        if self.missing:
            parts.append(f"{self.missing} numbers of the log are not there, those condensed or forgotten among them")
        if self.again:
            parts.append(f"sources known again by their clones: {_few(self.again)}")
        if self.lost:
            parts.append(f"to be ingested again where still wanted, as only the log speaks of them: {_few(self.lost)}")
        elif "source" in self.partly:
            parts.append("compare `repertoire sources` with what you had added: nothing else tells of a folder")
        return "; ".join([*parts, _AGAIN])


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(clean_line(name, 120) for name in names[:_NAMED]) + more


def rescue_of(data: Mapping[str, Any]) -> Rescue:
    """Return what an event's data hold."""
    return Rescue(
        str(data.get("kept", "")),
        str(data.get("cause", "")),
        dict(data.get("brought", {})),
        tuple(data.get("partly", ())),
        int(data.get("missing", 0)),
        int(data.get("requests", 0)),
        tuple(data.get("again", ())),
        tuple(data.get("lost", ())),
    )
