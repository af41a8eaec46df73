"""Unpacks untrusted archives: only regular files, inside one folder, within bounds; nothing is executed."""

from __future__ import annotations

import contextlib
import gzip
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from repertoire.domain.errors import SourceError, SourceRefused
from repertoire.domain.text import clean_line

SUFFIXES = (".tar.gz", ".tgz", ".tar", ".whl", ".zip")
_CHUNK = 1 << 16
_DEPTH = 24
_RATIO_COUNTS_FROM = 10_000_000  # bytes from which the ratio is checked: a small file of blanks is no attack
_END = b"PK\x05\x06"
_ZIP64 = b"PK\x06\x07"
_END_SIZE, _COMMENT_MOST = 22, 65_535
_LISTED = 400  # bytes of one entry in a zip's directory, with a long name
_LINK, _SPECIAL, _UNSAFE = "a link", "not a regular file", "its path is not one inside the archive"
_DAMAGED = (zlib.error, tarfile.TarError, zipfile.BadZipFile)
# Names that Windows reads as a drive, a stream or a device are refused on every system, so that all unpack the same.
_NOT_A_NAME = re.compile(r"[\x00-\x1f\x7f\\:]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


@dataclass(frozen=True)
class ArchiveBounds:
    """The limits for one archive; `ratio` is the number of unpacked bytes for each packed byte."""

    entries: int = 20_000
    file_bytes: int = 5_000_000  # size of one file; a larger one is left out
    total_bytes: int = 300_000_000  # size of everything that is decompressed
    ratio: int = 200


@dataclass(frozen=True)
class Unpacked:
    """The result of unpacking: the files in the folder, and the entries that were left out, with the reasons."""

    files: tuple[str, ...]
    refused: tuple[tuple[str, str], ...] = ()


@dataclass
class _Target:
    root: Path
    bounds: ArchiveBounds
    packed: int
    out: int = 0
    entries: int = 0
    files: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)

    def enter(self) -> None:
        self.entries += 1
        if self.entries > self.bounds.entries:
            message = f"the archive holds more than {self.bounds.entries:,} entries; it is not read"
            raise SourceRefused(message)

    def count(self, size: int) -> None:
        self.out += size
        most = self.bounds.total_bytes
        if self.out > _RATIO_COUNTS_FROM and self.out > self.packed * self.bounds.ratio:
            message = f"the archive unpacks to more than {self.bounds.ratio} times its size; it is not read"
            raise SourceRefused(message)
        if self.out > most:
            message = f"the archive unpacks to more than {most // 1_000_000:,} MB; it is not read"
            raise SourceRefused(message)

    def refuse(self, name: str, reason: str) -> None:
        self.refused.append((clean_line(name.encode("utf-8", "replace").decode(), 200), reason))


def is_archive(path: Path) -> bool:
    """Tell by its name whether a file is an archive in a format that is read."""
    return path.name.lower().endswith(SUFFIXES)


def unpack(archive: Path, target: Path, *, bounds: ArchiveBounds | None = None) -> Unpacked:
    """Write the regular files of a zip or a tar into an empty folder, without links and paths that lead out of it.

    Raises:
        SourceError: the file cannot be read as an archive.
        SourceRefused: the archive exceeds a limit; nothing of it may be used.
    """
    limits = bounds or ArchiveBounds()
    try:
        with archive.open("rb") as file:
            packed = archive.stat().st_size
            state = _Target(target, limits, packed)
            magic = file.read(4)
            file.seek(0)
            if magic.startswith((b"PK\x03\x04", _END)):
                _unzip(file, state)
            elif magic.startswith(b"\x1f\x8b"):
                with gzip.GzipFile(fileobj=file) as stream:
                    _untar(stream, state)
            else:
                _untar(file, state)
    except (OSError, EOFError, RuntimeError, ValueError, *_DAMAGED) as error:
        message = f"{archive.name} cannot be read as an archive ({clean_line(str(error), 120) or type(error).__name__})"
        raise SourceError(message) from None
    return Unpacked(tuple(state.files), tuple(state.refused))


def single_root(unpacked: Unpacked) -> str:
    """Return the one folder that holds all files, as in tars of packages; empty if there is none."""
    tops = {path.partition("/")[0] for path in unpacked.files}
    return tops.pop() if len(tops) == 1 and all("/" in path for path in unpacked.files) else ""


