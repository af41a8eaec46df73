"""Keeps the packs of a home: lists them by their manifests, and holds those that were asked open to read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from repertoire.app.packs.config_file import read_config_file
from repertoire.app.packs.places import CONFIG, DATABASE, MANIFEST, RESULTS, digest, put_back
from repertoire.documentation.config import PackConfig
from repertoire.documentation.manifest import MANIFEST_BYTES, PackManifest, read_manifest
from repertoire.domain.errors import PackRefused, UnknownPack
from repertoire.domain.pack import PACK_NAME
from repertoire.domain.text import clean_line
from repertoire.retrieval.pack_ranking import Examples
from repertoire.retrieval.sections import SectionIndex, read_sections
from repertoire.store.pack_file import PackStore

Opening = Callable[[Path], PackStore]  # opens a pack to read


@dataclass(frozen=True)
class OpenPack:
    """A pack that is open to read: its manifest, its database, its sections as arrays, and its settings."""

    manifest: PackManifest
    store: PackStore
    index: SectionIndex
    version: tuple[int, int]  # identifies the file, which another build may replace
    config: PackConfig = field(default_factory=PackConfig)
    # by model: the questions of the exam with their vectors and sections, once somebody needs them
    examples: dict[str, tuple[list[str], Examples]] = field(default_factory=dict)


@dataclass(frozen=True)
class PackListing:
    """The packs of a home: the manifests of those that can be read, and why others cannot, by folder name."""

    packs: tuple[PackManifest, ...]
    refused: dict[str, str]


class PackShelf:
    """The packs of a home; only one thread at a time may use it."""

    def __init__(self, folder: Path, opening: Opening) -> None:
        self._folder = folder
        self._opening = opening
        self._open: dict[str, OpenPack] = {}

    def listing(self) -> PackListing:
        """Return every pack in the order of the names."""
        found = {name: self._manifest_or_reason(name) for name in self._names()}
        packs = tuple(one for one in found.values() if isinstance(one, PackManifest))
        return PackListing(packs, {name: one for name, one in found.items() if isinstance(one, str)})

    def _manifest_or_reason(self, name: str) -> PackManifest | str:
        try:
            return self.manifest(name)
        except PackRefused as error:
            return str(error)

    def manifest(self, name: str) -> PackManifest:
        """Return the manifest of a pack.

        Raises:
            PackRefused: there is no such pack, or its manifest is invalid.
        """
        if not PACK_NAME.fullmatch(name) or name not in self._names():
            known = ", ".join(self._names()) or "none"
            message = (
                f"there is no pack {clean_line(name, 80)!r}; packs here: {known}; `repertoire pack build` makes one"
            )
            raise UnknownPack(message)
        try:
            with (self._folder / name / MANIFEST).open(encoding="utf-8") as file:
                text = file.read(MANIFEST_BYTES + 1)
        except (OSError, UnicodeDecodeError) as error:
            message = f"the manifest of pack {name} cannot be read ({error}); build or fetch the pack again"
            raise PackRefused(message) from error
        if len(text) > MANIFEST_BYTES:
            message = f"the manifest of pack {name} is larger than {MANIFEST_BYTES:,} characters; remove the pack"
            raise PackRefused(message)
        found = _read(text, name)
        if found.name != name:
            message = f"the manifest in the folder {name} is that of a pack {found.name}; rename the folder to that"
            raise PackRefused(message)
        return found

    def open(self, name: str, model: str) -> OpenPack:
        """Return a pack open to read, with the vectors of one model; it stays open until `close`.

        Raises:
            PackRefused: there is no such pack, its manifest is invalid, or its database is not the one that was built.
            StoreError: its database cannot be opened, or is none that a build makes.
        """
        manifest = self.manifest(name)
        path = self.folder(name) / DATABASE
        if not path.is_file() or path.is_symlink():
            message = f"pack {name} has no {DATABASE}; build or fetch the pack again"
            raise PackRefused(message)
        status = path.stat()
        version = (status.st_ino, status.st_mtime_ns)
        known = self._open.get(name)
        if known is not None and known.version == version:
            return known
        self.release(name)
        require_hash(path, DATABASE, manifest)
        settings = self.file(name, CONFIG)
        config = read_config_file(settings, place=f"pack {name}") if settings is not None else PackConfig()
        store = self._opening(path)
        try:
            with store.guarded():
                index = read_sections(store.graph, store.vectors, model)
        except BaseException:
            store.close()
            raise
        self._open[name] = OpenPack(manifest, store, index, version, config)
        return self._open[name]

    @property
    def home(self) -> Path:
        """The home that the packs belong to."""
        return self._folder.parent

    def folder(self, name: str) -> Path:
        """Return the folder of a pack."""
        return self._folder / name

    def file(self, name: str, path: str) -> Path | None:
        """Return a file that the manifest of a pack names, with the hash that it gives; None if it names no such file.

        Raises:
            PackRefused: there is no such pack, or the file is missing or was changed.
        """
        manifest = self.manifest(name)
        if path not in manifest.hashes:
            return None
        file = self.folder(name) / path
        if file.is_symlink() or not file.is_file():
            message = f"pack {name} has no {path}; build or fetch the pack again"
            raise PackRefused(message)
        require_hash(file, path, manifest)
        return file

    def strange_files(self, name: str) -> list[str]:
        """Return a fault for each file in the folder of a pack that its manifest does not name."""
        folder, known = self.folder(name), {MANIFEST, *self.manifest(name).hashes}
        inside = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
        return [f"{path} is not named by the manifest" for path in inside if path not in known and RESULTS not in path]

    def close(self) -> None:
        """Release every open pack."""
        for name in [*self._open]:
            self.release(name)

    def release(self, name: str) -> None:
        """Close a pack if it is open."""
        known = self._open.pop(name, None)
        if known is not None:
            known.store.close()

    def _names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        with suppress(OSError):  # a home that cannot be written is read as it is
            put_back(self._folder)
        found = (child for child in self._folder.iterdir() if PACK_NAME.fullmatch(child.name))
        return sorted(child.name for child in found if child.is_dir() and not child.is_symlink())


def require_hash(file: Path, path: str, manifest: PackManifest) -> None:
    """Check that a file of a pack has the hash that the manifest gives its path.

    Raises:
        PackRefused: the file was changed after the build.
    """
    if digest(file) != manifest.hashes.get(path):
        message = (
            f"{file} is not the file that was built as pack {manifest.name}: its hash differs from the manifest's; "
            "build or fetch the pack again"
        )
        raise PackRefused(message)


@lru_cache(maxsize=64)
def _read(text: str, name: str) -> PackManifest:
    return read_manifest(text, place=name)
