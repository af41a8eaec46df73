"""Checks whether Claude Code tells the model of every installed skill: beyond a length it lists names alone."""

from __future__ import annotations

from repertoire.domain.health import OK, WARN, Finding
from repertoire.store.light.health import HealthReader

# Characters of all descriptions in the listing of Claude Code 2.1.330: with its default model, and with one whose
# context has 200,000 tokens. Its own skills and commands take some 6,000 of them.
_ROOM, _LITTLE_ROOM, _ITS_OWN = 30_000, 8_000, 6_000


def listing(db: HealthReader, project: str) -> Finding:
    """Return the finding on how long the descriptions of what is in use in a project are, beside the room for them."""
    number, characters = db.listed(project)
    told = f"skills and commands in use: {number}, their descriptions {characters:,} characters"
    room = _ROOM - _ITS_OWN
    if characters <= room:
        return Finding("listing", OK, f"{told}; the model is told of them all")
    text = (
        f"{told}, of which the model is told about {room:,} (one with a small context {_LITTLE_ROOM - _ITS_OWN:,}): "
        "Claude Code lists the least used by name alone, and only a hint finds them"
    )
    return Finding("listing", WARN, text, "turn off what `repertoire stats` shows as unused: `/plugin disable NAME`")
