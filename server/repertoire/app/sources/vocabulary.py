"""Builds the vocabulary of capabilities from the catalogue, in the form that ingestion searches texts with."""

from __future__ import annotations

from repertoire.catalogue.reading import Catalogue
from repertoire.ingestion.capabilities import Vocabulary


def vocabulary_of(shipped: Catalogue) -> Vocabulary:
    """Return a catalogue's vocabulary of capabilities."""
    broader = {term: capability.broader for term, capability in shipped.capabilities.items() if capability.broader}
    return Vocabulary.of(shipped.phrases(), broader, shipped.ordinary())
