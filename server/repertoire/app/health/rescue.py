"""Mends a damaged database: sets it aside, brings over what is a person's own, and says from where."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.upkeep.background_refresh import start_detached_refresh
from repertoire.boot import home as homes
from repertoire.boot.filelock import only_one
from repertoire.domain.errors import CorruptStore, StoreBusy, StoreError
from repertoire.domain.event import RESCUED, Event
from repertoire.domain.rescue import Rescue, rescue_of
from repertoire.settings import Settings, load
from repertoire.store.damage import damage
from repertoire.store.database import Store
from repertoire.store.rescue import discard_unfinished, go_on, rescue

_PATIENCE_S = 120


def mend(home: Path) -> Rescue | None:
    """Put a sound database in the place of a damaged one; return what became of it, None where nothing is wrong.

    A sound one is sound where it cannot be written too. Where another process is at it already, its work is waited for
    and counts as ours.

    Raises:
        StoreError: it is not ours, there is no room for a new one, or it cannot be moved; it is as it was then.
    """
    path = homes.database_path(home)
    try:
        with only_one(home / "mend.lock", _patient):
            if go_on(path):
                return last_rescue(path)
            cause = damage(path)
            if not cause:
                return None
            return rescue(path, cause, now=now(), finish=_note)
    except OSError as error:
        if not damage(path):
            return None
        message = (
            f"{path} cannot be mended from here ({error.strerror}: {error.filename}), nothing was changed; "
            "free space, or make its folder writable, and run `repertoire rescue`"
        )
        raise StoreError(message) from error


def discard_unfinished_rescue(home: Path) -> None:
    """Delete what a killed rescue left half-made; one that is at work is waited for.

    Raises:
        StoreBusy: it takes too long.
    """
    with only_one(home / "mend.lock", _patient):
        discard_unfinished(homes.database_path(home))


def mended(home: Path, settings: Settings, found: CorruptStore) -> CorruptStore:
    """Mend what an error found damaged, and have its components read again; return the error that tells of it.

    Where nothing is wrong (any more), that is the error that was found.
    """
    told = mend(home)
    if told is None:
        return found
    if settings.background:
        start_detached_refresh(home)
    return CorruptStore(rescue_text(home, told))


def mended_home(found: CorruptStore, environment: Mapping[str, str]) -> CorruptStore:
    """Do the same for this machine's home, from wherever the damage was met."""
    home = homes.home()
    return mended(home, load(home, environment), found)


def rescue_text(home: Path, told: Rescue) -> str:
    """Say what was damaged, where it lies now, what was brought over, and what to do next."""
    path = homes.database_path(home)
    return (
        f"{path} was damaged ({told.cause}) and is kept as {told.kept} beside a new one; {told.text}; do the same again"
    )


def last_rescue(path: Path) -> Rescue | None:
    """Return what the newest rescue came to that a database remembers."""
    with Store.open(path) as store:
        return next((rescue_of(event.data) for event in store.events.recent(kinds=(RESCUED,), limit=1)), None)


def _patient(seconds: int) -> None:
    if seconds >= _PATIENCE_S:
        message = f"another process has been mending the database for {seconds} s; try again when it has ended"
        raise StoreBusy(message)


def _note(made: Path, told: Rescue) -> None:
    with Store.open(made) as store:
        store.events.append([Event(now(), RESCUED, data=told.data())])
