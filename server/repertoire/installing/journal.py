"""Keeps a journal of each installation: what it will change, written before the change, so that it can be undone."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from repertoire.boot.private_file import set_mode
from repertoire.domain.errors import InstallRefused, InvalidRequest

BEGUN, DONE, UNDONE = "begun", "done", "undone"
WAITING, FAILED = "waiting", "failed"
GONE = "gone"  # somebody else took back what the command made
LAST = "last"
_VERSION = 1
_FILE = "journal.json"


@dataclass(frozen=True)
class ChangedFile:
    """A file before and after an installation, as digests of its content; empty if there is no file."""

    path: str
    before: str
    after: str
    mode: int  # the file's permissions before; for a new file, those after


@dataclass(frozen=True)
class ClientCommand:
    """A command of the client, the command that undoes it, its state, and a digest of the server that it made."""

    arguments: tuple[str, ...]
    undo: tuple[str, ...]
    state: str = WAITING
    made: str = ""


@dataclass(frozen=True)
class JournalEntry:
    """One installation: the components, the time, the project, and everything that it changes."""

    name: str
    at: str
    ids: tuple[str, ...]
    project: str
    state: str = BEGUN
    folders: tuple[str, ...] = ()  # folders that it created, the outer ones first
    files: tuple[ChangedFile, ...] = ()
    commands: tuple[ClientCommand, ...] = ()
    noted: tuple[ChangedFile, ...] = ()  # the client's state files, which its commands change
    read: tuple[str, ...] = ()  # sources that were read for it, and that no undo removes
    relies: tuple[str, ...] = ()  # installations that had added what this one brings too, and that stays theirs
    config: str | None = None  # CLAUDE_CONFIG_DIR at that time, empty if it was not set; None: not known


class Journal:
    """The journal of all installations of one home, with a folder for each."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "installs"

    @property
    def lock(self) -> Path:
        """The lock file that one installation at a time holds."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        return self.folder / "lock"

    def entries(self) -> tuple[JournalEntry, ...]:
        """Return all installations whose journal can be read, the oldest first."""
        return tuple(found for found in self._read().values() if isinstance(found, JournalEntry))

    def unreadable(self) -> dict[str, str]:
        """Return why a journal cannot be read and what to do, by the number of its installation."""
        return {number: found for number, found in self._read().items() if isinstance(found, str)}

    def find(self, name: str) -> JournalEntry:
        """Return an installation that was not undone, by its number or as the last one.

        Raises:
            InvalidRequest: there is none.
            InstallRefused: its journal cannot be read.
        """
        read = self._read()
        left = {number: it for number, it in read.items() if isinstance(it, JournalEntry) and it.state != UNDONE}
        unreadable = {number: why for number, why in read.items() if isinstance(why, str)}
        if name == LAST:
            name = max((*left, *unreadable), key=int, default=LAST)
        if name in unreadable:
            raise InstallRefused(unreadable[name])
        if name not in left:
            numbers = ", ".join((*left, *(f"{number} (cannot be read)" for number in unreadable)))
            none = "every one was undone already" if read else "nothing was installed by `repertoire install`"
            listed = f"; there are {numbers}" if numbers else f"; {none}"
            named = "" if name == LAST else f" {name!r}"
            message = f"there is no installation{named} that could be taken back{listed}"
            raise InvalidRequest(message)
        return left[name]

    def unfinished(self) -> JournalEntry | None:
        """Return an installation whose process ended half-way; None if there is none."""
        return next((entry for entry in self.entries() if entry.state == BEGUN), None)

    def begin(self, entry: JournalEntry, contents: Mapping[str, bytes]) -> JournalEntry:
        """Write a new journal entry and the contents that an undo needs, by digest; return it with its number."""
        named = replace(entry, name=str(max((int(place.name) for place in self._places()), default=0) + 1))
        place = self.folder / named.name
        shutil.rmtree(place, ignore_errors=True)  # left by a process that was killed before it changed anything
        place.mkdir(mode=0o700, parents=True)
        for name, content in contents.items():
            write(place / name, content, mode=0o600)
        self.keep(named)
        return named

    def keep(self, entry: JournalEntry) -> None:
        """Write the state of an installation; once it is undone, delete the contents kept for it."""
        place = self.folder / entry.name
        text = json.dumps({"version": _VERSION, **asdict(entry)}, indent=1)
        write(place / _FILE, text.encode(), mode=0o600)
        if entry.state == UNDONE:
            for kept in place.iterdir():
                if kept.name != _FILE:
                    kept.unlink()

    def content(self, entry: JournalEntry, item: ChangedFile) -> bytes:
        """Return the old content of a file, exactly as it was before the installation.

        Raises:
            InstallRefused: the kept copy is gone or damaged.
        """
        kept = self.folder / entry.name / item.before
        content = read_content(kept)
        if content is None or digest(content) != item.before:
            message = (
                f"{kept} is {'gone' if content is None else 'damaged'}, which kept what {item.path} held before, "
                "so nothing was taken back; remove by hand what was added to that file, then the files that "
                f"{kept.with_name(_FILE)} lists, then {kept.parent}"
            )
            raise InstallRefused(message)
        return content

    def merged(self, entry: JournalEntry, item: ChangedFile) -> bytes | None:
        """Return what a merge made of a file; None if it was copied, or is of an older journal."""
        content = read_content(self.folder / entry.name / item.after)
        return content if digest(content) == item.after else None

    def installed(self, component: str) -> tuple[JournalEntry, ...]:
        """Return the standing installations of a component."""
        return tuple(entry for entry in self.entries() if entry.state == DONE and component in entry.ids)

    def merges(self, path: Path) -> Iterator[tuple[JournalEntry, bytes | None, bytes]]:
        """Yield each standing installation that merged into a file, with the file's content before and after."""
        for entry in self.entries():
            for item in entry.files if entry.state == DONE else ():
                merged = self.merged(entry, item) if item.path == str(path) else None
                if merged is not None:
                    yield entry, read_content(self.folder / entry.name / item.before) if item.before else None, merged

    def relying(self, entry: JournalEntry) -> tuple[str, ...]:
        """Return the numbers of the standing installations that rely on what an installation added."""
        return tuple(one.name for one in self.entries() if one.state != UNDONE and entry.name in one.relies)

    def _places(self) -> list[Path]:
        """Return the folders of all installations, the oldest first."""
        found = [place for place in self.folder.glob("*") if place.name.isdecimal() and (place / _FILE).exists()]
        return sorted(found, key=lambda place: int(place.name))

    def _read(self) -> dict[str, JournalEntry | str]:
        return {place.name: _entry(place) for place in self._places()}


