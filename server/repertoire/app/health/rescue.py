"""Replaces a damaged database by a new one with the user data, and says where the data came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.upkeep.background_refresh import start_detached_refresh
from repertoire.app.upkeep.refresh_attempts import forget_attempts
from repertoire.boot import home as homes
from repertoire.boot.filelock import only_one
from repertoire.domain.errors import CorruptStore, StoreBusy, StoreError
from repertoire.domain.event import RESCUED, Event
from repertoire.domain.project import ENTRIES
from repertoire.domain.rescue import Rescue, rescue_of
from repertoire.settings import Settings, load
from repertoire.store.damage import damage
from repertoire.store.database import Store
from repertoire.store.graph_file import HOME_FILE, GraphFile
from repertoire.store.project_file import ProjectStore
from repertoire.store.project_schema import PROJECT_FILE
from repertoire.store.rescue import discard_unfinished, rescue, resume

_PATIENCE_S = 120


def mend(home: Path) -> Rescue | None:
    """Replace the database if it is damaged; return the rescue, or None if nothing is wrong.

    A database that cannot be written is not damaged. If another process is rescuing it, its result is waited for and
    returned.

    Raises:
        StoreError: the file belongs to another user, the new one does not fit on the disk, or the old one cannot be
            moved; nothing has changed then.
    """
    path = homes.database_path(home)
    return _mend(path, home / "mend.lock", _note, lambda: last_rescue(path))


def mend_memory(memory: Path) -> Rescue | None:
    """Do the same as `mend` for the memory of a project: what people saved is recovered, its files are read again."""
    return _mend(memory, memory.with_name("mend.lock"), _begin_again, lambda: None, PROJECT_FILE)


def mend_memories(home: Path) -> dict[Path, Rescue]:
    """Replace every damaged memory of a project; return the rescues by file.

    Raises:
        StoreError: as `mend` does, of the first memory that cannot be replaced.
    """
    found = {memory: mend_memory(memory) for memory in sorted(homes.projects_path(home).glob("*.db"))}
    return {memory: told for memory, told in found.items() if told is not None}


def _mend(
    path: Path,
    lock: Path,
    finish: Callable[[Path, Rescue], None],
    last: Callable[[], Rescue | None],
    file: GraphFile = HOME_FILE,
) -> Rescue | None:
    try:
        with only_one(lock, _patient):
            if resume(path):
                return last()
            cause = damage(path, file)
            if not cause:
                return None
            return rescue(path, cause, now=now(), finish=finish, file=file)
    except OSError as error:
        if not damage(path, file):
            return None
        message = (
            f"{path} cannot be mended from here ({error.strerror}: {error.filename}), nothing was changed; "
            "free space, or make its folder writable, and run `repertoire rescue`"
        )
        raise StoreError(message) from error


def discard_unfinished_rescue(home: Path) -> None:
    """Delete the incomplete file of a killed rescue, after waiting for one that is running.

    Raises:
        StoreBusy: the wait took too long.
    """
    with only_one(home / "mend.lock", _patient):
        discard_unfinished(homes.database_path(home))


def mended(home: Path, settings: Settings, found: CorruptStore) -> CorruptStore:
    """Rescue the database of an error and start a refresh; return an error that describes the rescue.

    If the database is not damaged any more, return the given error.
    """
    told = mend(home)
    if told is None:
        return found
    if settings.background:
        start_detached_refresh(home)
    return CorruptStore(rescue_text(home, told))


def mended_home(found: CorruptStore, environment: Mapping[str, str]) -> CorruptStore:
    """Do the same as `mended` for this machine's home."""
    home = homes.home()
    return mended(home, load(home, environment), found)


def mended_memory(memory: Path, found: CorruptStore) -> CorruptStore:
    """Rescue the memory of an error; return an error that describes the rescue, or else the given error."""
    told = mend_memory(memory)
    return found if told is None else CorruptStore(memory_rescue_text(memory, told))


def memory_rescue_text(memory: Path, told: Rescue) -> str:
    """Return what was damaged of a project's memory, where it is kept, what was recovered, and what to do next."""
    saved = {kind: told.from_damaged.get(kind, 0) + told.from_backup.get(kind, 0) for kind in ENTRIES}
    recovered = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in saved.items() if count)
    lost = f"; what was saved after the backup of {told.backup} may be lost" if told.incomplete and told.backup else ""
    return (
        f"{memory} was damaged ({told.cause}) and is kept as {told.kept} beside a new one; "
        f"recovered: {recovered or 'nothing'}{lost}; `repertoire project index` reads the project's files again"
    )


def rescue_text(home: Path, told: Rescue) -> str:
    """Return what was damaged, where it is kept, what was recovered, and what to do next."""
    path = homes.database_path(home)
    return f"{path} was damaged ({told.cause}) and is kept as {told.kept} beside a new one; {told.text}; try again"


def last_rescue(path: Path) -> Rescue | None:
    """Return the newest rescue in a database's log, or None."""
    with Store.open(path) as store:
        return next((rescue_of(event.data) for event in store.events.recent(kinds=(RESCUED,), limit=1)), None)


def _patient(seconds: int) -> None:
    if seconds >= _PATIENCE_S:
        message = f"another process has been mending the database for {seconds} s; try again when it has ended"
        raise StoreBusy(message)


def _begin_again(made: Path, _told: Rescue) -> None:
    with ProjectStore.open(made) as memory:
        memory.begin_again()


def _note(made: Path, told: Rescue) -> None:
    with Store.open(made) as store:
        store.events.append([Event(now(), RESCUED, data=told.data())])
    forget_attempts(made.parent)  # all is to be read anew, whichever process has the home open
