"""Reads from a prompt whether it opens by saying that what was just done is wrong; in doubt it does not.

A wrong yes marks an innocent component as failed, a wrong no leaves an outcome unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from repertoire.learning.disapproval import ALONE, BARE_NO, OPENS, TURNED_DOWN, UNDONE, WRONG

_READ = 300  # characters: whoever corrects says so first
_CLAUSE = re.compile(r"([^,.!?;:。！？、；：，\n]|[,.:](?=\S))+([,.!?;:。！？、；：，\n]*)")  # noqa: RUF001 - as typed in Chinese
_DASH = re.compile(r"(?<!\s)\s+[-–—]+\s+")  # noqa: RUF001
_CONDITION = re.compile(r"(?:if|when|once|unless|in case|wenn|falls|si|quand|cuando|se)\b", re.IGNORECASE)
_ASKED_WHY = re.compile(r"why\b", re.IGNORECASE)
# of a list, before a colon
_HEADING = re.compile(r"(?:not|still|wrong|incorrect|broken|failed)(?: \w+)?", re.IGNORECASE)
_TAIL = 300  # characters of a message, in which it asks
_BRIEF = 14  # words of a prompt that only says what is wrong
_SHORT = 4  # words that may stand before the clause that says it


def corrects(prompt: str, *, answers: bool = False) -> bool:
    """Tell whether a prompt opens by saying that what was done is wrong, or is to be undone.

    Where it answers a question, "no, the second one" turns down nothing that was done.
    """
    text = prompt[:_READ].strip().replace("’", "'")  # noqa: RUF001
    turned_down = not answers and (TURNED_DOWN.match(text) or BARE_NO.fullmatch(text)) is not None
    return turned_down or _opens_so(text) or _ends_undoing(text) or _is_all(text)


def _opens_so(text: str) -> bool:
    before = 0
    for clause, end in _clauses(text):
        lists = ":" in end and _HEADING.fullmatch(clause)
        asks = "?" in end and not _ASKED_WHY.match(_said(clause))
        if not lists and not asks and (WRONG.fullmatch(_said(clause)) or WRONG.fullmatch(clause)):
            return True
        before += len(_said(clause).split())
        if before > _SHORT:
            break
    return False


def _ends_undoing(text: str) -> bool:
    last = [_said(clause) for clause, _ in _clauses(text)][-1:]
    return bool(last) and UNDONE.fullmatch(last[0]) is not None and not _CONDITION.match(text)


def _is_all(text: str) -> bool:
    clauses = list(_clauses(text))
    if len(clauses) != 1 or "?" in clauses[0][1] or len(text.split()) > _BRIEF:
        return False
    return ALONE.fullmatch(_said(clauses[0][0])) is not None


def _said(clause: str) -> str:
    opens = OPENS.match(clause)
    return clause[opens.end() :] if opens else clause


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """Yield the clauses of a text, and of each what ends it."""
    for found in _CLAUSE.finditer(_DASH.sub(", ", text)):
        clause = found[0][: len(found[0]) - len(found[2])].strip().strip("\"'`")
        if clause:
            yield clause, found[2]


def asks(message: str) -> bool:
    """Tell whether a message asks something at its end, though "let me know" or a list of choices may follow."""
    return any(mark in message[-_TAIL:] for mark in "?？")  # noqa: RUF001
