"""Judges the freshness of components by their dates and by the releases in their sources' local files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

from repertoire.app.clone_folder import clone_folder
from repertoire.domain.component import SourceInfo, path_in
from repertoire.domain.freshness import BREAKING, OVERDUE, Ageing, Freshness, freshness, span
from repertoire.sources import releases
from repertoire.sources.releases import Releases
from repertoire.store.database import Store


class FreshnessJudge:
    """Judges the freshness of components; the releases of each source are read once."""

    def __init__(self, store: Store, home: Path, ageing: Ageing | None, day: date) -> None:
        self._ageing = ageing
        self._day = day
        self._home = home
        self._sources = {row.info.key: row.info for row in store.sources.all()}
        self._read: dict[str, Releases | None] = {}

    def of(self, component: str, kind: str, source: str, changed: str, *, sound: float = 1.0) -> Freshness | None:
        """Return the freshness of a component by id and date of last change; None without a date.

        `sound` is the soundness of its dependencies, 0 to 1.
        """
        if not changed:
            return None
        told = self._releases(source)
        path = path_in(source, component)
        released = told.of(path) if told is not None else ()
        return freshness(kind, changed, self._day, ageing=self._ageing, releases=released, sound=sound)

    def _releases(self, source: str) -> Releases | None:
        if source not in self._read:
            info = self._sources.get(source)
            self._read[source] = _releases_in(self._home, info) if info is not None else None
        return self._read[source]


def reasons(judged: Freshness) -> Iterator[str]:
    """Yield the reasons for a freshness score, the age first."""
    yield judged.label
    if BREAKING in judged.parts and judged.broke is not None:
        yield f"release {judged.broke.version} of {judged.broke.date[:7]}, since then, breaks compatibility"
    if OVERDUE in judged.parts:
        yield f"releases came every {span(judged.every_days)}, the last in {judged.released[:7]}"


def _releases_in(home: Path, info: SourceInfo) -> Releases | None:
    ours = info.kind == "git"
    folder = clone_folder(home, info.key) if ours else Path(info.location)
    return releases.read(folder, ours=ours) if folder.is_absolute() and folder.is_dir() else None
