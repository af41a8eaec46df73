"""Runs the bundled embedding model with ONNX Runtime, without fastembed, whose import takes .3 s.

The model's dense layers take a low-rank adapter (LoRA) as inputs. Questions are embedded with one, components without;
with another it reads a question and a component together, as a cross-encoder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnxruntime import InferenceSession, OrtValue, SessionOptions  # type: ignore[import-untyped]
from tokenizers import Encoding, Tokenizer

from repertoire.boot.threads import usable_cores
from repertoire.domain.errors import ModelUnavailable
from repertoire.inference.adapters import Matrices, PairHead, read_adapter, read_pair_adapter
from repertoire.inference.graphs import LOADING, be_quiet, clean, unavailable, unit
from repertoire.inference.weights import Weights
from repertoire.ports import Vectors

_Vector = npt.NDArray[Any]
_SPECIAL = ("tokenizer.json", "tokenizer_config.json")
# Tokens of a pair that are read, as many as the pair adapter was learned on: each costs .2 ms.
OF_QUESTION, OF_TEXT = 64, 52
# Pairs that are read at once, since somebody waits: each takes one core and 8 MB. On two cores two take 1.4 times as
# long as one.
_AT_ONCE = min(4, usable_cores())


class BundledSession:
    """The loaded bundled model, safe for calls from several threads.

    It runs one text at a time: without padding this is faster than larger batches (81 texts a second, 73 in eights),
    needs 35 MB instead of 150, and no vector depends on its batch, even with dynamic quantisation.
    """

    loaded = True

    def __init__(self, weights: Weights, *, threads: int = 1) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: the files do not load.
        """
        be_quiet()
        try:
            self._tokenizer = _tokenizer(weights.folder)
            self._begin, self._end = self._tokenizer.encode("").ids
            self._session = _session(weights.folder / weights.files[0], threads)
            self._adapter = _inputs(read_adapter(weights.folder / weights.questions))
            self._pair_adapter: dict[str, OrtValue] = {}
            self._head: PairHead | None = None
            if weights.pairs:
                pairs, self._head = read_pair_adapter(weights.folder / weights.pairs)
                self._pair_adapter = _inputs(pairs)
        except LOADING as error:
            raise unavailable(weights, error) from error
        self.model = weights.model
        self.query_encoder = weights.query_encoder
        self.pair_encoder = weights.pair_encoder
        self.dimensions = weights.dimensions

    def load(self) -> None:
        """Do nothing: the model is in memory already."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the adapted vectors of questions, one L2-normalised float32 row for each text."""
        return unit((_mean(self._token_vectors(clean(text), self._adapter)[1]) for text in texts), self.dimensions)

    def embed_question(self, text: str, parts: Sequence[str]) -> Vectors:
        """Return the adapted vectors of a question and, by late chunking, of its clauses; one row for each."""
        read = clean(text)
        encoding, tokens = self._token_vectors(read, self._adapter)
        starts, ends = (np.array(edges) for edges in zip(*encoding.offsets, strict=True))
        spans_text = starts < ends  # special tokens stand for no character
        vectors = [_mean(tokens)]
        for part, (start, end) in zip(parts, _spans_of(read, [clean(part) for part in parts]), strict=True):
            own = spans_text & (starts >= start) & (ends <= end)
            vectors.append(tokens[own].mean(axis=0) if own.any() else self.embed_queries([part])[0])
        return unit(vectors, self.dimensions)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the plain vectors of component texts, one L2-normalised float32 row for each text."""
        return unit((_mean(self._token_vectors(clean(text), {})[1]) for text in texts), self.dimensions)

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Return the log-odds that the text of each pair serves its question and that it helps: one row of two each.

        Raises:
            ModelUnavailable: these weights have no pair adapter.
        """
        if self._head is None:
            message = f"{self.model} has no adapter for pairs of texts"
            raise ModelUnavailable(message)
        tokens = {question: self._ids(question)[:OF_QUESTION] for question, _ in pairs}
        read = [
            [self._begin, *tokens[question], self._end, *self._ids(text)[:OF_TEXT], self._end]
            for question, text in pairs
        ]
        with ThreadPoolExecutor(_AT_ONCE) as pool:  # for each call: a pair takes a hundred times as long as a thread
            means = pool.map(lambda ids: _mean(self._run(ids, self._pair_adapter)), read)
            return np.array([self._head(mean) for mean in means], dtype=np.float64).reshape(-1, 2)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(clean(text), add_special_tokens=False).ids
        return ids

    def _token_vectors(self, text: str, adapter: Mapping[str, OrtValue]) -> tuple[Encoding, _Vector]:
        """Return a text's tokens, and the contextual vector of each token."""
        encoding = self._tokenizer.encode(text)
        return encoding, self._run(encoding.ids, adapter)

    def _run(self, ids: Sequence[int], adapter: Mapping[str, OrtValue]) -> _Vector:
        given = {
            "input_ids": np.array([ids], dtype=np.int64),
            "attention_mask": np.ones((1, len(ids)), dtype=np.int64),
            "token_type_ids": np.zeros((1, len(ids)), dtype=np.int64),
        }
        vectors: _Vector = self._session.run(None, {**given, **adapter})[0][0]
        return vectors


def _inputs(matrices: Matrices) -> dict[str, OrtValue]:
    """Return matrices as values that are not copied at each run, which would cost half a millisecond."""
    return {name: OrtValue.ortvalue_from_numpy(matrix) for name, matrix in matrices.items()}


def _tokenizer(folder: Path) -> Tokenizer:
    vocabulary, configuration = ((folder / name).read_bytes() for name in _SPECIAL)
    tokenizer: Tokenizer = Tokenizer.from_buffer(vocabulary)  # `from_str` raises a bare Exception for a damaged file
    tokenizer.enable_truncation(max_length=int(json.loads(configuration)["model_max_length"]))
    tokenizer.no_padding()
    return tokenizer


def _session(graph: Path, threads: int) -> InferenceSession:
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.enable_cpu_mem_arena = False  # an arena keeps the largest text's memory for good
    return InferenceSession(str(graph), sess_options=options, providers=["CPUExecutionProvider"])


def _mean(tokens: _Vector) -> _Vector:
    """Return the normalised mean of token vectors, rounded as fastembed does, so that it equals stored vectors."""
    mean = tokens.sum(axis=0, dtype=np.float64) / len(tokens)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)


def _spans_of(text: str, parts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each part in a text, searched after the part before; 0 and 0 if it is not there."""
    after = 0
    for part in parts:
        start = text.find(part, after)
        start = text.find(part) if start < 0 else start
        after = start + len(part) if start >= 0 else after
        yield (start, start + len(part)) if start >= 0 else (0, 0)
