"""Shares code among models that run in ONNX Runtime: text truncation, normalised vectors, load errors, quiet logs."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from onnxruntime import set_default_logger_severity  # type: ignore[import-untyped]
from onnxruntime.capi.onnxruntime_pybind11_state import (  # type: ignore[import-untyped]
    Fail,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    RuntimeException,
)
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Unsupported

from repertoire.domain.errors import ModelUnavailable
from repertoire.inference.weights import Weights
from repertoire.ports import Vectors

MAX_CHARACTERS = 4_096  # of a text, 16 for each of the bundled model's 256 tokens; the rest would be truncated anyway
LOADING = (
    *(Fail, InvalidGraph, InvalidProtobuf, NoSuchFile, Unsupported, RuntimeException, OSError, ValueError),
    # an adapter or configuration that is damaged or cut short
    *(EOFError, BadZipFile, zlib.error, KeyError, TypeError),
)
_ERRORS = 3  # ONNX Runtime's severity of errors


def be_quiet() -> None:
    """Keep model libraries from starting threads and from harmless warnings; call it before a load."""
    # tokenizers would start a thread for each core, and warn at every later fork
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # ONNX Runtime would warn of each optional input at every load; errors are raised all the same
    set_default_logger_severity(_ERRORS)


def unavailable(weights: Weights, error: BaseException) -> ModelUnavailable:
    """Return the ModelUnavailable error for weights that do not load."""
    message = f"the model in {weights.folder} does not load ({error}); `repertoire doctor` checks its files"
    return ModelUnavailable(message)


def clean(text: str) -> str:
    """Return the first MAX_CHARACTERS of a text as valid Unicode."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def unit(vectors: Iterable[npt.NDArray[Any]], dimensions: int) -> Vectors:
    """Return vectors as L2-normalised rows."""
    rows = np.array(list(vectors), dtype=np.float32).reshape(-1, dimensions)
    norms = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    rows /= np.where(norms > 0, norms, 1)
    return rows