def _entry(place: Path) -> JournalEntry | str:
    """Return the entry in a journal, or a message that says why it cannot be read and what to do."""
    try:
        data: dict[str, Any] = json.loads((place / _FILE).read_bytes())
        if data["version"] != _VERSION:
            return f"{place / _FILE} is of another version of Repertoire ({data['version']}); update it"
        return JournalEntry(
            name=place.name,
            at=data["at"],
            ids=tuple(data["ids"]),
            project=data["project"],
            state=data["state"],
            folders=tuple(data["folders"]),
            files=tuple(ChangedFile(**item) for item in data["files"]),
            commands=tuple(
                ClientCommand(tuple(item["arguments"]), tuple(item["undo"]), item["state"], item.get("made", ""))
                for item in data["commands"]
            ),
            noted=tuple(ChangedFile(**item) for item in data["noted"]),
            read=tuple(data.get("read", ())),  # older journals have none
            relies=tuple(data.get("relies", ())),  # neither of these
            config=data.get("config"),
        )
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        return (
            f"installation {place.name} cannot be taken back, because {place / _FILE} cannot be read ({error}); remove "
            f"by hand what you do not want of it (old contents of files lie beside it), then delete {place}"
        )


def digest(content: bytes | None) -> str:
    """Return the SHA-256 of a file's content; empty if there is no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def read_content(path: Path) -> bytes | None:
    """Return the content of a file, or None if there is no file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def write(path: Path, content: bytes, *, mode: int) -> None:
    """Write a file atomically: a reader finds either the old content or the new one."""
    fresh = path.with_name(f".{path.name}.repertoire")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    set_mode(fresh, mode)
    fresh.replace(path)
    _settle(path.parent)


def _settle(folder: Path) -> None:
    """Flush a folder to the disk, so that a new name in it survives a crash; do nothing on systems without that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
