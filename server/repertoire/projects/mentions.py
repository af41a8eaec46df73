"""Finds in a text the names of files, symbols and entries, by how such names are written."""

from __future__ import annotations

import re

MOST = 24  # names of a text
_LONGEST = 160
_TICKED = re.compile(r"`([^`\s]{2,160})`")
_ENTRY = re.compile(r"\b(?:note|task|epic|procedure):[0-9a-f]{4,12}\b")
_WORD = re.compile(r"[A-Za-z_][\w./#:-]{2,160}")
_PATH = re.compile(r"[\w.-]{1,80}(?:/[\w.-]{1,80}){1,16}|[\w-]{1,80}\.[a-z]{1,5}")
_SPELT = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[a-z0-9]_[a-z0-9]|\w\.[a-z_A-Z]")  # camelCase, snake_case, a.name
_CALL = re.compile(r"\b([A-Za-z]\w{1,80})\(")


def mentions(text: str) -> list[str]:
    """Return the names that a text writes as code, as paths, as ids, or in the spelling of symbols; each once."""
    found = [*_ENTRY.findall(text), *_TICKED.findall(text)]
    for word in _WORD.findall(text):
        plain = word.rstrip(".:-/")
        if _PATH.fullmatch(plain) or _SPELT.search(plain):
            found.append(plain)
    found.extend(_CALL.findall(text))
    return [*dict.fromkeys(one.removesuffix("()").strip(".:") for one in found if len(one) <= _LONGEST)][:MOST]
