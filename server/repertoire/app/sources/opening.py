"""Opens what is to be ingested: fetches it where it is remote, and gathers what is known of it beside its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from repertoire.app.places import clone_folder
from repertoire.app.sources.packed import Scratch, fetched, taken_out
from repertoire.domain.component import SourceInfo
from repertoire.domain.errors import SourceError
from repertoire.ingestion.install import Site
from repertoire.ingestion.parts import Layout, PluginFacts
from repertoire.settings import Settings
from repertoire.sources import clones, history
from repertoire.sources.address import ARCHIVE, GIT, PACKAGE, Address
from repertoire.sources.crawl import Limits, Mount
from repertoire.sources.history import History
from repertoire.sources.installed import Machine, Place


@dataclass(frozen=True)
class Opened:
    """A source that lies on this machine, ready to be read."""

    info: SourceInfo
    mounts: tuple[Mount, ...]
    site: Site
    layout: Layout
    history: History = field(default_factory=History)
    documents: Mapping[str, str] = field(default_factory=dict)
    installed: bool = False
    limits: Limits = field(default_factory=Limits)
    warnings: tuple[str, ...] = ()
    moved: str = ""  # where the repository is now, which its old place still sends to
    scratch: Scratch | None = None  # the folder that goes once it was read
    refused: Mapping[str, str] = field(default_factory=dict)  # files of it that cannot be had, with the reason
    as_kept: bool = False  # it was not asked for where it comes from: whether it is still there is not known


@dataclass(frozen=True)
class Surroundings:
    """What opening a source needs to know of the machine."""

    home: Path
    settings: Settings
    machine: Machine

    @property
    def limits(self) -> Limits:
        """How much of one source is read."""
        return Limits(files=self.settings.max_files)


def open_address(
    address: Address,
    around: Surroundings,
    *,
    tick: Callable[[], None],
    fetch: bool = True,
    fetch_packages: bool = True,
) -> Opened:
    """Open a folder, a repository, an archive or a package; one that was fetched before can be read as it was then.

    Raises:
        SourceError: it cannot be fetched or unpacked.
    """
    if address.kind == PACKAGE:
        place = clone_folder(around.home, address.key)
        archive = fetched(address, place, around.settings.max_source_mb * 1_000_000, tick=tick, again=fetch_packages)
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
    return replace(opened, info=info, moved=fetched_now.moved, as_kept=False)


def open_place(place: Place, around: Surroundings) -> Opened:
    """Open something that Claude Code has on this machine."""
    past = history.read(place.location) if place.location.is_dir() and place.kind == "marketplace" else History()
    repository = place.repository or past.remote
    info = SourceInfo(place.key, place.kind, str(place.location), repository, past.commit)
    layout = _layout(place.plugin or place.location.name, around.machine, key=place.key)
    if place.plugin:
        facts = PluginFacts("", place.plugin, marketplace=place.marketplace, listed_as=place.plugin)
        layout = Layout(name=place.plugin, plugins={"": facts})
    return Opened(
        info,
        place.mounts,
        _site(place.location, place.marketplace_address, around.machine),
        layout,
        past,
        place.documents,
        place.installed,
        around.limits,
        _said(past),
    )


def _open_clone(address: Address, target: Path, around: Surroundings) -> Opened:
    """Open the clone of a repository as it lies in the home."""
    if not target.is_dir():
        message = f"{address.text} was never fetched here; `repertoire refresh` fetches it"
        raise SourceError(message)
    past = history.read(target, ours=True)
    info = SourceInfo(address.key, "git", address.text, address.repository, past.commit)
    site, layout = _site(target, _add_address(info), around.machine), _layout(info.key, around.machine)
    warnings = _said(past)
    return Opened(info, (Mount(target),), site, layout, past, limits=around.limits, warnings=warnings, as_kept=True)


def _open_folder(folder: Path, around: Surroundings) -> Opened:
    past = history.read(folder)
    key = past.remote or f"folder:{folder}"
    info = SourceInfo(key, "folder", str(folder), past.remote, past.commit)
    site = _site(folder, _add_address(info), around.machine)
    layout = _layout(key, around.machine)
    return Opened(info, (Mount(folder),), site, layout, past, limits=around.limits, warnings=_said(past))


def _open_archive(info: SourceInfo, archive: Path, around: Surroundings) -> Opened:
    scratch = taken_out(archive, clone_folder(around.home, info.key))
    return Opened(
        info,
        (Mount(scratch.root),),
        Site(),  # what is unpacked goes again: nothing can be copied from there
        replace(_layout(info.key, around.machine), is_package=True),
        limits=around.limits,
        warnings=scratch.warnings,
        scratch=scratch,
        refused=scratch.refused,
    )


def _add_address(info: SourceInfo) -> str:
    """Return what `/plugin marketplace add` takes to find a source."""
    if info.repository.startswith("github.com/"):
        return info.repository.removeprefix("github.com/")
    return f"https://{info.repository}.git" if info.repository else info.location


def _site(location: Path, address: str, machine: Machine) -> Site:
    return Site(str(location), address, machine.known_marketplaces, machine.installed_plugins, machine.disabled_plugins)


def _layout(name: str, machine: Machine, *, key: str = "") -> Layout:
    elsewhere = {plugin.rpartition("@")[0] for plugin, source in machine.described.items() if source != key}
    return Layout(name=name.rstrip("/").rpartition("/")[2] or name, elsewhere=frozenset(elsewhere))


def _said(past: History) -> tuple[str, ...]:
    return (past.warning,) if past.warning else ()
