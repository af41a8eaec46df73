"""Tells what the programs of a project define and say, held in memory or read when it is asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from repertoire.domain.project import CodeFacts, Definition

_NO_FACTS = CodeFacts()


class Programs(Protocol):
    """What is known of the programs of a project."""

    @property
    def languages(self) -> Mapping[str, str]:
        """Map every file to its language."""

    def facts(self, path: str) -> CodeFacts:
        """Return what a file says of others."""

    def definitions(self, path: str) -> Sequence[Definition]:
        """Return the symbols of a file, in its order."""

    def named(self, kinds: Sequence[str], name: str) -> Sequence[Definition]:
        """Return all symbols of some kinds with a name, in the order in which they were stored."""


class HeldPrograms:
    """Programs that are held in memory."""

    def __init__(self, definitions: Iterable[Definition], facts: Mapping[str, tuple[str, CodeFacts]]) -> None:
        self.languages = {path: language for path, (language, _) in facts.items()}
        self._facts = {path: told for path, (_, told) in facts.items()}
        self._of: dict[str, list[Definition]] = defaultdict(list)
        self._named: dict[str, list[Definition]] = defaultdict(list)
        for one in definitions:
            self._of[one.path].append(one)
            self._named[one.name].append(one)

    def facts(self, path: str) -> CodeFacts:
        """Return what a file says of others."""
        return self._facts.get(path, _NO_FACTS)

    def definitions(self, path: str) -> Sequence[Definition]:
        """Return the symbols of a file, in its order."""
        return self._of.get(path, ())

    def named(self, kinds: Sequence[str], name: str) -> Sequence[Definition]:
        """Return all symbols of some kinds with a name, in the order in which they were stored."""
        return [one for one in self._named.get(name, ()) if one.kind in kinds]
