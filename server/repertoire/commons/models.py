"""Offers the embedding models of a process by name: the configured one, and the others on the machine."""

from __future__ import annotations

from collections.abc import Sequence

from repertoire.commons.migrations import DIMENSIONS
from repertoire.domain.errors import ModelUnavailable
from repertoire.ports import Embedder


class Models:
    """Embedders by the name of their model; each loads on first use."""

    def __init__(self, configured: Embedder | None, every: Sequence[Embedder] = ()) -> None:
        self._configured = configured
        every = [*every, configured] if configured else every
        self._by_name = {one.model: one for one in every if one.dimensions == DIMENSIONS}

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def named(self, model: str) -> Embedder | None:
        """Return the embedder of a model, or None if it is not on this machine."""
        return self._by_name.get(model)

    def configured(self) -> Embedder:
        """Return the embedder of the configured model.

        Raises:
            ModelUnavailable: it is not on this machine, or its vectors do not fit into a commons.
        """
        if self._configured is None:
            message = "the configured model is missing; `repertoire model show` says what is wrong with it"
            raise ModelUnavailable(message)
        if self._configured.dimensions != DIMENSIONS:
            message = (
                f"{self._configured.model} has {self._configured.dimensions} dimensions, a commons holds "
                f"{DIMENSIONS}; configure a model with so many, or the bundled one"
            )
            raise ModelUnavailable(message)
        return self._configured
