"""Takes what was merged into a JSON file out of it again, exactly, where others have changed that file since."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repertoire.domain.errors import InstallRefused
from repertoire.installing.journal import ChangedFile, Journal, JournalEntry, read_content, write
from repertoire.installing.merging import HOOKS, SERVERS, as_json, parsed

_TABLES = (HOOKS, SERVERS, "env", "permissions", "enabledPlugins")  # objects to which many things add their own
_ABSENT = object()


@dataclass(frozen=True)
class UnmergedFile:
    """A file that others changed: its content without what was merged into it (None: nothing), and names of that."""

    path: Path
    content: bytes | None
    taken: tuple[str, ...]


def unmerged(journal: Journal, entry: JournalEntry, changed: Iterable[ChangedFile]) -> list[UnmergedFile]:
    """Return files that others changed without what was merged into them; nothing is written.

    Raises:
        InstallRefused: one was copied and not merged, or does not hold what was merged any more as it was added.
    """
    all_changed = [_unmerged(journal, entry, item) for item in changed]
    if failed := [file for file in all_changed if isinstance(file, str)]:
        message = (
            f"changed since they were installed: {', '.join(failed)}; nothing was taken back. Take back what was "
            f"installed later first, or remove by hand what was installed, and then {journal.folder / entry.name}"
        )
        raise InstallRefused(message)
    return [file for file in all_changed if isinstance(file, UnmergedFile)]


def unmerge(journal: Journal, entry: JournalEntry, changed: Iterable[ChangedFile]) -> list[str]:
    """Take what was merged out of files that others changed; return a note on each.

    Raises:
        InstallRefused: as `unmerged` says.
    """
    notes = []
    for file in unmerged(journal, entry, changed):
        if file.content is None:
            file.path.unlink()
        else:
            write(file.path, file.content, mode=stat.S_IMODE(file.path.stat().st_mode))
        taken = ", ".join(file.taken)
        notes.append(f"{file.path} was changed by others too: only what was added was taken out ({taken})")
    return notes


def _unmerged(journal: Journal, entry: JournalEntry, item: ChangedFile) -> UnmergedFile | str:
    """Return a file without what was merged into it, or else its path and why it is left as it is."""
    path, merged = Path(item.path), journal.merged(entry, item)
    if merged is None:
        return item.path
    taken: list[str] = []
    try:
        before = parsed(journal.content(entry, item) if item.before else None, path)
        left = parsed(read_content(path), path)
        _take_out(left, before, parsed(merged, path), "", taken)
        content = as_json(left) if left or item.before else None
    except _NotAsAddedError as error:
        return f"{path} (where {error} is not as it was added)"
    except (OSError, InstallRefused) as error:
        return f"{path} ({error})"
    return UnmergedFile(path, content, tuple(dict.fromkeys(taken)))


class _NotAsAddedError(ValueError):
    """Something is not in a file as it was added, or no more."""


def _take_out(
    there: dict[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], above: str, taken: list[str]
) -> None:
    """Remove from an object what `after` has beyond `before`, and an object or list that is left empty by that."""
    for key, added in after.items():
        name, had, now = f"{above}{key}", before.get(key), there.get(key, _ABSENT)
        if key in before and had == added:
            continue
        if isinstance(added, dict) and isinstance(now, dict) and (key in before or name in _TABLES):
            _take_out(now, had or {}, added, f"{name}.", taken)
        elif isinstance(added, list) and isinstance(now, list):
            _take_items_out(now, [item for item in added if item not in (had or ())], name)
            taken.append(name)
        elif key in before or now != added:
            raise _NotAsAddedError(name)
        else:
            taken.append(name)
            now = None
        if not now and key not in before:
            del there[key]


def _take_items_out(there: list[Any], added: Sequence[Any], name: str) -> None:
    for item in added:
        if item not in there:
            raise _NotAsAddedError(name)
        there.remove(item)
