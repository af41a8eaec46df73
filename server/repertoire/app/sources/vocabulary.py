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
    phrases = shipped.phrases()
    # `migrations` alone are a database's, a `migration` alone is anything's; after another word both mean the same
    named = [(phrase.removesuffix("s"), term) for phrase, term in phrases.items() if " migration" in phrase]
    both = {form: term for one, term in named for form in (one, f"{one}s")}
    return Vocabulary.of({**both, **phrases}, broader, shipped.ordinary())
