"""Replaces a component's capabilities by a curator's list, in the vocabulary's spelling; later ingests keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repertoire.app.lookup import find_one_component
from repertoire.catalogue import reading
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.text import clean_line, split_words
from repertoire.store.database import Store

MOST, CHARACTERS = 12, 60  # a component may have so many capabilities, each of at most so many characters


@dataclass(frozen=True)
class Corrected:
    """The new capabilities of a component, by its id."""

    component: str
    capabilities: tuple[str, ...]


def set_capabilities(store: Store, component: str, capabilities: Sequence[str], *, now: str) -> Corrected:
    """Replace a component's capabilities; return them as stored.

    Raises:
        UnknownComponent: no component has this id or name.
        InvalidRequest: several components have the name, a phrase is empty or too long, or there are too many.
    """
    key = find_one_component(store, component).component.id
    known = reading.load().phrases()
    kept = tuple(dict.fromkeys(known.get(text.strip().lower()) or _phrase(text) for text in capabilities))
    if not 1 <= len(kept) <= MOST:
        message = f"send 1 to {MOST} capabilities, not {len(kept)}"
        raise InvalidRequest(message)
    with store.transaction():
        store.preferences.correct(key, kept, now=now)
        store.sources.curate(key, kept, now=now)
    return Corrected(key, kept)


def _phrase(text: str) -> str:
    phrase = "-".join(split_words(text))
    if not phrase or len(phrase) > CHARACTERS:
        message = (
            f"capability {clean_line(text, 80)!r} has to be 1 to {CHARACTERS} characters of words: `fill pdf forms`"
        )
        raise InvalidRequest(message)
    return phrase
