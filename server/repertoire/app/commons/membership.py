"""Keeps which commons this home has joined, in a file of its own: address, key, and what was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from repertoire.app.commons.errors import NotJoined
from repertoire.boot import filelock
from repertoire.boot.private_file import write_json
from repertoire.domain.errors import InvalidRequest

SENT, BEFORE = "sent", "before"  # what became of a trace; before the state of a vote from before joining
THERE = f"{BEFORE}, and there"  # of a trace that the member sent from another machine, or before joining once more
_FILE, _LOCK = "joined.json", ".lock"


@dataclass
class Membership:
    """A home's membership of a commons: its address, the member, and what was sent."""

    url: str
    key: str = field(repr=False)
    community: str
    member: str
    joined: str
    sent: dict[str, str] = field(default_factory=dict)  # trace, or vote:TRACE, to what became of it
    withheld: list[str] = field(default_factory=list)  # keys of traces that stay here
    synced: str = ""  # time of the last complete sync
    trouble: str = ""  # why the last sync ended early
    failures: int = 0  # syncs in a row that ended early
    tried: str = ""  # time of the last of them
    shares_use: bool = False  # whether the person lets syncs report which public components are used here
    use_sent: str = ""  # time of the last report
    use_trouble: str = ""  # why the last sync could not report, or fetch what the team uses

    @property
    def commons(self) -> str:
        """What names the commons among all."""
        return f"{self.url} {self.community}"

    def there(self) -> set[str]:
        """Return the keys of the member's traces that the commons has."""
        return {name for name, state in self.sent.items() if state in {SENT, THERE}}


def folder(home: Path) -> Path:
    """Return the folder in the home for what concerns a commons."""
    return home / "commons"


def read(home: Path) -> Membership | None:
    """Return the home's membership, or None.

    Raises:
        InvalidRequest: its file is damaged.
    """
    path = folder(home) / _FILE
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        told.pop("cursor", None)  # earlier versions kept it here, where it outlived the traces
        return Membership(**told)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError) as error:
        message = f"{path} is damaged ({error}); delete it and run `repertoire commons join` again"
        raise InvalidRequest(message) from error


def of(home: Path) -> Membership:
    """Return the home's membership.

    Raises:
        NotJoined: there is none.
        InvalidRequest: its file is damaged.
    """
    found = read(home)
    if found is None:
        message = "this home has joined no commons; `repertoire commons join URL --key-file FILE` joins one"
        raise NotJoined(message)
    return found


def trouble(home: Path) -> str:
    """Return why the membership cannot be read or its last sync ended early, in one line; empty if nothing is wrong."""
    try:
        found = read(home)
    except InvalidRequest as error:
        return str(error)
    if found is None or not found.trouble:
        return ""
    return f"{found.trouble} (last complete sync: {found.synced or 'never'})"


def write(home: Path, membership: Membership) -> None:
    """Write the membership atomically, readable by this user alone."""
    folder(home).mkdir(mode=0o700, exist_ok=True)
    write_json(folder(home) / _FILE, asdict(membership), flush=True)


def end(home: Path) -> None:
    """Delete the membership and its key."""
    (folder(home) / _FILE).unlink(missing_ok=True)


@contextmanager
def changing(home: Path) -> Iterator[None]:
    """Hold the lock on the membership while the block runs: no other process changes it."""
    folder(home).mkdir(mode=0o700, exist_ok=True)
    with filelock.only_one(folder(home) / _LOCK, lambda _seconds: None):
        yield
