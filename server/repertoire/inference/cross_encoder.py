"""Runs a cross-encoder with fastembed from a local folder; importing this module costs half a second and 90 MB."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from fastembed.common.model_description import ModelSource
from fastembed.rerank.cross_encoder import TextCrossEncoder
from onnxruntime.capi.onnxruntime_pybind11_state import (  # type: ignore[import-untyped]
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    RuntimeException,
)
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Unsupported

from repertoire.domain.digest import digest_of
from repertoire.domain.errors import ModelUnavailable
from repertoire.inference.graphs import clean

_GRAPHS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_TROUBLE = (
    *(Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile, Unsupported, RuntimeException),
    *(OSError, ValueError, IndexError, TypeError),  # a model with other inputs or outputs
)


class CrossEncoder:
    """A cross-encoder that is loaded from a folder."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        """Load the model of a folder.

        Raises:
            ModelUnavailable: the folder holds no model, or the model does not load.
        """
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # see graphs.be_quiet
        self._folder = folder
        graph = next((name for name in _GRAPHS if (folder / name).is_file()), "")
        if not graph:
            message = f"{folder} holds no {' or '.join(_GRAPHS[:2])}; set `rerank_model` to a cross-encoder's folder"
            raise ModelUnavailable(message)
        try:
            self._model = TextCrossEncoder(
                _registered(folder, graph),
                cache_dir=str(folder),
                specific_model_path=str(folder),
                local_files_only=True,
                threads=threads,
                providers=["CPUExecutionProvider"],
                enable_cpu_mem_arena=False,
            )
        except _TROUBLE as error:
            message = f"the cross-encoder in {folder} does not load ({error}); mend it, or unset `rerank_model`"
            raise ModelUnavailable(message) from error

    def score(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return how well each text answers the question, higher is better.

        Raises:
            ModelUnavailable: the model fails on these texts.
        """
        try:
            scores = list(self._model.rerank(clean(question), [clean(text) for text in texts]))
        except _TROUBLE as error:
            message = f"the cross-encoder in {self._folder} fails ({error}); mend it, or unset `rerank_model`"
            raise ModelUnavailable(message) from error
        return np.array(scores, dtype=np.float64)


def _registered(folder: Path, graph: str) -> str:
    """Register the folder as a fastembed model, since fastembed loads by name only; return that name."""
    name = f"local/{digest_of(f'{folder.resolve()} {graph}')[:16]}"
    if all(known["model"] != name for known in TextCrossEncoder.list_supported_models()):
        TextCrossEncoder.add_custom_model(name, sources=ModelSource(hf=name), model_file=graph)
    return name
