"""Finds files that are fetched and then run: two places that name one file, which no linear expression can compare."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from repertoire import linear

_FETCHES, _FETCHES_ALONE = re.compile(r"(?i)(?:curl|wget)\b"), re.compile(r"\b(?:curl|wget)\b")
_COMMAND = re.compile(r"[^\n;|]+")
_FILE, _QUOTED_FILE = r"[\w./~-]{2,80}", r"[\w./~$-]{2,80}"
_INTO, _INTO_QUOTED = (
    re.compile(
        rf"""(?ix) \s(?=(?:-\w*?o{mark}(?P<joined>{name}))?)
            (?:-\w*o|>|--output-document|--output) (?=[ =]*{mark}(?P<apart>{name}))"""
    )
    for mark, name in (("", _FILE), ("[\"']?", _QUOTED_FILE))
)
_BY = r"(?:ba|z|da)?sh\s+|python3?\s+|\./|source\s+|nohup\s+"
_END = r"""(?=\s|$|["'`&;])"""
_RUN = re.compile(
    rf"""(?ix) (?:&&|;)\s*(?:sudo\s+)?(?:{_BY}|exec\s+|start\s+|msiexec\s+(?:/\w+\s+)*)?(?P<file>{_FILE}){_END}"""
)
_RUN_FIRST = re.compile(
    rf"""(?x) \s*(?:(?:sudo\s+)?chmod\s+\S+\s+[^\s;&]+[^\S\n]*(?:&&|;|\n)\s*)?
        (?:sudo\s+)?(?:{_BY})?["']?(?P<file>{_QUOTED_FILE}){_END}"""
)
_REQUESTED = linear.compile(r"(?i)(?:Start-BitsTransfer|Invoke-WebRequest|iwr)\b[^\n]*?https?://")
_OUT_FILE = re.compile(r"""(?i)(?:-Destination|-OutFile)\s+["']?(?P<file>[^\s"']{3,80})["']?""")
_STARTED = re.compile(r"""(?i)(?:Start-Process|&|Invoke-Item)(?=\s*["']?(?P<file>[^\s"']{3}))""")
_RETRIEVED = re.compile(r"""(?i)\burlretrieve\(\s*["']https?://[^"']+["']\s*,\s*["'](?P<file>[^"']{3,80})["']""")
_CALLED = re.compile(r"""(?i)(?:system|run|Popen|call|exec\w{0,20})\(\s*\[?f?["'](?P<said>[^"']*)""")
_WORD = re.compile(r"\w+\s+")
_SOON, _LATER = 200, 300  # characters between what fetches and what runs
_LONGEST_CALL = 300
_ALL = re.compile(r"(?s).*")


@dataclass(frozen=True)
class Search:
    """Finds places by code, as expressions find them."""

    spans: Callable[[str], Iterator[tuple[int, int]]]

    def finditer(self, text: str, /) -> Iterator[re.Match[str]]:
        """Yield the places, from left to right."""
        for start, end in self.spans(text):
            found = _ALL.match(text, start, end)
            if found is not None:
                yield found


def on_one_line(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a line downloads a file and runs it after that."""
    waiting = list(_saved(text, _FETCHES, _INTO))[::-1]
    saved: dict[str, int] = {}
    for run in _RUN.finditer(text) if waiting else ():
        while waiting and waiting[-1][1] <= run.start():
            start, _, name = waiting.pop()
            _note(saved, name, start)
        starts = [saved[name] for name in _names(run) if name in saved]
        if starts:
            yield min(starts), run.end()


def on_the_next_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the first line downloads a file and one of the next two begins by running it."""
    first = text.partition("\n")[0]
    saved: dict[str, int] = {}
    for start, _, name in _saved(first, _FETCHES_ALONE, _INTO_QUOTED):
        _note(saved, name, start)
    second = len(first) + 1
    for place in (second, text.find("\n", second) + 1) if saved else ():
        run = _RUN_FIRST.match(text, place) if place else None
        if run is not None and any(name in saved for name in _names(run)):
            yield 0, run.end()


def by_other_means(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the first line fetches a file with PowerShell or Python and one of the next runs it."""
    first = text.partition("\n")[0]
    requested = _REQUESTED.search(first)
    for into in _OUT_FILE.finditer(first, requested.end()) if requested else ():
        near = text[into.end() : into.end() + _SOON + _LONGEST_CALL]
        for run in _STARTED.finditer(near):
            # what was unpacked from an archive lies beside it: paths that begin alike are enough
            if run.start() <= _SOON and run["file"].lower() == into["file"][:3].lower():
                yield 0, into.end() + run.end("file")
    for retrieved in _RETRIEVED.finditer(text) if "urlretrieve" in first else ():
        if retrieved.start() > len(first):
            return
        near = text[retrieved.end() : retrieved.end() + _LATER + _LONGEST_CALL]
        for call in _CALLED.finditer(near):
            if call.start() <= _LATER and _says(call["said"].lower(), retrieved["file"].lower()):
                yield 0, retrieved.end() + call.end()


def _saved(text: str, fetching: re.Pattern[str], into: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where each download begins, where its file's name ends, and that name, in lower case."""
    for command in _COMMAND.finditer(text):
        fetches = fetching.search(text, command.start(), command.end())
        if fetches is None:
            continue
        for target in into.finditer(text, fetches.end(), command.end()):
            for group in ("joined", "apart"):
                if target[group]:
                    yield fetches.start(), target.end(group), target[group].lower()


def _note(saved: dict[str, int], name: str, start: int) -> None:
    """Note every beginning of a name: `tool.tar.gz` is unpacked, and `tool` is run."""
    for end in range(2, len(name) + 1):
        saved.setdefault(name[:end], start)


def _names(run: re.Match[str]) -> tuple[str, ...]:
    name = run["file"].lower()
    start = run.start("file")
    return (name, f"./{name}") if run.string[max(0, start - 2) : start] == "./" else (name,)


def _says(said: str, name: str) -> bool:
    word = _WORD.match(said)
    return said.startswith(name) or (word is not None and said.startswith(name, word.end()))
