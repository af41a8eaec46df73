"""Loads embedding models on first use and unloads them after an idle time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from repertoire.boot.heap import return_memory
from repertoire.domain.errors import ModelUnavailable
from repertoire.inference.weights import Weights
from repertoire.ports import Embedder, PairReader, Vectors

IDLE_SECONDS = 600.0


def load(weights: Weights, *, threads: int = 1) -> Embedder:
    """Load an embedding model into memory.

    Raises:
        ModelUnavailable: its files do not load.
    """
    # Imported late: ONNX Runtime costs memory in every command and idle server, fastembed half a second too.
    if weights.questions:
        from repertoire.inference.bundled import BundledSession  # noqa: PLC0415

        return BundledSession(weights, threads=threads)
    from repertoire.inference.fastembed_session import FastembedSession  # noqa: PLC0415

    return FastembedSession(weights, threads=threads)


def fetch(name: str, *, cache: Path) -> Weights:
    """Download a model of fastembed's list into the cache; the only function of this room that uses the network.

    Raises:
        ModelUnavailable: fastembed does not list the model, or the download failed.
    """
    # Imported late: see load.
    from repertoire.inference.fastembed_session import download  # noqa: PLC0415

    return download(name, cache=cache)


class IdleEmbedder:
    """An embedder that loads its model on first use, for several threads; unloading never disturbs a call."""

    def __init__(
        self,
        weights: Weights,
        *,
        threads: int = 1,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = weights.model
        self.query_encoder = weights.query_encoder
        self.pair_encoder = weights.pair_encoder
        self.dimensions = weights.dimensions
        self._weights = weights
        self._threads = threads
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._embedder: Embedder | None = None
        self._last_use = clock()

    @property
    def loaded(self) -> bool:
        """Tell whether the model is in memory now."""
        return self._embedder is not None

    def load(self) -> None:
        """Load the model if it is not in memory, so that the next call need not wait for it.

        Raises:
            ModelUnavailable: its files do not load.
        """
        self._use()

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the adapted vectors of questions, one L2-normalised float32 row for each text."""
        return self._use().embed_queries(texts)

    def embed_question(self, text: str, parts: Sequence[str]) -> Vectors:
        """Return the adapted vectors of a question and of its clauses, one L2-normalised row for each."""
        return self._use().embed_question(text, parts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the plain vectors of component texts, one L2-normalised float32 row for each text."""
        return self._use().embed_passages(texts)

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Return the log-odds that the text of each pair serves its question and that it helps: one row of two each.

        Raises:
            ModelUnavailable: the model reads no pairs, or its files do not load.
        """
        embedder = self._use()
        if not isinstance(embedder, PairReader):
            message = f"{self.model} reads no pairs of texts"
            raise ModelUnavailable(message)
        return embedder.read_pairs(pairs)

    def drop_if_idle(self, now: float) -> bool:
        """Unload the model if it was idle for `idle_seconds`; return whether it was unloaded."""
        with self._lock:
            if self._embedder is None or now - self._last_use < self._idle_seconds:
                return False
            self._embedder = None
            return_memory()
            return True

    def _use(self) -> Embedder:
        with self._lock:
            self._last_use = self._clock()
            if self._embedder is None:
                self._embedder = load(self._weights, threads=self._threads)
            return self._embedder
