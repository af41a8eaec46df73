"""What all models that ONNX Runtime runs share: what they see of a text, vectors of length 1, what may fail."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

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

MAX_CHARACTERS = 4_096  # 16 a token of the bundled model's 256: beyond it a text costs time and changes nothing
LOADING = (Fail, InvalidGraph, InvalidProtobuf, NoSuchFile, Unsupported, RuntimeException, OSError, ValueError)
_ERRORS = 3  # of ONNX Runtime's severities


def be_quiet() -> None:
    """Keep libraries from starting threads and from warning of what does no harm; to be called before a load."""
    # the tokenizers library would start a thread a core, and warn at every later fork
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # a warning for each matrix that a run may leave out, at every load; what fails is raised all the same
    set_default_logger_severity(_ERRORS)


def unavailable(weights: Weights, error: BaseException) -> ModelUnavailable:
    """Return the error of a model whose files do not load."""
    message = f"the model in {weights.folder} does not load ({error}); `repertoire status` checks its files"
    return ModelUnavailable(message)


def clean(text: str) -> str:
    """Return the part of a text that a model can see, as valid Unicode."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def unit(vectors: Iterable[npt.NDArray[Any]], dimensions: int) -> Vectors:
    """Return vectors as rows of length 1."""
    rows = np.array(list(vectors), dtype=np.float32).reshape(-1, dimensions)
    norms = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    rows /= np.where(norms > 0, norms, 1)
    return rows
