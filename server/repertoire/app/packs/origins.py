"""Fetches the pack that an origin names: a file or folder, the address of a file, or a git repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from repertoire.app.current_project import project_folder
from repertoire.app.packs.places import packs_folder
from repertoire.app.packs.sharing import SUFFIX
from repertoire.app.sources.opening import Surroundings, open_address
from repertoire.domain.errors import SourceError, UnknownSource
from repertoire.domain.text import clean_line
from repertoire.settings import Settings
from repertoire.sources import address as addresses
from repertoire.sources import installed
from repertoire.sources.address import GIT
from repertoire.sources.public_hosts import PublicHosts
from repertoire.sources.scratch import scratch
from repertoire.sources.web import PageLimits, WebClient

_ARCHIVE = ".zip"
_FETCHED = PageLimits(size=300_000_000, seconds=600.0)


@contextmanager
def fetched_pack(home: Path, origin: str, settings: Settings, *, allowed: frozenset[str]) -> Iterator[Path]:
    """Lend the file or folder of a pack; `allowed` are hosts that need not be public. Nothing is checked yet.

    A repository may name a folder in it behind `#`, as in `https://github.com/owner/packs.git#axum`.

    Raises:
        SourceError: it cannot be fetched, or the origin names nothing.
    """
    place = Path(origin).expanduser()
    here = False
    with suppress(OSError, ValueError):  # too long a name, an odd character
        here = place.exists()
    if here:
        yield place
        return
    parts = urlsplit(origin)
    if parts.scheme in ("http", "https") and parts.path.endswith(_ARCHIVE):
        with scratch(packs_folder(home) / "any") as beside, WebClient(PublicHosts(allowed), _FETCHED, ()) as client:
            file = beside / f"fetched{SUFFIX}"
            file.write_bytes(client.fetch(origin).body)
            yield file
        return
    yield _in_repository(home, origin, settings)


def _in_repository(home: Path, origin: str, settings: Settings) -> Path:
    """Return the folder in the clone of a repository that an address names."""
    place, _, inner = origin.partition("#")
    project = project_folder()
    try:
        address = addresses.parse(place, trusted=True, project=project)
    except SourceError as error:
        message = f"{clean_line(origin, 200)} is no file or folder of a pack, nor an address of one: {error}"
        raise (UnknownSource if isinstance(error, UnknownSource) else SourceError)(message) from error
    if address.kind != GIT:
        message = f"{clean_line(origin, 200)} is no file or folder of a pack; `repertoire pack export` makes a file"
        raise SourceError(message)
    around = Surroundings(home, settings, installed.look(os.environ, project=project))
    root = open_address(address, around, tick=lambda: None).mounts[0].root
    folder = root / inner
    if not folder.resolve().is_relative_to(root.resolve()):
        message = f"{clean_line(inner, 120)} leads out of the repository {clean_line(place, 120)}; name a folder in it"
        raise SourceError(message)
    return folder
