"""Reads and writes the folder of a mirror, within bounds and never through a link."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.app.clock import now
from repertoire.domain.errors import StoreError
from repertoire.domain.project import ENTRIES
from repertoire.sources import crawl
from repertoire.sources.crawl import CrawlLimits, Mount

_LOG, HISTORY, _ATTRIBUTES = "log.jsonl", "history.jsonl", ".gitattributes"
_UNION = tuple(f"{name} merge=union" for name in (_LOG, HISTORY))  # so that those of two branches merge line by line
_LIMITS = CrawlLimits(files=20_000, depth=3)
_LARGEST = 64_000  # bytes of an entry's file
_LARGEST_HISTORY = 10_000_000


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
        names = (_LOG, HISTORY, _ATTRIBUTES, *(f"{kind}s" for kind in ENTRIES))
        own = (self.root, *(self.root / name for name in names))
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
            path = self._as_written(entry.path)
            large = entry.size > _LARGEST
            data = f"larger than {_LARGEST:,} bytes ({entry.size:,})" if large else crawl.read(entry)
            text = crawl.decode(data) if isinstance(data, bytes) else None
            if text is None:
                found.unread[path] = data if isinstance(data, str) else "it is no text in UTF-8"
            found.files[path] = FolderFile(path, text or "", "" if text is None else digest_of(text))
        return found

    def _as_written(self, path: str) -> str:
        """Return a path with composed accents, as it was written, where a file system lists them apart (HFS+)."""
        composed = unicodedata.normalize("NFC", path)
        return composed if composed != path and (self.root / composed).exists() else path

    def seen(self) -> tuple[tuple[str, int, int], ...]:
        """Return what shows that a file was changed, without reading it."""

        def files() -> Iterator[tuple[str, int, int]]:
            for folder in (self.root / f"{kind}s" for kind in ENTRIES):
                with contextlib.suppress(OSError), os.scandir(folder) as found:
                    for one in found:
                        known = one.stat(follow_symlinks=False)
                        yield one.path, crawl.changed_at(known), known.st_size

        return tuple(sorted(files()))

    def has(self, path: str) -> bool:
        """Tell whether there is such a file."""
        return crawl.is_file(self.root / path)

    def write(self, path: str, text: str) -> None:
        """Replace a file, or make it with its folders."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}.tmp")
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(file)

    def history(self) -> str | None:
        """Return the text of the file of what no entry's file tells; None if it is too large or no text."""
        file = self.root / HISTORY
        if not file.is_file():
            return ""
        data = file.read_bytes() if file.stat().st_size <= _LARGEST_HISTORY else b"\0"
        return crawl.decode(data)

    def write_history(self, text: str) -> None:
        """Replace that file."""
        self.write(HISTORY, text)
        self._merge_by_lines()

    def _merge_by_lines(self) -> None:
        """Tell git which files of two branches merge line by line."""
        attributes = self.root / _ATTRIBUTES
        known = attributes.read_text(encoding="utf-8", errors="replace") if attributes.exists() else ""
        missing = [line for line in _UNION if line not in known.splitlines()]
        if missing:
            with attributes.open("a", encoding="utf-8", newline="\n") as file:
                file.write("".join(f"{line}\n" for line in missing))

    def delete(self, path: str) -> None:
        """Delete a file."""
        (self.root / path).unlink(missing_ok=True)

    def log(self, did: str, key: str) -> None:
        """Append a line to the log, which nothing reads: it is for people and for git."""
        self.root.mkdir(parents=True, exist_ok=True)
        self._merge_by_lines()
        with (self.root / _LOG).open("a", encoding="utf-8", newline="\n") as log:
            log.write(json.dumps({"at": now(), "entry": key, "did": did}) + "\n")


def digest_of(text: str) -> str:
    """Return the hash of a text, the same for both ways to end lines."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()
