"""Says in English which time a question in another language asks of, and what was done then, by `time_words.txt`.

Below the code of a language, a line has English words and, after a colon, what says them: `*` stands for any ending,
`#` for a number. A line that begins with a number gives its words; those after `since <` stand before a time, those
after `since >` behind it, and those after `no time` say none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("time_words.txt")
_UNPARTED = frozenset(("zh", "ja", "ko"))  # languages in which no blank ends a word
_LANGUAGE = re.compile(r"^\[(\w+)\]\n", re.MULTILINE)
_YEAR = r"(?:(?P<year>\d{4}) ?[年년] ?)?"
_NO_TIME = "no time"  # words in which a shorter one would say a time
_IN, _NOTHING, _ACTS = "in ", "(?!)", ("decided", "done")


class _Words(NamedTuple):
    """The words of one language, and the English for each."""

    time: re.Pattern[str]  # with what stands before and behind it
    times: Mapping[str, re.Pattern[str]]  # by their English
    sides: Mapping[str, str]
    number: re.Pattern[str]
    numbers: Mapping[str, str]
    acts: Mapping[str, re.Pattern[str]]


def asked_in_english(question: str, language: str) -> tuple[str, str]:
    """Return in English the first time that a question names and what was done then; and the question without them."""
    words = _words_of(language) if language else None
    if words is None:
        return "", question
    text = unicodedata.normalize("NFC", question).replace("\u2019", "'")
    asked: list[str] = []
    times = ((found, english) for found in words.time.finditer(text) if (english := _time(found, words)) != _NO_TIME)
    if (first := next(times, None)) is not None:
        found, time = first
        asked.append(time)
        text = f"{text[: found.start()]} {text[found.end() :]}"
    for act, said in words.acts.items():
        text, count = said.subn(" ", text)
        asked.extend([act] if count else [])
    return " ".join(asked), text if asked else question


def _time(found: re.Match[str], words: _Words) -> str:
    english = next(english for english, said in words.times.items() if said.fullmatch(found["time"]))
    number = words.number.search(found["time"])
    told = number[0].lower() if number else ""
    side = words.sides.get((found["before"] or found["behind"] or "").lower(), "")
    whole = f"{side} {english.removeprefix(_IN) if side else english} {found['year'] or ''}".strip()
    return whole.replace("#", words.numbers.get(told, told))


@cache
def _words_of(code: str) -> _Words | None:
    """Return the words of a language; None where there are none."""
    parts = _LANGUAGE.split(_FILE.read_text(encoding="utf-8"))
    lines = dict(zip(parts[1::2], parts[2::2], strict=True)).get(code)
    return None if lines is None else _read(lines, parted=code not in _UNPARTED)


def _read(lines: str, *, parted: bool) -> _Words:
    """Read the lines of one language, in which blanks part words or do not."""
    rows = {english: said.split(", ") for english, _, said in (line.partition(": ") for line in lines.splitlines())}
    numbers = {word: english for english, said in rows.items() if english.isdigit() for word in said}
    sides = {word: english[:-2] for english, said in rows.items() if english[-1] in "<>" for word in said}
    number = rf"(?<![\d{'' if parted else ''.join(numbers)}])(?:\d{{1,3}}|{_any(numbers)})"
    times = {english: said for english, said in rows.items() if english[-1].isalpha() and english not in _ACTS}
    before, behind = ([word for row in rows if row[-1] == mark for word in rows[row]] for mark in "<>")
    any_time = _any((form for said in times.values() for form in said), number)
    begins, ends, blank = (r"(?<!\w)", r"(?!\w)", r"(?: +|(?<='))") if parted else ("", "", " ?")
    time = f"{begins}(?:(?P<before>{_any(before)}){blank})?{_YEAR}(?P<time>{any_time}){ends}"
    return _Words(
        _compiled(f"{time}(?: ?(?P<behind>{_any(behind)}))?"),
        {english: _compiled(_any(said, number)) for english, said in times.items()},
        sides,
        _compiled(number),
        numbers,
        {act: _compiled(f"{begins}(?:{_any(rows[act])}){ends}") for act in _ACTS},
    )


def _any(forms: Iterable[str], number: str = "") -> str:
    """Return an expression for any of some forms, the longest first."""
    written = (re.escape(form).replace(r"\*", r"\w{0,9}").replace(r"\#", number) for form in forms)
    return "|".join(sorted(written, key=len, reverse=True)) or _NOTHING


def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)
