"""Reads and writes the folder of a mirror, within bounds and never through a link."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.app.clock import now
from repertoire.domain.errors import StoreError
from repertoire.domain.project import ENTRIES
from repertoire.sources import crawl
from repertoire.sources.crawl import CrawlLimits, Mount

_LOG, _ATTRIBUTES = "log.jsonl", ".gitattributes"
_UNION = f"{_LOG} merge=union\n"  # so that the logs of two branches merge line by line
_LIMITS = CrawlLimits(files=5_000, depth=3, text_bytes=50_000_000)
_LARGEST = 64_000  # bytes of an entry's file


@dataclass(frozen=True)
class FolderFile:
    """A file of the mirror; one that cannot be read has neither text nor digest."""

    path: str
    text: str
    digest: str


@dataclass
class Listed:
    """The files of a mirror by path, and why some were not read; `whole` is false where a limit ended the listing."""

    files: dict[str, FolderFile] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    whole: bool = True


class MirrorFolder:
    """The folder `.repertoire` of a project."""

    def __init__(self, root: Path) -> None:
        """Name the folder, which need not exist."""
        self.root = root

    def refuse_links(self) -> None:
        """Refuse a mirror that leads elsewhere: a stranger's project must not choose what is written to.

        Raises:
            StoreError: the folder, or something in it that is written to, is a link.
        """
        own = (self.root, self.root / _LOG, self.root / _ATTRIBUTES, *(self.root / f"{kind}s" for kind in ENTRIES))
        for path in own:
            if path.is_symlink():
                message = f"{path} is a link, and nothing is written through it; put a folder or file of its own there"
                raise StoreError(message)

    def read(self) -> Listed:
        """Read the files of entries; what lies at the top, as a README, is none."""
        listing, found = crawl.walk((Mount(self.root),), limits=_LIMITS), Listed()
        found.unread.update({item.path: item.reason for item in listing.refused})
        if listing.truncated:
            found.unread["."] = listing.truncated
            found.whole = False
        for entry in listing.entries:
            if not entry.path.endswith(".md") or "/" not in entry.path:
                continue
            large = entry.size > _LARGEST
            data = f"larger than {_LARGEST:,} bytes ({entry.size:,})" if large else crawl.read(entry)
            text = crawl.decode(data) if isinstance(data, bytes) else None
            if text is None:
                found.unread[entry.path] = data if isinstance(data, str) else "it is no text in UTF-8"
            found.files[entry.path] = FolderFile(entry.path, text or "", "" if text is None else digest_of(text))
        return found

    def seen(self) -> tuple[tuple[str, int, int], ...]:
        """Return what shows that a file was changed, without reading it."""

        def files() -> Iterator[tuple[str, int, int]]:
            for folder in (self.root / f"{kind}s" for kind in ENTRIES):
                with contextlib.suppress(OSError), os.scandir(folder) as found:
                    for one in found:
                        known = one.stat(follow_symlinks=False)
                        yield one.path, known.st_mtime_ns, known.st_size

        return tuple(sorted(files()))

    def write(self, path: str, text: str) -> None:
        """Replace a file, or make it with its folders."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}.tmp")
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(file)

    def delete(self, path: str) -> None:
        """Delete a file."""
        (self.root / path).unlink(missing_ok=True)

    def log(self, did: str, key: str) -> None:
        """Append a line to the log, which nothing reads: it is for people and for git."""
        self.root.mkdir(parents=True, exist_ok=True)
        attributes = self.root / _ATTRIBUTES
        if not attributes.exists():
            attributes.write_text(_UNION, encoding="utf-8", newline="\n")
        with (self.root / _LOG).open("a", encoding="utf-8", newline="\n") as log:
            log.write(json.dumps({"at": now(), "entry": key, "did": did}) + "\n")


def digest_of(text: str) -> str:
    """Return the hash of a text, the same for both ways to end lines."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()
