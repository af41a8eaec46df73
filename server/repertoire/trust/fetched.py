"""Finds files that are downloaded and then run, by comparing names, which no linear expression can do."""

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
_SOON, _LATER = 200, 300  # characters between download and run, in PowerShell and in Python
_LONGEST_CALL = 300
_ALL = re.compile(r"(?s).*")


@dataclass(frozen=True)
class Search:
    """A search by code with the interface of a regular expression."""

    spans: Callable[[str], Iterator[tuple[int, int]]]

    def finditer(self, text: str, /) -> Iterator[re.Match[str]]:
        """Yield a match for each span, from left to right."""
        for start, end in self.spans(text):
            found = _ALL.match(text, start, end)
            if found is not None:
                yield found


def on_one_line(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans from a download to the run of the same file, on one line."""
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
    """Yield the spans from a download on the first line to the run of the same file on the next two."""
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
    """Yield the spans from a download by PowerShell or Python on the first line to the run of the same file."""
    first = text.partition("\n")[0]
    requested = _REQUESTED.search(first)
    for into in _OUT_FILE.finditer(first, requested.end()) if requested else ():
        near = text[into.end() : into.end() + _SOON + _LONGEST_CALL]
        for run in _STARTED.finditer(near):
            # files unpacked from an archive lie beside it: paths with the same beginning are enough
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
    """Yield for each download its start, the end of its file name, and that name in lower case."""
    for command in _COMMAND.finditer(text):
        fetches = fetching.search(text, command.start(), command.end())
        if fetches is None:
            continue
        for target in into.finditer(text, fetches.end(), command.end()):
            for group in ("joined", "apart"):
                if target[group]:
                    yield fetches.start(), target.end(group), target[group].lower()


def _note(saved: dict[str, int], name: str, start: int) -> None:
    """Save every prefix of a file name, because `tool.tar.gz` may be unpacked and `tool` run."""
    for end in range(2, len(name) + 1):
        saved.setdefault(name[:end], start)


def _names(run: re.Match[str]) -> tuple[str, ...]:
    name = run["file"].lower()
    start = run.start("file")
    return (name, f"./{name}") if run.string[max(0, start - 2) : start] == "./" else (name,)


def _says(said: str, name: str) -> bool:
    word = _WORD.match(said)
    return said.startswith(name) or (word is not None and said.startswith(name, word.end()))
