"""Runs a comparison of all components only if what it reads has changed, and notes for which state it ran."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from repertoire.store.database import Store


class Comparison:
    """One run of a comparison, made before its inputs are read; `version` names the code, `model` the vectors."""

    def __init__(self, store: Store, name: str, version: str, *, model: str = "") -> None:
        self._store, self._name, self._version, self._model = store, name, version, model
        self._read = self._state()

    @property
    def is_done(self) -> bool:
        """Whether it ran for these inputs before."""
        return self._store.similarities.compared(self._name) == self._read

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Write what was found as one transaction, and note for which state of the inputs it was found."""
        with self._store.transaction():
            alone = self._state() == self._read  # else the next run compares what another process wrote meanwhile
            yield
            self._store.similarities.note_compared(self._name, self._state() if alone else self._read)

    def _state(self) -> str:
        vectors = f":{self._model}:{self._store.vectors.revision()}" if self._model else ""
        return f"{self._version}{self._store.graph.coming_revision()}{vectors}"
