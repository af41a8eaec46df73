"""Carries an installation out, and takes one back byte for byte; what changed in between is never overwritten."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from repertoire.domain.errors import InstallRefused
from repertoire.installing.client import Client
from repertoire.installing.journal import (
    BEGUN,
    DONE,
    FAILED,
    UNDONE,
    ChangedFile,
    Journal,
    JournalEntry,
    Told,
    digest,
    held,
    write,
)

_FILE, _PROGRAM = 0o644, 0o755


@dataclass(frozen=True)
class File:
    """What a file is to hold, and what it held when that was decided; None: there was none."""

    path: Path
    content: bytes
    before: bytes | None = None
    runs: bool = False


@dataclass(frozen=True)
class Undone:
    """An installation that was taken back: the files put back or removed, and what could not be as before."""

    entry: JournalEntry
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


def carry_out(
    journal: Journal, client: Client, entry: JournalEntry, files: Iterable[File], kept: Iterable[Path]
) -> JournalEntry:
    """Change the files, then run the commands; the journal is on the disk before. What fails is taken back.

    `kept` are the files in which the client notes what its commands do.

    Raises:
        InstallRefused: a file is not as it was when this was decided, or a command failed; nothing is changed then.
    """
    listed = tuple(files)
    noted = {path: held(path) for path in kept} if entry.commands else {}
    before = {file.path: file.before for file in listed}
    _check_unchanged(before)
    begun = replace(
        entry,
        folders=tuple(map(str, _missing(file.path for file in listed))),
        files=tuple(
            ChangedFile(str(file.path), digest(file.before), digest(file.content), _mode(file)) for file in listed
        ),
        noted=tuple(ChangedFile(str(path), digest(content), "", _mode_of(path)) for path, content in noted.items()),
    )
    contents = {digest(content): content for content in (*before.values(), *noted.values()) if content is not None}
    begun = journal.begin(begun, contents)
    try:
        for folder in begun.folders:
            Path(folder).mkdir(exist_ok=True)
        for file, state in zip(listed, begun.files, strict=True):
            write(file.path, file.content, mode=state.mode)
        begun = _run(journal, client, begun)
    except (OSError, InstallRefused):
        take_back(journal, client, journal.find(begun.name))
        raise
    noted_now = tuple(replace(item, after=digest(held(Path(item.path)))) for item in begun.noted)
    done = replace(begun, state=DONE, noted=noted_now)
    journal.keep(done)
    return done


def _check_unchanged(before: Mapping[Path, bytes | None]) -> None:
    for path, content in before.items():
        if held(path) != content:
            message = f"{path} changed while this was decided; nothing was done, try again"
            raise InstallRefused(message)


def _missing(paths: Iterable[Path]) -> list[Path]:
    """Return the folders that are not there yet, the outer ones first."""
    found = {above for path in paths for above in path.parents if not above.exists()}
    return sorted(found, key=lambda folder: len(folder.parts))


def _mode(file: File) -> int:
    return _mode_of(file.path) or (_PROGRAM if file.runs else _FILE)


def _mode_of(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0


def _run(journal: Journal, client: Client, entry: JournalEntry) -> JournalEntry:
    for place, command in enumerate(entry.commands):
        entry = _marked(journal, entry, place, BEGUN)
        ran = client.run(command.arguments)
        entry = _marked(journal, entry, place, DONE if ran.well else FAILED)
        if not ran.well:
            message = f"`claude {' '.join(command.arguments)}` failed, and all was taken back: {ran.said}"
            raise InstallRefused(message)
    return entry


def _marked(journal: Journal, entry: JournalEntry, place: int, state: str) -> JournalEntry:
    commands = [*entry.commands]
    commands[place] = replace(commands[place], state=state)
    entry = replace(entry, commands=tuple(commands))
    journal.keep(entry)
    return entry


def take_back(journal: Journal, client: Client, entry: JournalEntry) -> Undone:
    """Put everything back as it was before an installation; it may have been killed at any moment of it.

    Raises:
        InstallRefused: a file was changed since, or the client refuses; nothing that changed is overwritten.
    """
    _refuse_changed(entry)
    notes = list(_commands_back(journal, client, entry))
    files = [*_files_back(journal, entry)]
    for folder in reversed(entry.folders):
        with contextlib.suppress(OSError):  # somebody else has put something there
            Path(folder).rmdir()
    journal.keep(replace(entry, state=UNDONE))
    return Undone(entry, tuple(files), tuple(notes))


def _refuse_changed(entry: JournalEntry) -> None:
    by_client = {item.path: item.after for item in entry.noted}
    changed = [
        item.path
        for item in entry.files
        if digest(held(Path(item.path))) not in {item.before, item.after, by_client.get(item.path, item.after)}
    ]
    if changed:
        message = (
            f"changed since they were installed: {', '.join(changed)}; nothing was taken back. "
            "Take back what was installed later first, or remove them by hand"
        )
        raise InstallRefused(message)


def _commands_back(journal: Journal, client: Client, entry: JournalEntry) -> list[str]:
    ran = [command for command in entry.commands if command.state in (BEGUN, DONE)]
    # what the client notes is put back as it was only where nobody, it included, wrote to it since
    own = [item for item in entry.noted if item.after and digest(held(Path(item.path))) == item.after]
    notes = [note for command in reversed(ran) if (note := _command_back(client, command))]
    if not ran or notes:
        return notes
    for item in own:
        _put_back(journal, entry, item)
    others = [item.path for item in entry.noted if item not in own and digest(held(Path(item.path))) != item.before]
    return [f"{path} was written by others too: the client took its own lines out of it" for path in others]


def _command_back(client: Client, command: Told) -> str:
    ran = client.run(command.undo)
    if ran.well or command.state == BEGUN:
        return ""
    return f"`claude {' '.join(command.undo)}` failed: {ran.said}"


def _files_back(journal: Journal, entry: JournalEntry) -> Iterable[str]:
    for item in reversed(entry.files):
        path = Path(item.path)
        path.with_name(f".{path.name}.repertoire").unlink(missing_ok=True)
        if digest(held(path)) != item.before:
            _put_back(journal, entry, item)
            yield item.path


def _put_back(journal: Journal, entry: JournalEntry, item: ChangedFile) -> None:
    if item.before:
        write(Path(item.path), journal.content(entry, item.before), mode=item.mode)
    else:
        Path(item.path).unlink(missing_ok=True)