def _unzip(file: IO[bytes], state: _Target) -> None:
    _check_directory(file, state)
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            state.enter()
            if entry.filename.endswith("/"):  # its own is_dir() fails on a name that is empty
                continue
            mode = entry.external_attr >> 16
            if stat.S_ISLNK(mode):
                state.refuse(entry.filename, _LINK)
            elif stat.S_IFMT(mode) and not stat.S_ISREG(mode):
                state.refuse(entry.filename, _SPECIAL)
            elif entry.flag_bits & 1:
                state.refuse(entry.filename, "encrypted")
            else:
                _unzip_entry(archive, entry, state)


def _unzip_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, state: _Target) -> None:
    try:
        with archive.open(entry) as member:
            _write(entry.filename, entry.file_size, member, state)
    except (EOFError, RuntimeError, *_DAMAGED) as error:  # RuntimeError: an unknown method, or encrypted after all
        state.refuse(entry.filename, f"damaged ({clean_line(str(error), 80)})")


def _check_directory(file: IO[bytes], state: _Target) -> None:
    """Refuse a zip whose directory is too large, because `zipfile` would read it whole into memory."""
    start = max(0, state.packed - _END_SIZE - _COMMENT_MOST)
    file.seek(start)
    tail = file.read()
    file.seek(0)
    at = tail.rfind(_END)
    size = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    if _ZIP64 in tail[max(0, at - 20) : at] or size > state.bounds.entries * _LISTED:
        message = f"the archive holds more than {state.bounds.entries:,} entries; it is not read"
        raise SourceRefused(message)


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class _Counted:
    """A stream that counts all bytes read from it, so that headers and skipped entries count too."""

    def __init__(self, stream: _Readable, state: _Target) -> None:
        self._stream = stream
        self._state = state

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._state.count(len(data))
        return data


def _untar(stream: _Readable, state: _Target) -> None:
    with tarfile.open(fileobj=_Counted(stream, state), mode="r|", bufsize=_CHUNK) as archive:  # type: ignore[call-overload]
        for member in _members(archive, state):
            if member.isdir():
                continue
            if member.issym() or member.islnk():
                state.refuse(member.name, _LINK)
            elif not member.isreg() or member.issparse():
                state.refuse(member.name, _SPECIAL)
            else:
                content = archive.extractfile(member)
                if content is not None:
                    _write(member.name, member.size, content, state, counted=True)


def _members(archive: tarfile.TarFile, state: _Target) -> Iterator[tarfile.TarInfo]:
    while (member := archive.next()) is not None:
        archive.members = []  # type: ignore[attr-defined]  # else every header stays in memory
        state.enter()
        yield member


def _write(name: str, size: int, content: _Readable, state: _Target, *, counted: bool = False) -> None:
    path = _inside(name)
    if not path:
        state.refuse(name, _UNSAFE)
        return
    if size > state.bounds.file_bytes:
        state.refuse(path, f"larger than {state.bounds.file_bytes:,} bytes")
        return
    place = state.root / path
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = place.open("xb")  # never overwrites: two names may be the same file on this system
    except FileExistsError:
        state.refuse(path, "its name is taken by another entry")
    except NotADirectoryError:
        state.refuse(path, "it lies below what is a file")
    except OSError as error:
        state.refuse(path, f"cannot be written ({error.strerror})")
    else:
        _fill(file, place, content, None if counted else state)
        state.files.append(path)


def _fill(file: IO[bytes], place: Path, content: _Readable, counted: _Target | None) -> None:
    """Write an entry's bytes to its open file, which is deleted again where they cannot be read or written whole."""
    with contextlib.ExitStack() as on_failure:
        on_failure.callback(place.unlink)
        with file:
            while data := content.read(_CHUNK):
                if counted is not None:
                    counted.count(len(data))
                file.write(data)
        on_failure.pop_all()


def _inside(name: str) -> str:
    """Return an entry's name as a path inside the folder; empty if it would lie outside."""
    parts = name.split("/")
    while parts and parts[0] == ".":
        parts = parts[1:]
    try:
        name.encode()
    except UnicodeEncodeError:
        return ""
    safe = 0 < len(parts) <= _DEPTH and all(
        part not in ("", ".", "..") and not _NOT_A_NAME.search(part) for part in parts
    )
    return "/".join(parts) if safe else ""
