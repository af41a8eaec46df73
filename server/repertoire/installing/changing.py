"""Carries out an installation, and undoes one byte for byte; files that changed in between are never overwritten."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repertoire.domain.errors import InstallRefused
from repertoire.installing.client import Client
from repertoire.installing.client_objects import is_gone, plugins_of, server_digest
from repertoire.installing.journal import (
    BEGUN,
    DONE,
    FAILED,
    GONE,
    UNDONE,
    ChangedFile,
    ClientCommand,
    Journal,
    JournalEntry,
    digest,
    read_content,
    write,
)
from repertoire.installing.places import InstallPaths
from repertoire.installing.unmerging import unmerge, unmerged

_FILE, _PROGRAM = 0o644, 0o755
_UNREADABLE = "unreadable"  # in place of a digest; equals none


@dataclass(frozen=True)
class PlannedFile:
    """A file to write: its new content, and its content when the installation was planned (None: no file)."""

    path: Path
    content: bytes
    before: bytes | None = None
    runs: bool = False
    merged: bool = False  # a JSON object with something added


@dataclass(frozen=True)
class UndoneInstallation:
    """An installation that was undone: the files that were restored or removed, and notes on the others."""

    entry: JournalEntry
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


def carry_out(
    journal: Journal, client: Client, entry: JournalEntry, files: Iterable[PlannedFile], places: InstallPaths
) -> JournalEntry:
    """Write the journal, then the files, then run the client's commands; if one fails, undo all of it.

    Raises:
        InstallRefused: a file changed since the installation was planned, or a command failed; nothing is changed then.
    """
    listed = tuple(files)
    noted = {path: read_content(path) for path in places.kept_by_client} if entry.commands else {}
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
    merged = [file.content for file in listed if file.merged]
    contents = {digest(kept): kept for kept in (*before.values(), *noted.values(), *merged) if kept is not None}
    begun = journal.begin(begun, contents)
    try:
        for folder in begun.folders:
            Path(folder).mkdir(exist_ok=True)
        for file, state in zip(listed, begun.files, strict=True):
            write(file.path, file.content, mode=state.mode)
        begun = _run(journal, client, begun, places)
    except (OSError, InstallRefused, KeyboardInterrupt) as error:
        undone = take_back(journal, client, _noted_now(journal.find(begun.name)), places)
        if not undone.notes:
            raise
        message = f"{str(error) or 'interrupted'}; but {'; '.join(undone.notes)}"
        raise InstallRefused(message) from error
    done = replace(_noted_now(begun), state=DONE)
    journal.keep(done)
    return done


def _noted_now(entry: JournalEntry) -> JournalEntry:
    """Return an installation with the client's state files as the client left them."""
    return replace(entry, noted=tuple(replace(item, after=_digest_now(item)) for item in entry.noted))


def _digest_now(item: ChangedFile) -> str:
    try:
        return digest(read_content(Path(item.path)))
    except OSError:  # a folder, for example
        return _UNREADABLE


def _check_unchanged(before: Mapping[Path, bytes | None]) -> None:
    for path, content in before.items():
        if read_content(path) != content:
            message = f"{path} changed while this was decided; nothing was done, try again"
            raise InstallRefused(message)


def _missing(paths: Iterable[Path]) -> list[Path]:
    """Return the folders above these paths that do not exist yet, the outer ones first."""
    found = {above for path in paths for above in path.parents if not above.exists()}
    return sorted(found, key=lambda folder: len(folder.parts))


def _mode(file: PlannedFile) -> int:
    return _mode_of(file.path) or (_PROGRAM if file.runs else _FILE)


