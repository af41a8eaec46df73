"""Runs a model with fastembed, from files on this machine; importing this costs half a second and 90 MB."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from fastembed import TextEmbedding
from fastembed.common.model_description import DenseModelDescription, ModelSource
from fastembed.text.pooled_normalized_embedding import PooledNormalizedEmbedding
from onnxruntime import OrtValue, set_default_logger_severity  # type: ignore[import-untyped]
from onnxruntime.capi.onnxruntime_pybind11_state import (  # type: ignore[import-untyped]
    Fail,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    RuntimeException,
)
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Unsupported

from repertoire.domain.errors import ModelUnavailable
from repertoire.inference.weights import Weights, checksum, record
from repertoire.ports import Vectors

# One text a run: nothing is padded, so it is faster than any larger batch (81 texts a second, 73 in eights), needs
# 35 MB instead of 150, and no vector depends on its neighbours, also in models with dynamic quantisation.
BATCH = 1
_ERRORS = 3  # of ONNX Runtime's severities
MAX_CHARACTERS = 4_096  # 16 a token of the bundled model's 256: beyond it a text costs time and changes nothing

_LOADING = (Fail, InvalidGraph, InvalidProtobuf, NoSuchFile, Unsupported, RuntimeException, OSError, ValueError)

# What the authors of a model want written before a query and a passage; fastembed leaves it to its caller.
_SEARCH = "Represent this sentence for searching relevant passages: "
_PREFIXES = (
    ("intfloat/multilingual-e5", "query: ", "passage: "),
    ("nomic-ai/nomic-embed-text", "search_query: ", "search_document: "),
    ("google/embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ("baai/bge-small-en", _SEARCH, ""),
    ("baai/bge-base-en", _SEARCH, ""),
    ("baai/bge-large-en", _SEARCH, ""),
    ("mixedbread-ai/mxbai-embed", _SEARCH, ""),
    ("snowflake/snowflake-arctic-embed", _SEARCH, ""),
)

_Vector = npt.NDArray[Any]


@dataclass(frozen=True)
class _Readings:
    """What embeds texts that are asked, texts that are searched, and a question with its parts where there is that."""

    asked: Callable[..., Iterable[_Vector]]
    searched: Callable[..., Iterable[_Vector]]
    parted: Callable[[str, Sequence[str]], tuple[_Vector, list[_Vector | None]]] | None = None


class TurnedEmbedding(PooledNormalizedEmbedding):
    """A model whose dense layers take a turn of low rank: it reads what is asked otherwise than what is searched."""

    turns: Mapping[str, OrtValue]  # as arrays each run would copy them: half a millisecond a text

    def _preprocess_onnx_input(
        self, onnx_input: dict[str, Any], *, asked: bool = False, **kwargs: Any
    ) -> dict[str, Any]:
        read = super()._preprocess_onnx_input(onnx_input, **kwargs)
        return {**read, **self.turns} if asked else read

    def read_with_parts(self, text: str, parts: Sequence[str]) -> tuple[_Vector, list[_Vector | None]]:
        """Return the vector of what is asked, and of each part the mean of its own tokens; None where none was read."""
        (encoding,) = self.tokenize([text])
        read = self.onnx_embed([text], asked=True)
        (whole,) = self._post_process_onnx_output(read)
        starts, ends = (np.array(edges) for edges in zip(*encoding.offsets, strict=True))
        told = starts < ends  # a token that marks an end stands for no character
        held = [told & (starts >= start) & (ends <= end) for start, end in _places(text, parts)]
        tokens = read.model_output[0]
        return whole, [tokens[own].mean(axis=0) if own.any() else None for own in held]


class Session:
    """A loaded model; may be called from several threads at once."""

    loaded = True

    def __init__(self, weights: Weights, *, threads: int = 1) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: the files do not load.
        """
        # the tokenizers library would start a thread a core, and warn at every later fork
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        # a warning for each matrix that a run may leave out, at every load; what fails is raised all the same
        set_default_logger_severity(_ERRORS)
        try:
            self._read = _open(weights, threads)
        except _LOADING as error:
            message = f"the model in {weights.folder} does not load ({error}); `repertoire status` checks its files"
            raise ModelUnavailable(message) from error
        self.model = weights.model
        self.reading = weights.reading
        self.dimensions = weights.dimensions
        self._query, self._passage = prefixes(weights.name)

    def load(self) -> None:
        """Have the model in memory: it is."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed what is asked: one L2-normalised float32 row a text, in their order."""
        return self._embed([self._query + text for text in texts], self._read.asked)

    def embed_question(self, text: str, parts: Sequence[str]) -> Vectors:
        """Embed what is asked, then parts of it as they are meant in it: one L2-normalised float32 row each."""
        if self._read.parted is None or not parts:
            return self.embed_queries([text, *parts])
        whole, found = self._read.parted(clean(self._query + text), [clean(part) for part in parts])
        apart = iter(self.embed_queries([part for part, vector in zip(parts, found, strict=True) if vector is None]))
        return _unit([whole, *(next(apart) if vector is None else vector for vector in found)], self.dimensions)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed what is searched: one L2-normalised float32 row a text, in their order."""
        return self._embed([self._passage + text for text in texts], self._read.searched)

    def _embed(self, texts: list[str], run: Callable[..., Iterable[_Vector]]) -> Vectors:
        return _unit(run([clean(text) for text in texts], batch_size=BATCH), self.dimensions)


def _unit(vectors: Iterable[_Vector], dimensions: int) -> Vectors:
    """Return vectors as rows of length 1."""
    rows = np.array(list(vectors), dtype=np.float32).reshape(-1, dimensions)
    norms = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    rows /= np.where(norms > 0, norms, 1)
    return rows


def _places(text: str, parts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where each part stands in a text, after the one before it where it stands there too."""
    after = 0
    for part in parts:
        start = text.find(part, after)
        start = text.find(part) if start < 0 else start
        after = start + len(part) if start >= 0 else after
        yield (start, start + len(part)) if start >= 0 else (0, 0)


