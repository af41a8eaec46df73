"""Checks whether Claude Code tells the model of every installed skill: beyond a length it lists names alone."""

from __future__ import annotations

from repertoire.domain.health import OK, WARN, Finding
from repertoire.domain.invocation import LISTING, LITTLE_LISTING
from repertoire.store.light.health import HealthReader


def listing(db: HealthReader, project: str) -> Finding:
    """Return the finding on how long the descriptions of what is in use in a project are, beside the room for them."""
    number, characters = db.listed(project)
    told = f"skills and commands in use: {number}, their descriptions {characters:,} characters"
    if characters <= LISTING:
        return Finding("listing", OK, f"{told}; the model is told of them all")
    text = (
        f"{told}, of which the model is told about {LISTING:,} (one with a small context {LITTLE_LISTING:,}): "
        "Claude Code lists the least used by name alone, and only a hint finds them"
    )
    return Finding("listing", WARN, text, "turn off what `repertoire stats` shows as unused: `/plugin disable NAME`")
