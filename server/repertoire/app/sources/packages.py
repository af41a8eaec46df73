"""Fetches packages with the user's npm or pip, and unpacks archives into a temporary folder."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from repertoire.domain.errors import SourceError
from repertoire.sources import archives, packages
from repertoire.sources.address import Address, package_of
from repertoire.sources.scratch import remove, scratch


@dataclass(frozen=True)
class Scratch:
    """The temporary folder of an unpacked archive, deleted at the end of a `with` block."""

    root: Path  # the archive's single top folder, or else the whole folder
    refused: Mapping[str, str]  # reasons for refused entries, by path
    warnings: tuple[str, ...]
    lent: contextlib.ExitStack

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.lent.close()


def fetch_package(address: Address, place: Path, max_bytes: int, *, tick: Callable[[], None], again: bool) -> Path:
    """Return a package's archive in a folder of the home; fetch it if there is none, or if `again`.

    Raises:
        SourceError: the package cannot be fetched; an earlier archive stays.
    """
    kept = next((path for path in sorted(place.glob("*")) if archives.is_archive(path)), None)
    if kept is not None and not again:
        return kept
    try:
        with scratch(place) as fresh:
            found = packages.fetch(*package_of(address), fresh, max_bytes=max_bytes, tick=tick)
            remove(place)
            place.mkdir()
            return found.rename(place / found.name)
    except OSError as error:
        message = f"{place} cannot be written ({error.strerror}); free some space, or try again"
        raise SourceError(message) from error


def unpack_archive(archive: Path, place: Path) -> Scratch:
    """Unpack an archive into a new temporary folder beside a place.

    Raises:
        SourceError: the file is no archive, (SourceRefused) exceeds the limits, or does not fit on the disk.
    """
    with contextlib.ExitStack() as lent:
        try:
            folder = lent.enter_context(scratch(place))
        except OSError as error:
            message = f"{place.parent} cannot be written ({error.strerror}); free some space, or try again"
            raise SourceError(message) from error
        unpacked = archives.unpack(archive, folder)
        top = archives.single_root(unpacked)
        refused = {path.removeprefix(f"{top}/" if top else ""): reason for path, reason in unpacked.refused}
        return Scratch(folder / top, refused, _refusal_warnings(archive, refused), lent.pop_all())


def _refusal_warnings(archive: Path, refused: Mapping[str, str]) -> tuple[str, ...]:
    first = next(iter(refused.items()), None)
    if first is None:
        return ()
    return (f"{len(refused)} entries of {archive.name} were left out, such as {first[0]}: {first[1]}",)