def _open(weights: Weights, threads: int) -> _Readings:
    options: dict[str, Any] = {
        "cache_dir": str(weights.folder),  # fastembed creates this folder; the default is one that all users share
        "specific_model_path": str(weights.folder),
        "local_files_only": True,
        "threads": threads,
        "providers": ["CPUExecutionProvider"],
        "enable_cpu_mem_arena": False,  # an arena keeps the largest batch's memory for good
    }
    if not weights.questions:
        model = TextEmbedding(weights.name, **options)
        return _Readings(model.query_embed, model.passage_embed)
    turned = TurnedEmbedding(weights.name, **options)
    turns = read_turns(weights.folder / weights.questions)
    turned.turns = {name: OrtValue.ortvalue_from_numpy(matrix) for name, matrix in turns.items()}
    return _Readings(partial(turned.query_embed, asked=True), turned.passage_embed, turned.read_with_parts)


def read_turns(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Read the matrices that turn the reading of questions, by the names of the graph's inputs."""
    with np.load(path) as kept:
        return {name: kept[name].astype(np.float32) for name in kept.files}


def clean(text: str) -> str:
    """Return the part of a text that a model can see, as valid Unicode."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def prefixes(name: str) -> tuple[str, str]:
    """Return what a model wants before a query and before a passage."""
    for start, query, passage in _PREFIXES:
        if name.lower().startswith(start):
            return query, passage
    return "", ""


def download(name: str, *, cache: Path) -> Weights:
    """Fetch a model that fastembed knows into the cache, try it, and note it there.

    Raises:
        ModelUnavailable: fastembed does not know it, or it cannot be had from here.
    """
    description = _description(name)
    try:
        folder = Path(TextEmbedding.download_model(description, str(cache), retries=1))
    except (OSError, ValueError) as error:
        message = (
            f"model {description.model!r} cannot be downloaded into {cache} ({error}); check the network and its "
            "proxy settings, or copy that folder from a machine where `repertoire model fetch` succeeded"
        )
        raise ModelUnavailable(message) from error
    files = (description.model_file, *description.additional_files)
    dimensions = TextEmbedding.get_embedding_size(description.model)
    size = sum((folder / file).stat().st_size for file in files)
    weights = Weights(description.model, folder, files, size, checksum(folder, files), dimensions)
    Session(weights).embed_queries(["a first try"])
    record(weights, cache=cache)
    return weights


def _description(name: str) -> DenseModelDescription:
    known = TextEmbedding.list_supported_models()
    for fields in known:
        if fields["model"].lower() == name.lower():
            return DenseModelDescription(**{**fields, "sources": ModelSource(**fields["sources"])})
    names = ", ".join(sorted(fields["model"] for fields in known))
    message = f"fastembed knows no model {name!r}; it knows {names}"
    raise ModelUnavailable(message)
