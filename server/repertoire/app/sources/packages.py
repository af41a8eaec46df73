"""Has packages fetched by a person's own npm or pip, and unpacks archives into a folder that goes when it was read."""

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
    """What was unpacked: a folder that is deleted on leaving."""

    root: Path  # where the content begins
    refused: Mapping[str, str]  # path -> reason
    warnings: tuple[str, ...]
    lent: contextlib.ExitStack

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.lent.close()


def fetched(address: Address, place: Path, max_bytes: int, *, tick: Callable[[], None], again: bool) -> Path:
    """Return a package's archive, kept at a place; fetched anew where `again` is said or none is there.

    Raises:
        SourceError: it cannot be fetched; the one that was kept stays.
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


def taken_out(archive: Path, place: Path) -> Scratch:
    """Unpack an archive into a new folder beside a place.

    Raises:
        SourceError: it is no archive, or (SourceRefused) one out of bounds, or there is no room for it.
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
        return Scratch(folder / top, refused, _said(archive, refused), lent.pop_all())


def _said(archive: Path, refused: Mapping[str, str]) -> tuple[str, ...]:
    first = next(iter(refused.items()), None)
    if first is None:
        return ()
    return (f"{len(refused)} entries of {archive.name} were left out, such as {first[0]}: {first[1]}",)
