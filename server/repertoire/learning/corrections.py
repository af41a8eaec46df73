"""Detects prompts that begin by saying that the last step was wrong; in doubt a prompt does not.

A false positive marks an innocent component as failed, a false negative only leaves its outcome unknown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from repertoire.domain.chinese import readings
from repertoire.learning.disapproval import ALONE, BARE_NO, OPENS, TURNED_DOWN, UNDONE, WRONG

_READ = 300  # characters of a prompt that are read: a correction stands at its beginning
_CLAUSE = re.compile(r"([^,.!?;:。！？、；：，\n]|[,.:](?=\S))+([,.!?;:。！？、；：，\n]*)")  # noqa: RUF001 - as typed in Chinese
_DASH = re.compile(r"(?<!\s)\s+[-–—]+\s+")  # noqa: RUF001
_CONDITION = re.compile(r"(?:if|when|once|unless|in case|wenn|falls|si|quand|cuando|se)\b", re.IGNORECASE)
_ASKED_WHY = re.compile(r"why\b", re.IGNORECASE)
# words before a colon that begin a list
_HEADING = re.compile(r"(?:not|still|wrong|incorrect|broken|failed)(?: \w+)?", re.IGNORECASE)
_TAIL = 300  # characters at the end of a message in which a question is looked for
_BRIEF = 14  # words of a prompt that is nothing but a correction, at most
_SHORT = 4  # words that may stand before the correcting clause


def corrects(prompt: str, *, answers: bool = False) -> bool:
    """Tell whether a prompt begins by saying that the last step was wrong or must be undone.

    If the prompt answers a question (`answers`), "no, the second one" is no correction.
    """
    text = unicodedata.normalize("NFC", prompt[:_READ]).strip().replace("’", "'")  # noqa: RUF001
    return any(_corrects(reading, answers=answers) for reading in readings(text))


def _corrects(text: str, *, answers: bool) -> bool:
    turned_down = not answers and (TURNED_DOWN.match(text) or BARE_NO.fullmatch(text)) is not None
    return turned_down or _opens_so(text) or _ends_undoing(text) or _is_all(text)


def only_corrects(prompt: str, *, answers: bool = False) -> bool:
    """Tell whether a prompt corrects and is too brief to ask for other work beside."""
    return len(prompt.split()) <= _BRIEF and corrects(prompt, answers=answers)


def only_undoes(prompt: str) -> bool:
    """Tell whether a prompt asks for nothing but to take back what was done."""
    clauses = list(_clauses(unicodedata.normalize("NFC", prompt.strip()[: _READ + 1])))
    said = [_without_opening(clause) for clause, _ in clauses]
    return len(prompt) <= _READ and len(said) == 1 and any(map(UNDONE.fullmatch, readings(said[0])))


def _opens_so(text: str) -> bool:
    before = 0
    for clause, end in _clauses(text):
        lists = ":" in end and _HEADING.fullmatch(clause)
        asks = "?" in end and not _ASKED_WHY.match(_without_opening(clause))
        if not lists and not asks and (WRONG.fullmatch(_without_opening(clause)) or WRONG.fullmatch(clause)):
            return True
        before += len(_without_opening(clause).split())
        if before > _SHORT:
            break
    return False


def _ends_undoing(text: str) -> bool:
    last = [_without_opening(clause) for clause, _ in _clauses(text)][-1:]
    return bool(last) and UNDONE.fullmatch(last[0]) is not None and not _CONDITION.match(text)


def _is_all(text: str) -> bool:
    clauses = list(_clauses(text))
    if len(clauses) != 1 or "?" in clauses[0][1] or len(text.split()) > _BRIEF:
        return False
    return ALONE.fullmatch(_without_opening(clauses[0][0])) is not None


def _without_opening(clause: str) -> str:
    opens = OPENS.match(clause)
    return clause[opens.end() :] if opens else clause


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """Yield the clauses of a text, each with the punctuation that ends it."""
    for found in _CLAUSE.finditer(_DASH.sub(", ", text)):
        clause = found[0][: len(found[0]) - len(found[2])].strip().strip("\"'`¡¿")
        if clause:
            yield clause, found[2]


def asks(message: str) -> bool:
    """Tell whether a message asks a question near its end."""
    return any(mark in message[-_TAIL:] for mark in "?？")  # noqa: RUF001
