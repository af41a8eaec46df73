"""Says what must be known of the programs of a project to resolve what they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from repertoire.domain.project import CodeFacts, Definition


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
