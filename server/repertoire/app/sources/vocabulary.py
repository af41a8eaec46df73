"""The shipped vocabulary of capabilities, in the form in which ingestion finds its terms in texts."""

from __future__ import annotations

from repertoire.catalogue.reading import Catalogue
from repertoire.ingestion.capabilities import Vocabulary


def vocabulary_of(shipped: Catalogue) -> Vocabulary:
    """Return the vocabulary that a catalogue ships."""
    broader = {term: capability.broader for term, capability in shipped.capabilities.items() if capability.broader}
    return Vocabulary.of(shipped.phrases(), broader, shipped.ordinary())