def _mode_of(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0


def _run(journal: Journal, client: Client, entry: JournalEntry, places: InstallPaths) -> JournalEntry:
    for place, command in enumerate(entry.commands):
        entry = _marked(journal, entry, place, BEGUN)
        result = client.run(command.arguments)
        made = server_digest(command.undo, places)
        entry = _marked(journal, entry, place, DONE if result.succeeded else FAILED, made)
        if not result.succeeded:
            message = f"`claude {' '.join(command.arguments)}` failed, and all was taken back: {result.output}"
            raise InstallRefused(message)
    return entry


def _marked(journal: Journal, entry: JournalEntry, place: int, state: str, made: str = "") -> JournalEntry:
    commands = [*entry.commands]
    commands[place] = replace(commands[place], state=state, made=made)
    entry = replace(entry, commands=tuple(commands))
    journal.keep(entry)
    return entry


def take_back(journal: Journal, client: Client, entry: JournalEntry, places: InstallPaths) -> UndoneInstallation:
    """Undo an installation, even one whose process was killed at any moment.

    Of one that stopped half-way nobody knows which files it wrote: those that are not as it would have written them
    are left alone and told, so that no file of a person's stands in the way of the next installation.

    Raises:
        InstallRefused: another installation relies on it, or a server was changed since, or a file that was not merged
            or holds something else in place of what was merged, or one became a link, or its old content is lost, and
            nothing is changed; or the client refuses a command, and only those after it are taken back.
    """
    ours, others = _differing(entry)
    finished = entry.state != BEGUN
    if finished:
        _refuse_relied_on(journal, entry)
        unmerged(journal, entry, others)
        _refuse_changed_servers(entry, places)
    for item in (*ours, *(others if finished else ())):
        places.refuse_link(Path(item.path))
    noted = _noted_to_restore(entry)
    # all is read before anything is changed, because a kept copy may be damaged
    kept = {item.before: journal.content(entry, item) for item in (*ours, *noted) if item.before}
    ran = bool(_ran(entry))
    entry, notes = _commands_back(journal, client, entry, places)
    if ran and not notes:
        for item in noted:
            _put_back(item, kept)
        notes += _left_to_client(entry, noted)
    notes += _gone(entry)
    files = [*_files_back(entry, ours, kept)]
    notes += unmerge(journal, entry, others) if finished else _left_alone(others)
    journal.keep(replace(entry, state=UNDONE, folders=_folders_back(journal, entry)))
    return UndoneInstallation(entry, tuple(files), tuple(notes))


def _folders_back(journal: Journal, entry: JournalEntry) -> tuple[str, ...]:
    """Remove the empty folders that an installation created; return those of them that hold something.

    What an earlier undo had to leave, because this installation's files lay in it, goes with these.
    """
    above = {str(folder) for item in entry.files for folder in Path(item.path).parents}
    earlier = [one for one in journal.entries() if one.state == UNDONE and not above.isdisjoint(one.folders)]
    left = {folder for one in earlier for folder in one.folders if folder in above}
    for folder in sorted(left.union(entry.folders), key=len, reverse=True):  # the inner ones first
        with contextlib.suppress(OSError):  # something else is in it
            Path(folder).rmdir()
    for one in earlier:  # who makes such a folder again keeps it
        journal.keep(replace(one, folders=_existing(one.folders)))
    return _existing(entry.folders)


def _existing(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(folder for folder in folders if Path(folder).is_dir())


def _differing(entry: JournalEntry) -> tuple[list[ChangedFile], list[ChangedFile]]:
    """Return the files that are as the installation left them, and those that others changed since."""
    by_client = {item.path: item.after for item in entry.noted if item.after}
    differing = {item: found for item in entry.files if (found := _digest_now(item)) != item.before}
    ours = [item for item, found in differing.items() if found in {item.after, by_client.get(item.path)}]
    return ours, [item for item in differing if item not in ours]


def _left_alone(others: Iterable[ChangedFile]) -> list[str]:
    return [
        f"{item.path} was changed by others and is left as it is; if it holds what was to be installed, remove that"
        for item in others
    ]


def _refuse_relied_on(journal: Journal, entry: JournalEntry) -> None:
    """Refuse to take out what a later installation found there already, and did not add itself for that reason."""
    if relying := journal.relying(entry):
        message = (
            f"installation {relying[-1]} relies on what this one added; nothing was taken back. Take it back first "
            f"(`repertoire install --undo {relying[-1]}`); install its components again afterwards if you want them"
        )
        raise InstallRefused(message)


def _refuse_changed_servers(entry: JournalEntry, places: InstallPaths) -> None:
    """Refuse to remove servers into which somebody wrote since, such as a key or an address of their own."""
    for command in _ran(entry):
        if _is_changed_server(command, places):
            *_, scope, name = command.undo
            message = (
                f"the MCP server {name} in {places.servers(scope)} was changed since it was installed; nothing was "
                f"taken back. If nothing in it is to be kept, `claude {' '.join(command.undo)}`, and undo again"
            )
            raise InstallRefused(message)


def _is_changed_server(command: ClientCommand, places: InstallPaths) -> bool:
    return bool(command.made) and server_digest(command.undo, places) not in ("", command.made)


def _noted_to_restore(entry: JournalEntry) -> list[ChangedFile]:
    """Return the client's state files to which nobody wrote since it ran; those that are links are left to it."""
    own = [item for item in entry.noted if item.after and _digest_now(item) == item.after]
    return [item for item in own if not Path(item.path).is_symlink()] if _ran(entry) else []


def _ran(entry: JournalEntry) -> list[ClientCommand]:
    return [command for command in entry.commands if command.state in (BEGUN, DONE)]


def _commands_back(
    journal: Journal, client: Client, entry: JournalEntry, places: InstallPaths
) -> tuple[JournalEntry, list[str]]:
    """Take back the client's commands, the last first; return the installation, and what somebody should know.

    Raises:
        InstallRefused: the client takes one of a finished installation not back; those after it are taken back, and
            the next try begins with this one.
    """
    notes: list[str] = []
    for place in reversed(range(len(entry.commands))):
        command = entry.commands[place]
        if command.state not in (BEGUN, DONE):
            continue
        if others := _needed_by(command, places):
            notes.append(f"the marketplace stays, since {', '.join(others)} of it is installed")
            continue
        if _is_changed_server(command, places):
            notes.append(f"the MCP server {command.undo[-1]} was changed by others, and is left as it is")
            continue
        failure = _command_back(client, command)
        if failure and is_gone(command.undo, places):
            entry = _marked(journal, entry, place, GONE)
            continue
        if failure:
            if entry.state == DONE:
                message = f"{failure}; the rest stays as it is, and `repertoire install --undo` tries again"
                raise InstallRefused(message)
            notes.append(failure)
            continue
        entry = _marked(journal, entry, place, UNDONE)
    return entry, notes


def _gone(entry: JournalEntry) -> list[str]:
    gone = [command.undo for command in entry.commands if command.state == GONE]
    return [f"there was nothing left for `claude {' '.join(undo)}` to take back" for undo in gone]


def _needed_by(command: ClientCommand, places: InstallPaths) -> list[str]:
    """Return the installed plugins for which a marketplace must stay: the client removes them with it."""
    *verb, marketplace = command.undo
    return plugins_of(marketplace, places) if verb == ["plugin", "marketplace", "remove"] else []


def _left_to_client(entry: JournalEntry, noted: Sequence[ChangedFile]) -> list[str]:
    """Return what is told of the client's state files that were not restored."""
    own = {file.path for file in entry.files}
    left = [item for item in entry.noted if item not in noted and item.path not in own]
    return [
        f"{item.path} is a link, or others wrote to it too: the client took its own lines out of it"
        for item in left
        if _digest_now(item) != item.before
    ]


def _command_back(client: Client, command: ClientCommand) -> str:
    result = client.run(command.undo)
    if result.succeeded or command.state == BEGUN:
        return ""
    return f"`claude {' '.join(command.undo)}` failed: {result.output}"


def _files_back(entry: JournalEntry, ours: Sequence[ChangedFile], kept: Mapping[str, bytes]) -> Iterable[str]:
    for item in reversed(entry.files):
        path = Path(item.path)
        with contextlib.suppress(OSError):  # its folder may have become something else
            path.with_name(f".{path.name}.repertoire").unlink()
        if item in ours and _digest_now(item) != item.before:
            _put_back(item, kept)
            yield item.path


def _put_back(item: ChangedFile, kept: Mapping[str, bytes]) -> None:
    if item.before:
        write(Path(item.path), kept[item.before], mode=item.mode)
    else:
        Path(item.path).unlink(missing_ok=True)
