"""Deobfuscates orders (lookalike letters, spaced or marked words) and shell commands built from variables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from repertoire.domain.trust import CRITICAL, HIGH
from repertoire.trust.benign_context import is_quoted
from repertoire.trust.check import CheckMatch
from repertoire.trust.commands import OBFUSCATION
from repertoire.trust.prompt_injection import DISOBEYS, ORDER
from repertoire.trust.scanned_text import MARKDOWN, PROSE, SCRIPT, Line, ScannedText

_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0501\u04cf\u0458\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7\u03bf\u03b1\u03b9\u03bd\u03c1",
    "aeopcyxisdljABEKMHOPCTXIABEHIKMNOPTXoaivp",
)
_MIXED = re.compile("[A-Za-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][A-Za-z]")
_UNSEEN = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff]")
# full-width and mathematical letters, which look like plain letters, and letters with invisible ones between them
_OTHER_FORMS = re.compile(
    "[A-Za-z][\u200b-\u200d\u2060-\u2064\ufeff][A-Za-z]|[\uff21-\uff5a]{3}|[\U0001d400-\U0001d7ff]{3}"
)
_SPACED = re.compile(r"(?<!\S)(?:[A-Za-z] ){5,}[A-Za-z](?!\S)")
_MARKED = re.compile(r"[*_`~]{1,3}(?:ignore|disregard|forget|override|bypass)[*_`~]{1,3}", re.IGNORECASE)
_SIGNS = "\u0435\u043e\u03bf"  # lookalikes of e and o, which nearly every disguised word needs
_SPELLED = "i g n o r e"
_MARKED_WORDS = ("*ignore", "_ignore", "`ignore")
_MARKS = re.compile(r"[*_`~]+")
_LITERAL = re.compile(
    r"""(?:^|[;&]|\bexport\s)\s*(?P<name>[A-Za-z_]\w{0,30})=(?P<mark>["']?)(?P<value>[\w./:@%+-]{1,200})(?P=mark)(?=\s|;|&|$)"""
)
_COMMANDED = re.compile(r"(?m)(?:^|[;&|(`]|\b(?:then|do|sudo|exec|eval)\b)[^\S\n]*[\"']?\$\{?[A-Za-z_]")
_JOINED = re.compile(r"(?:^|[;&|(`]|\$\()\s*(?:\$\{?\w+\}?){2,}(?=\s|$|[|;&)])")
_LETTERS = re.compile(r"(?<!\S)(?:\w ){2,}\w(?!\S)")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_COMMANDS = re.compile(r"\b(?:curl|wget|bash|sh|nc|base64|python3?|rm)\b")
_MOST_LINES = 400


def orders(document: ScannedText) -> Iterator[CheckMatch]:
    """Yield matches for orders to disobey that are obfuscated, so that a plain search misses them."""
    if document.kind != MARKDOWN:
        return
    low = document.lower
    strange = not low.isascii() and (any(sign in low for sign in _SIGNS) or bool(_OTHER_FORMS.search(low)))
    marked = "ignore" in low and any(word in low for word in _MARKED_WORDS)
    if not (strange or marked or _SPELLED in low):
        return
    for index, text in enumerate(document.lines):
        for plain, how in _deobfuscated(text):
            match = DISOBEYS.search(plain)
            if match is None or DISOBEYS.search(text) or is_quoted(plain, match.start(), match.end()):
                continue
            if document.line(index).place == PROSE:
                yield CheckMatch(
                    ORDER, HIGH, document.line(index), f"orders the model to ignore what it was told, {how}"
                )
                break


def _deobfuscated(text: str) -> Iterator[tuple[str, str]]:
    if not text.isascii() and _OTHER_FORMS.search(text):
        plain = unicodedata.normalize("NFKC", _UNSEEN.sub("", text))
        yield plain, "in letters of other forms" if _UNSEEN.sub("", text) == text else "parted by what is not shown"
    if not text.isascii() and _MIXED.search(text):
        yield text.translate(_LOOKALIKES), "in letters that look alike"
    if _SPACED.search(text):
        yield _LETTERS.sub(lambda match: match.group().replace(" ", ""), text), "letter by letter"
    if _MARKED.search(text):
        yield _MARKS.sub("", text), "between marks"


def expanded(document: ScannedText) -> Iterator[tuple[Line, ScannedText]]:
    """Yield the lines of a shell script that run variables, each with the variables' values substituted."""
    if (
        document.kind != SCRIPT
        or document.is_program
        or "=" not in document.text
        or not _COMMANDED.search(document.text)
    ):
        return
    held: dict[str, str] = {}
    for index, text in enumerate(document.lines[:_MOST_LINES]):
        for match in _LITERAL.finditer(text):
            held[match["name"]] = match["value"]
        if held and "$" in text and _COMMANDED.search(text):
            plain = _VARIABLE.sub(lambda match: held.get(match[1], match.group()), text)
            if plain != text:
                yield document.line(index), ScannedText(plain, kind=SCRIPT)


def joined(document: ScannedText) -> Iterator[CheckMatch]:
    """Yield matches for lines of a shell script that build a command's name from several variables."""
    for line, plain in expanded(document):
        if _JOINED.search(line.text) and _COMMANDS.search(plain.text):
            yield CheckMatch(OBFUSCATION, CRITICAL, line, "puts the name of a command together from pieces")
