"""Loads a cross-encoder from a local folder on first use; it never uses the network."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from repertoire.inference.cross_encoder import CrossEncoder


class LocalReranker:
    """A cross-encoder in a local folder that is loaded on first use, for several threads."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        self._lock = threading.Lock()
        self._model: CrossEncoder | None = None

    def load(self) -> None:
        """Load the model if it is not in memory, so that the next call need not wait for it.

        Raises:
            ModelUnavailable: the folder holds no model, or the model does not load.
        """
        self._use()

    def score(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return how well each text answers the question, higher is better.

        Raises:
            ModelUnavailable: the folder holds no model, or the model fails.
        """
        return self._use().score(question, texts)

    def _use(self) -> CrossEncoder:
        with self._lock:
            if self._model is None:
                # Imported late: fastembed costs every command and idle server half a second and 90 MB.
                from repertoire.inference.cross_encoder import CrossEncoder  # noqa: PLC0415

                self._model = CrossEncoder(self._folder, threads=self._threads)
            return self._model
