"""Builds the vocabulary of capabilities from the catalogue, in the form that ingestion searches texts with."""

from __future__ import annotations

from functools import cache

from repertoire.catalogue import reading
from repertoire.ingestion.capabilities import Vocabulary


@cache
def shipped_vocabulary() -> Vocabulary:
    """Return the shipped catalogue's vocabulary of capabilities, built once a process."""
    shipped = reading.load()
    broader = {term: capability.broader for term, capability in shipped.capabilities.items() if capability.broader}
    return Vocabulary.of(shipped.phrases(), broader, shipped.ordinary())
