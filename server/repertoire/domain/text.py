"""The one tokenizer that index, query and hook share, and the cleaning of untrusted text.

The index holds text that is already split, so that any SQLite with FTS5 (`porter unicode61`) reads it, even the
standard library's in a hook; a tokenizer of our own inside SQLite would lock the table to one process.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Scripts that part no words, and Hangul, whose particles cling to a foreign word: "PDFを" speaks of PDF.
_UNPARTED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
_WORD = re.compile(rf"[cC]\+\+|[cCfF]#|[{_UNPARTED}]+|[^\W_{_UNPARTED}]+")
_LETTER = re.compile(f"[{_UNPARTED}]")
_RUN = re.compile(f"[{_UNPARTED}]{{3,}}")
_SYMBOLS = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp"}
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_FRAMES = re.compile(
    r"<(?=/?(?:system|assistant|user|human|function|invoke|parameter|tool|antml|\|)[\w:|-]*[\s>|])", re.IGNORECASE
)
_HIDDEN = re.compile(
    "["
    # format characters: soft hyphen, bidi marks and overrides, zero width, tags, shorthand and music controls
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
    # blank letters, and the selectors that can carry bytes
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef"
    # half a surrogate pair: cannot be printed
    "\ud800-\udfff]"
)

_QUOTES = str.maketrans("“”", '""')
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WRITTEN_BREAKS = re.compile(r"(?<!\b[A-Za-z]:)(?:\\n)+")  # not in C:\new

_LINE = 2_000  # characters of a line of a whole text that are shown
MAX_COPIED = 4_000  # characters of the longest line that is shown to be copied
UNCOPIED = "(too long or too odd to be copied: `repertoire install ID` does what it says)"

STOPWORDS = frozenset(
    """a about after all also am an and any are aren as at be been but by can could couldn did didn do does
    doesn doing don done for from get give go got had has hasn have haven having help here hey hi him his how i
    if im in into is isn it its just let like ll make may me might more my need needs no not now of off on one
    only or our out over own please pls put re really see she should shouldn show so some someone something such
    take tell than thank thanks that the their them then there these they thing this those through to too try up
    us use used uses using ve very via want wants was wasn way we were what when where which while who why will
    with within without would wouldn yes you your""".split()
)


def split_words(text: str) -> list[str]:
    """Split text into lower-case words; camelCase, snake_case and kebab-case are split, camelCase is also kept whole.

    It is kept whole because the same name is written PostgreSQL in one text and postgresql in another.
    """
    words = []
    for token in _tokens(text):
        parts = _parts(token)
        words.extend(parts)
        if len(parts) > 1:
            words.append("".join(parts))
    return words


def sendable(text: str) -> str:
    """Replace characters that UTF-8 cannot encode: JSON escapes can bring half a surrogate pair."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def index_text(text: str) -> str:
    """Return text as the full-text index stores it: split words joined by blanks."""
    return " ".join(split_words(text))


def content_words(text: str) -> list[str]:
    """Return the words of a query without stop words, in order, each once; all are among the text's split words.

    A name of two capitalised halves is searched whole, since the `git` of GitHub would find everything about git.
    """
    words: dict[str, None] = {}
    for token in _tokens(text):
        parts = _parts(token)
        if len(parts) > 2 or token[0].islower():
            words.update(dict.fromkeys(parts))
        words["".join(parts)] = None
    return [word for word in words if word not in STOPWORDS and (len(word) > 1 or word.isdigit() or not word.isascii())]


def parts_of_names(text: str) -> frozenset[str]:
    """Return the words that a text holds only as parts of camelCase names."""
    apart = [_parts(token) for token in _tokens(text)]
    whole = {parts[0] for parts in apart if len(parts) == 1}
    return frozenset(part for parts in apart if len(parts) > 1 for part in parts) - whole


def with_pairs(text: str) -> str:
    """Return text with the pairs of letters behind each run of a script that parts no words, so that parts are found.

    Both the indexed text and the question need them.
    """
    if text.isascii():
        return text
    return _RUN.sub(lambda found: f" {found[0]} {_pairs(found[0])} ", unicodedata.normalize("NFKC", text))


