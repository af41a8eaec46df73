"""Shares packs: exports one as a file, takes one in that somebody else made, and removes one."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

from repertoire.app.packs.checks import require_harmless, require_sound
from repertoire.app.packs.places import MANIFEST, digest, manifest_at, packs_folder, put_back, take_place
from repertoire.app.packs.shelf import Opening, PackShelf
from repertoire.app.packs.signing import SIGNATURE, SIGNATURE_BYTES, SigningKey, require_signature, sign_manifest
from repertoire.boot.private_file import set_mode
from repertoire.documentation.manifest import MANIFEST_BYTES, PackManifest, read_manifest
from repertoire.domain.errors import CorruptStore, InvalidRequest, PackRefused, UnknownSource
from repertoire.domain.text import clean_line
from repertoire.sources.archives import ArchiveBounds, is_archive, unpack
from repertoire.sources.scratch import scratch

SUFFIX = ".pack.zip"
_BOUNDS = ArchiveBounds(entries=50, file_bytes=2_000_000_000, total_bytes=2_100_000_000, ratio=100)
_MOST_BYTES = 2_000_000_000  # of a file of a pack
_DATE = (1980, 1, 1, 0, 0, 0)  # of every entry: equal packs give equal archives


@dataclass(frozen=True)
class SharedPack:
    """A pack that was exported, taken in or removed: the place, and its manifest."""

    place: Path
    manifest: PackManifest | None  # None: it could not be read
    hash: str = ""  # SHA-256 of an exported file
    before: str = ""  # version of the pack that an installed one replaced


def export_pack(shelf: PackShelf, name: str, target: Path, *, key: SigningKey | None = None) -> SharedPack:
    """Write a pack as one file, with a signature of its manifest if a key is given; equal packs give equal files.

    Raises:
        PackRefused: there is no such pack, a file of it changed after the build, or the target exists.
        InvalidRequest: the key cannot sign, or there is no folder for the file.
    """
    manifest = shelf.manifest(name)
    place = target / f"{name}-{manifest.version}{SUFFIX}" if target.is_dir() else target
    if not place.parent.is_dir():
        message = f"there is no folder {place.parent} to write {place.name} into; make it, or name another"
        raise InvalidRequest(message)
    if place.exists():
        message = f"{place} exists; name another file"
        raise PackRefused(message)
    files = {MANIFEST: shelf.folder(name) / MANIFEST}
    for path in sorted(manifest.hashes):
        file = shelf.file(name, path)
        if file is None:
            message = f"pack {name} has no {path}, which its manifest names; build or fetch the pack again"
            raise PackRefused(message)
        files[path] = file
    named = f"pack {name} {manifest.version}"
    signature = sign_manifest(files[MANIFEST].read_bytes(), named, key) if key is not None else b""
    with zipfile.ZipFile(place, "x", zipfile.ZIP_DEFLATED) as archive:
        for path, file in files.items():
            with archive.open(_entry(path), "w", force_zip64=True) as into, file.open("rb") as stream:
                shutil.copyfileobj(stream, into)
        if signature:
            archive.writestr(_entry(SIGNATURE), signature)
    return SharedPack(place, manifest, digest(place))


def _entry(path: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, _DATE)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100444 << 16
    return entry


def install_pack(
    home: Path, origin: str, opening: Opening, *, replace: bool = False, verify_key: str = ""
) -> SharedPack:
    """Take in a pack from a file or a folder: only what its manifest names, with its hashes, and only if it is sound.

    With a public key of minisign, as a file or as text, only a pack whose manifest that key signed is taken in.

    Raises:
        PackRefused: it is no pack, is damaged, contradicts its manifest, is not signed by the key, holds a text that
            gives a model orders, or one of its name is here.
        InvalidRequest: the key is none.
        SourceError: the archive cannot be read, or exceeds a limit.
        StoreError: its database is none that a build makes.
    """
    source = Path(origin).expanduser()
    with scratch(packs_folder(home) / "any") as beside:
        folder = beside / "unpacked"
        folder.mkdir()
        if source.is_dir():
            folder = source
        elif source.is_file() and is_archive(source):
            unpack(source, folder, bounds=_BOUNDS)
        else:
            message = f"{clean_line(origin, 200)} is no file or folder of a pack; `repertoire pack export` makes a file"
            raise UnknownSource(message)
        manifest = _manifest(folder, origin)
        target = packs_folder(home) / manifest.name
        put_back(target.parent)
        if target.exists() and not replace:
            message = f"there is a pack {manifest.name} already; add --replace to install this one in its place"
            raise PackRefused(message)
        taken = beside / "taken" / manifest.name
        taken.mkdir(parents=True)
        for path in (MANIFEST, *manifest.hashes):
            _copy(folder, taken, path)
        if verify_key:
            signature = _signature(folder, clean_line(origin, 200))
            require_signature((taken / MANIFEST).read_bytes(), signature, verify_key, place=clean_line(origin, 200))
        shelf = PackShelf(taken.parent, opening)
        try:
            for path in manifest.hashes:
                shelf.file(manifest.name, path)
            require_sound(shelf, manifest.name)
            require_harmless(shelf, manifest.name)
        except CorruptStore as error:  # its own words speak of the person's database, and of a folder that goes
            message = f"pack {manifest.name} is damaged: its database cannot be read to the end; fetch it again"
            raise PackRefused(message) from error
        finally:
            shelf.close()
        before = manifest_at(target)
        take_place(taken, target)
    return SharedPack(target, manifest, before=before.version if before is not None else "")


def removable_pack(shelf: PackShelf, name: str) -> PackManifest | None:
    """Return the manifest of a pack of this home; None for a broken one.

    Raises:
        PackRefused: there is no such pack.
    """
    try:
        return shelf.manifest(name)
    except PackRefused:
        if name not in shelf.listing().refused:
            raise
        return None


def remove_pack(home: Path, shelf: PackShelf, name: str) -> SharedPack:
    """Delete a pack of this home; a broken one too.

    Raises:
        PackRefused: there is no such pack.
    """
    manifest = removable_pack(shelf, name)
    folder = packs_folder(home) / name
    shelf.release(name)
    with scratch(folder) as beside:
        folder.rename(beside / "removed")
    return SharedPack(folder, manifest)


def _manifest(folder: Path, origin: str) -> PackManifest:
    place = folder / MANIFEST
    if place.is_symlink() or not place.is_file():
        message = f"{clean_line(origin, 200)} holds no {MANIFEST} at its top; it is no pack"
        raise PackRefused(message)
    with place.open("rb") as file:
        data = file.read(MANIFEST_BYTES + 1)
    if len(data) > MANIFEST_BYTES:
        message = f"the manifest of {clean_line(origin, 200)} is larger than {MANIFEST_BYTES:,} bytes; it is no pack"
        raise PackRefused(message)
    return read_manifest(data.decode("utf-8", "replace"), place=clean_line(origin, 200))


def _signature(folder: Path, origin: str) -> bytes | None:
    """Return the signature beside the manifest; None if there is none."""
    place = folder / SIGNATURE
    if place.is_symlink() or not place.is_file():
        return None
    if place.stat().st_size > SIGNATURE_BYTES:
        message = f"the signature of {origin} is larger than {SIGNATURE_BYTES:,} bytes; it is none"
        raise PackRefused(message)
    return place.read_bytes()


def _copy(folder: Path, taken: Path, path: str) -> None:
    source, target = folder / path, taken / path
    if source.is_symlink() or not source.is_file() or not source.resolve().is_relative_to(folder.resolve()):
        message = f"the pack lacks {clean_line(path, 200)}, which its manifest names; fetch it again"
        raise PackRefused(message)
    if source.stat().st_size > _MOST_BYTES:
        message = f"{clean_line(path, 200)} is larger than {_MOST_BYTES:,} bytes; the pack is not taken in"
        raise PackRefused(message)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    set_mode(target, 0o444)
