"""Has packages fetched by a person's own npm or pip, and unpacks archives into a folder that goes when it was read."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from repertoire.domain.errors import SourceError
from repertoire.sources import archives, packages
from repertoire.sources.address import Address, package_of


@dataclass(frozen=True)
class Scratch:
    """What was unpacked: a folder that is deleted on leaving."""

    folder: Path
    root: Path  # in it, where the content begins
    refused: Mapping[str, str]  # path -> reason
    warnings: tuple[str, ...] = ()

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def fetched(address: Address, place: Path, max_bytes: int, *, tick: Callable[[], None], again: bool) -> Path:
    """Return a package's archive, kept at a place; fetched anew where `again` is said or none is there.

    Raises:
        SourceError: it cannot be fetched; the one that was kept stays.
    """
    kept = next((path for path in sorted(place.glob("*")) if archives.is_archive(path)), None)
    if kept is not None and not again:
        return kept
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".package-", dir=place.parent))
    try:
        found = packages.fetch(*package_of(address), fresh, max_bytes=max_bytes, tick=tick)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        return found.rename(place / found.name)
    except OSError as error:
        message = f"{place} cannot be written ({error.strerror}); free some space, or try again"
        raise SourceError(message) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def taken_out(archive: Path) -> Scratch:
    """Unpack an archive into a new folder.

    Raises:
        SourceError: it is no archive, or (SourceRefused) one out of bounds.
    """
    folder = Path(tempfile.mkdtemp(prefix="repertoire-"))
    try:
        unpacked = archives.unpack(archive, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    top = archives.single_root(unpacked)
    refused = {path.removeprefix(f"{top}/" if top else ""): reason for path, reason in unpacked.refused}
    first = next(iter(refused.items()), ("", ""))
    said = (
        (f"{len(refused)} entries of {archive.name} were left out, such as {first[0]}: {first[1]}",) if refused else ()
    )
    return Scratch(folder, folder / top, refused, said)