def letters_apart(text: str) -> str:
    """Return text with a blank round each letter of a script that parts no words."""
    return text if text.isascii() else _LETTER.sub(r" \g<0> ", unicodedata.normalize("NFKC", text))


def compositions(name: str) -> list[str]:
    """Return a name as it is typed, then with its accents composed and apart, as in the names of files of macOS."""
    return list(dict.fromkeys((name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD")))))


def spellings(name: str) -> list[str]:
    """Return the compositions of a name, then those with other capitals: SQLite knows the capitals of ASCII alone."""
    if name.isascii():
        return [name]
    cases = (name, name.lower(), name[:1].upper() + name[1:].lower(), name.upper())
    return list(dict.fromkeys(form for case in cases for form in compositions(case)))


def _pairs(run: str) -> str:
    return " ".join(run[at : at + 2] for at in range(len(run) - 1))


def match_any(words: list[str]) -> str:
    """Return an FTS5 expression that matches any of the words, safe whatever they contain."""
    quoted = ('"' + _HIDDEN.sub("", _BREAKS.sub(" ", word)).replace('"', " ") + '"' for word in words)
    return " OR ".join(quoted) or '""'


def clean_line(text: str, limit: int) -> str:
    """Return untrusted text as one printable line of at most `limit` characters, without hidden and control characters.

    It is shown within lines of ours: a newline, a bidi override or a zero-width run could fake one of them,
    and a tag with which clients and models frame messages could end the frame around ours.
    """
    line = " ".join(_FRAMES.sub("\u2039", _HIDDEN.sub("", _BREAKS.sub(" ", text))).split())
    return line if len(line) <= limit else line[: max(limit - 1, 0)].rstrip() + "…"[:limit]


def in_quotes(text: str, limit: int) -> str:
    """Return untrusted text as a line in quotes, which no quotation mark of its own ends."""
    return f"“{clean_line(text, limit).translate(_QUOTES)}”"


def clean_lines(text: str, limit: int) -> list[str]:
    """Return the lines of the first `limit` characters of an untrusted text, each printable; they stay indented."""
    return [indented_line(line) for line in text[:limit].splitlines()]


def indented_line(line: str) -> str:
    """Return one line of an untrusted text as printable, with the blanks at its beginning, which are code's."""
    return line[: len(line) - len(line.lstrip(" \t"))] + clean_line(line, _LINE)


def description_line(text: str, limit: int) -> str:
    """Return a description as one line, without line breaks that its author wrote as backslash and n, and dialogues.

    Agents' descriptions often end with sample dialogues for the model that chooses: "Examples: <example> Context: …".
    """
    return clean_line(_without_dialogues(_WRITTEN_BREAKS.sub(" ", text)), limit)


def _without_dialogues(text: str) -> str:
    """Return a description up to its first `<example>`, and to what leads to it; all of it with nothing before."""
    said, mark, _ = text.partition("<example")
    if not mark or not said.strip():
        return text
    sentences = _SENTENCE.split(said.rstrip())
    return " ".join(sentences[:-1] if sentences[-1].endswith(":") and len(sentences) > 1 else sentences).rstrip(":")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def few(names: Sequence[str], most: int) -> str:
    """Return the first names in one line, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def to_copy(lines: Iterable[str]) -> tuple[str, ...]:
    """Return lines to copy, each unchanged or replaced by a notice: a line that is cut would do something else."""
    return tuple(line if clean_line(line, MAX_COPIED) == line else UNCOPIED for line in lines)


def _tokens(text: str) -> list[str]:
    tokens = _WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))
    return [_SYMBOLS.get(token.lower(), token) for token in tokens]


def _parts(token: str) -> list[str]:
    if token.islower() or token[1:].islower():  # most words: nothing to take apart
        return [token.lower()]
    parts: list[str] = []
    for part in _CAMEL.split(token):
        if parts and len(parts[-1]) == 1:  # OAuth, iOS: a letter alone finds nothing
            parts[-1] += part.lower()
        else:
            parts.append(part.lower())
    return parts
