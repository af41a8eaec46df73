"""Keeps the state of each page of a website on the disk, so that a fetch which was killed goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DISCOVERED, CLAIMED, PROCESSED, FAILED = "discovered", "claimed", "processed", "failed"
_JOURNAL = "pages.jsonl"


@dataclass(frozen=True)
class PageState:
    """A page: how many links it is from where the fetch began, how far it came, the file that holds it, or why not."""

    url: str
    depth: int
    state: str = DISCOVERED
    tries: int = 0
    file: str = ""
    reason: str = ""
    modified: str = ""


class SiteState:
    """The pages of one fetch, in the order in which they were found; each change is appended to a file at once."""

    def __init__(self, folder: Path) -> None:
        """Read what an earlier fetch into this folder left; a page that it had claimed is to be fetched again."""
        self._path = folder / _JOURNAL
        self.pages: dict[str, PageState] = {}
        if self._path.is_file():
            for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
                row = _row(line)
                if row is not None:
                    self.pages[row.url] = row
        self._file = self._path.open("a", encoding="utf-8", newline="\n")
        if self._path.stat().st_size:
            self._file.write("\n")  # a line that a kill cut short ends here

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def put(self, page: PageState) -> None:
        """Record the state of a page."""
        self.pages[page.url] = page
        self._file.write(json.dumps(vars(page), ensure_ascii=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def waiting(self) -> Iterable[PageState]:
        """Yield the pages that are to be fetched, nearest first, also those that are found meanwhile."""
        while True:
            left = [page for page in self.pages.values() if page.state in (DISCOVERED, CLAIMED)]
            if not left:
                return
            yield min(left, key=lambda page: page.depth)

    def of(self, state: str) -> list[PageState]:
        """Return the pages in a state."""
        return [page for page in self.pages.values() if page.state == state]


def _row(line: str) -> PageState | None:
    try:
        value: Any = json.loads(line)
        return PageState(**value) if isinstance(value, dict) else None
    except (ValueError, TypeError, RecursionError):
        return None
