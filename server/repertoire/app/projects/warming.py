"""Loads what the first change of a project would wait for: readers of its languages, detectors of secrets."""

from __future__ import annotations

from pathlib import Path

from repertoire.app.projects.lines import clean
from repertoire.app.projects.reading import read_file
from repertoire.app.projects.resolving import modules_of
from repertoire.projects.languages import MARKDOWN, PARSED, language_of
from repertoire.sources.crawl import FoundFile
from repertoire.store.project_file import ProjectStore

_LANGUAGES = 3  # the most frequent ones
_SMALL = 20_000  # bytes


def warm(memory: ProjectStore, root: Path) -> None:
    """Read a small file of each frequent language, to no effect but that what reads it is loaded."""
    frequent = [one for one in memory.languages() if one in PARSED or one == MARKDOWN][:_LANGUAGES]
    known = memory.known()
    for language in frequent:
        paths = (path for path, one in known.items() if one.size < _SMALL and language_of(path) == language)
        path = next((path for path in paths if (root / path).is_file()), "")
        if path:
            read_file(FoundFile.at(root / path, path))
    clean('password = "what looks like a secret loads the detectors"', "a.py")
    modules_of(memory.programs())
