"""Reads the lines of a project's file as they are now, without its secrets."""

from __future__ import annotations

import os
from pathlib import Path

from repertoire.projects.languages import holds_secrets, quotes_nothing
from repertoire.sources import crawl
from repertoire.sources.crawl import FoundFile
from repertoire.trust.redaction import redact_file


def lines_of(root: Path, path: str) -> list[str]:
    """Return the lines of a file below a root, without its secrets; none where it cannot be read."""
    location = Path(os.path.normpath(root / path))
    if not location.is_relative_to(root) or not location.resolve().is_relative_to(root.resolve()):
        return []
    if location.is_symlink() or not location.is_file() or holds_secrets(path):
        return []
    data = crawl.read(FoundFile.at(location, path))
    text = crawl.decode(data) if isinstance(data, bytes) else None
    return [] if text is None else clean(text, path).split("\n")


def clean(text: str, path: str) -> str:
    """Return the text of the file at a path with plain line ends and without its secrets."""
    return redact_file(text.replace("\r\n", "\n").replace("\r", "\n"), bare=quotes_nothing(path))
