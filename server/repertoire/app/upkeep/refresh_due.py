"""Decides whether a refresh is due, by its age and by changes on the machine; fast enough for every session start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

from repertoire.app.current_project import project_folder
from repertoire.app.kernel import Repertoire
from repertoire.app.upkeep.refresh_attempts import (
    RefreshAttempt,
    is_outdated,
    must_wait,
    newest_attempt,
    overdue,
    time_of,
)
from repertoire.boot.session_folders import session_folders
from repertoire.domain.answer import BODY_SPACE
from repertoire.domain.component import CATALOGUE, PACKS
from repertoire.domain.errors import InvalidRequest
from repertoire.sources.client_files import config_folder
from repertoire.store.database import Store
from repertoire.store.sources import SourceRow

_FOLDERS = ("skills", "agents", "commands")
_WATCHED = (*_FOLDERS, "plugins/installed_plugins.json", "plugins/known_marketplaces.json")
_AHEAD = timedelta(hours=1)  # by which a record may be ahead of the clock
_WATCHED_IN_PROJECT = (*(f".claude/{name}" for name in (*_FOLDERS, "settings.json")), ".mcp.json")


def is_refresh_due(repertoire: Repertoire, environment: Mapping[str, str], *, at: datetime | None = None) -> bool:
    """Return whether a refresh is due: nothing ingested, sources too old or changed, an update, or vectors missing.

    After a failed refresh it is due only when the waiting time of `refresh_attempts` has passed.
    """
    store, embedder = repertoire.store, repertoire.embedder
    moment, attempt = at or datetime.now(timezone.utc), newest_attempt(repertoire.home)
    if must_wait(attempt, moment):
        return False
    hours, sources = repertoire.settings.refresh_hours, store.sources.all()
    read = max((row.ingested_at for row in sources), default="")
    if not read or holds_only_catalogue(repertoire) or is_outdated(attempt) or overdue(attempt, hours, moment):
        return True
    if hours and not attempt.finished and _past(read, moment) < moment - timedelta(hours=hours):
        return True
    vectors = store.vectors.progress(BODY_SPACE, embedder.model) if embedder is not None else None
    if vectors is not None and vectors.done < vectors.total:
        return True
    config = config_folder(environment)
    # What changes while a refresh runs may come too late for it, so its start counts. An ingest looks at one source.
    since = _past((attempt.finished if attempt.failures else attempt.started) or read, moment).timestamp()
    changed = any(changed > since for changed in _changes((config / name for name in _WATCHED), moment))
    return changed or _is_gone(store, sources, "user", config) or _is_project_due(store, sources, attempt, moment)


def _past(text: str, moment: datetime) -> datetime:
    """Return a recorded moment; the earliest of all for one far ahead, from before the clock was put back."""
    told = time_of(text)
    return told if told <= moment + _AHEAD else time_of("")


def _is_project_due(store: Store, sources: Sequence[SourceRow], attempt: RefreshAttempt, moment: datetime) -> bool:
    """Tell whether the present project has components of its own that were never read, have changed, or are gone."""
    try:
        project = project_folder()
    except InvalidRequest:
        project = None
    if project is None:
        return False
    folders = session_folders(str(project))
    since = _past(attempt.projects.get(str(project), ""), moment).timestamp()
    watched = (folder / name for folder in folders for name in _WATCHED_IN_PROJECT)
    gone = any(_is_gone(store, sources, "project", folder) for folder in folders)
    return gone or any(changed > since for changed in _changes(watched, moment))


def is_unread(store: Store) -> bool:
    """Return whether no source was read yet; what stands in for packs is written by who builds one, and is none."""
    return not any(row.ingested_at for row in store.sources.all() if row.info.key != PACKS)


def holds_only_catalogue(repertoire: Repertoire) -> bool:
    """Return whether the home holds only the shipped catalogue, before the first complete refresh."""
    if newest_attempt(repertoire.home).finished:
        return False
    read = (row.info.key for row in repertoire.store.sources.all() if row.ingested_at)  # a rescue keeps the others too
    return all(key in (CATALOGUE, PACKS) for key in read)


def lacks_catalogue(repertoire: Repertoire) -> bool:
    """Return whether a person read a source before anything else, so that the shipped catalogue is not there yet."""
    if newest_attempt(repertoire.home).finished:
        return False  # nor does it come back where somebody removed it
    return all(row.info.key != CATALOGUE for row in repertoire.store.sources.all())


def _changes(watched: Iterable[Path], moment: datetime) -> Iterable[float]:
    """Yield the times of the last change of each path that is there; a folder's when an entry is added or removed.

    What comes back from a backup bears an old date; that it came is told by the time of its change of state. A time to
    come tells nothing: until then, each reading would seem older than the change.
    """
    for path in watched:
        with contextlib.suppress(OSError):
            status = path.stat()
            yield from (told for told in (status.st_mtime, status.st_ctime) if told <= moment.timestamp())


def _is_gone(store: Store, sources: Sequence[SourceRow], kind: str, folder: Path) -> bool:
    """Tell whether a watched folder or file was deleted from which components are known."""
    names = _WATCHED if kind == "user" else _WATCHED_IN_PROJECT
    gone = tuple(f"{name}/" for name in names if not (folder / name).exists())
    own = [row.info.key for row in sources if row.info.kind == kind and row.info.location == str(folder)]
    return any(f"{path}/".startswith(gone) for key in own for path in store.sources.file_hashes(key))
