"""Writes words as PostgreSQL's full-text search reads them, every lexeme with its community before it."""

from __future__ import annotations

from collections import defaultdict

from repertoire.store.stemming import stems

_POSITIONS, _LAST = 255, 16_383  # that a tsvector holds of one lexeme, and the greatest of them
_LONGEST = 500  # characters of a lexeme; PostgreSQL refuses more than 2 KB


def vector(community: str, words: str) -> tuple[str, int]:
    """Return a text of split words as a tsvector, and the number of its words."""
    positions: dict[str, list[int]] = defaultdict(list)
    found = stems(words)
    for position, stem in enumerate(found, 1):
        positions[lexeme(community, stem)].append(min(position, _LAST))
    parts = (
        f"{_quoted(name)}:{','.join(map(str, dict.fromkeys(places[:_POSITIONS])))}"
        for name, places in positions.items()
    )
    return " ".join(parts), len(found)


def lexeme(community: str, stem: str) -> str:
    """Return a stem with its community in front, so that communities share no posting list of the index."""
    return f"{community}/{stem[:_LONGEST]}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
