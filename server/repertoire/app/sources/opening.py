"""Opens a source for ingestion: fetches a remote one, and gathers its layout, dates and address."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from repertoire.app.clone_folder import clone_folder
from repertoire.app.sources.packages import Scratch, fetch_package, unpack_archive
from repertoire.domain.component import SourceInfo
from repertoire.domain.errors import SourceError
from repertoire.ingestion.install import Site
from repertoire.ingestion.parts import PluginFacts, SourceLayout
from repertoire.settings import Settings
from repertoire.sources import clones, git_dates
from repertoire.sources.address import ARCHIVE, GIT, PACKAGE, Address, client_address, without_password
from repertoire.sources.crawl import CrawlLimits, Mount
from repertoire.sources.git_dates import GitDates
from repertoire.sources.installed import InstalledSource, Machine


@dataclass(frozen=True)
class OpenedSource:
    """A source on this machine, ready to be crawled."""

    info: SourceInfo
    mounts: tuple[Mount, ...]
    site: Site
    layout: SourceLayout
    history: GitDates = field(default_factory=GitDates)
    documents: Mapping[str, str] = field(default_factory=dict)
    installed: bool = False
    overrides: Mapping[str, str] = field(default_factory=dict)  # see SourceContext
    limits: CrawlLimits = field(default_factory=CrawlLimits)
    warnings: tuple[str, ...] = ()
    moved: str = ""  # the new address of a repository whose old address redirects
    scratch: Scratch | None = None  # the temporary folder that is deleted after reading
    refused: Mapping[str, str] = field(default_factory=dict)  # unreadable files with the reason
    as_kept: bool = False  # it was opened from the clone without a fetch, so its origin may be gone


@dataclass(frozen=True)
class Surroundings:
    """The home, settings and installed components that opening a source needs."""

    home: Path
    settings: Settings
    machine: Machine

    @property
    def limits(self) -> CrawlLimits:
        """Return the limits on the files of one source."""
        return CrawlLimits(files=self.settings.max_files)


def open_address(
    address: Address,
    around: Surroundings,
    *,
    tick: Callable[[], None],
    fetch: bool = True,
    fetch_packages: bool = True,
) -> OpenedSource:
    """Open a folder, a repository, an archive or a package; without `fetch`, a repository from its present clone.

    Raises:
        SourceError: the source cannot be fetched or unpacked.
    """
    if address.kind == PACKAGE:
        place = clone_folder(around.home, address.key)
        archive = fetch_package(
            address, place, around.settings.max_source_mb * 1_000_000, tick=tick, again=fetch_packages
        )
        return _open_archive(SourceInfo(address.key, PACKAGE, address.text), archive, around)
    if address.kind == ARCHIVE:
        return _open_archive(SourceInfo(address.key, ARCHIVE, address.text), Path(address.text), around)
    if address.kind != GIT:
        return _open_folder(Path(address.text), around)
    target = clone_folder(around.home, address.key)
    if not fetch:
        return _open_clone(address, target, around)
    max_bytes = around.settings.max_source_mb * 1_000_000
    fetched_now = clones.fetch(address.text, target, max_bytes=max_bytes, pinned=address.pinned, tick=tick)
    opened = _open_clone(address, target, around)
    info = replace(opened.info, commit=fetched_now.commit)
    noted = (address.note,) if address.note else ()
    return replace(opened, info=info, moved=fetched_now.moved, as_kept=False, warnings=(*noted, *opened.warnings))


def open_place(place: InstalledSource, around: Surroundings) -> OpenedSource:
    """Open a place where Claude Code keeps components on this machine."""
    past = git_dates.read(place.location) if place.location.is_dir() and place.kind == "marketplace" else GitDates()
    repository = place.repository or past.remote
    info = SourceInfo(place.key, place.kind, str(place.location), repository, past.commit)
    layout = _layout(place.plugin or place.location.name, around.machine, key=place.key)
    if place.plugin:
        facts = PluginFacts("", place.plugin, marketplace=place.marketplace, listed_as=place.plugin)
        layout = SourceLayout(name=place.plugin, plugins={"": facts})
    return OpenedSource(
        info,
        place.mounts,
        _site(place.location, place.marketplace_address, around.machine, around.machine.installed_plugins),
        layout,
        past,
        place.documents,
        place.installed,
        place.overrides,
        around.limits,
        _history_warnings(past),
    )


def _open_clone(address: Address, target: Path, around: Surroundings) -> OpenedSource:
    """Open a repository's clone in the home without a fetch."""
    if not target.is_dir():
        message = f"{without_password(address.text)} was never fetched here; `repertoire refresh` fetches it"
        raise SourceError(message)
    past = git_dates.read(target, ours=True)
    info = SourceInfo(address.key, "git", address.text, address.repository, past.commit)
    own = around.machine.installed_from(info.repository)
    to_add = client_address(address.text) if address.repository else ""  # nor does it take one without files
    site, layout = _site(target, to_add or str(target), around.machine, own), _layout(info.key, around.machine)
    warnings = _history_warnings(past)
    return OpenedSource(
        info, (Mount(target),), site, layout, past, limits=around.limits, warnings=warnings, as_kept=True
    )


def _open_folder(folder: Path, around: Surroundings) -> OpenedSource:
    past = git_dates.read(folder)
    key = past.remote or f"folder:{folder}"
    info = SourceInfo(key, "folder", str(folder), past.remote, past.commit)
    site = _site(
        folder, past.client_address or str(folder), around.machine, around.machine.installed_from(info.repository)
    )
    layout = _layout(key, around.machine)
    return OpenedSource(
        info, (Mount(folder),), site, layout, past, limits=around.limits, warnings=_history_warnings(past)
    )


def _open_archive(info: SourceInfo, archive: Path, around: Surroundings) -> OpenedSource:
    scratch = unpack_archive(archive, clone_folder(around.home, info.key))
    return OpenedSource(
        info,
        (Mount(scratch.root),),
        Site(),  # the unpacked folder is deleted, so nothing can be installed from it
        replace(_layout(info.key, around.machine), is_package=True),
        limits=around.limits,
        warnings=scratch.warnings,
        scratch=scratch,
        refused=scratch.refused,
    )


def _site(location: Path, address: str, machine: Machine, own: frozenset[str]) -> Site:
    return Site(str(location), address, machine.known_marketplaces, own, machine.disabled_plugins)


def _layout(name: str, machine: Machine, *, key: str = "") -> SourceLayout:
    elsewhere = {plugin.rpartition("@")[0] for plugin, source in machine.described.items() if source != key}
    return SourceLayout(name=name.rstrip("/").rpartition("/")[2] or name, elsewhere=frozenset(elsewhere))


def _history_warnings(past: GitDates) -> tuple[str, ...]:
    return (past.warning,) if past.warning else ()
