"""How text becomes search terms: the one splitting that index, query and hook share.

The index holds text already split, so that any SQLite with FTS5 (`porter unicode61`) reads it, the standard
library's in a hook included; a tokenizer of our own would lock the table to one process.
"""

from __future__ import annotations

import re
import unicodedata

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+(?:[+#]+(?!\w))?", re.UNICODE)
_SYMBOLS = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp"}
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)

STOPWORDS = frozenset(
    """a about after all also am an and any are as at be been but by can could did do does doing done for from get
    give go got had has have having help here hey hi him his how i if im in into is it its just let like make may me
    might more my need needs no not now of off on one only or our out over own please pls put really see she should
    show so some someone something such take tell than thank thanks that the their them then there these they thing
    this those through to too try up us use used uses using very via want wants was way we were what when where which
    while who why will with within without would yes you your""".split()
)


def split_words(text: str) -> list[str]:
    """Split text into lower-case words; camelCase, snake_case and kebab-case come apart, camelCase also stays whole.

    Whole, because the same name is written PostgreSQL here and postgresql there.
    """
    words = []
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        token = match.group()
        symbol = _SYMBOLS.get(token.lower())
        if symbol is not None:
            words.append(symbol)
        else:
            parts = [part.lower() for part in _CAMEL.split(token.rstrip("+#")) if part]
            words.extend(parts if len(parts) < 2 else [*parts, "".join(parts)])
    return words


def index_text(text: str) -> str:
    """Return text as the full-text index stores it: split words joined by blanks."""
    return " ".join(split_words(text))


def content_words(text: str) -> list[str]:
    """Return the words of a query that carry meaning, in order, each once."""
    return [
        word for word in dict.fromkeys(split_words(text)) if word not in STOPWORDS and (len(word) > 1 or word.isdigit())
    ]


def match_any(words: list[str]) -> str:
    """Return an FTS5 expression that matches any of the words, safe whatever they contain."""
    return " OR ".join('"' + word.replace('"', "") + '"' for word in words)


def clean_line(text: str, limit: int) -> str:
    """Return text as one printable line of at most limit characters, hidden and control characters removed.

    What a stranger wrote is shown on our lines: a newline, a bidi override or a zero-width run could fake one of ours.
    """
    line = " ".join(_CONTROL.sub(" ", text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
