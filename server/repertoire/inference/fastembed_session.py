"""Runs and downloads embedding models with fastembed; importing this module costs half a second and 90 MB."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt
from fastembed import TextEmbedding
from fastembed.common.model_description import DenseModelDescription, ModelSource
from loguru import logger

from repertoire.domain.errors import ModelUnavailable, UnknownModel
from repertoire.domain.text import clean_line
from repertoire.inference.graphs import LOADING, be_quiet, clean, unavailable, unit
from repertoire.inference.weights import Weights, checksum, record
from repertoire.ports import Vectors

BATCH = 1  # see BundledSession

# The prefixes of a query and of a passage that each family of models was trained with; fastembed does not add them.
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


class FastembedSession:
    """A loaded fastembed model; several threads may call it at once, without a lock."""

    loaded = True

    def __init__(self, weights: Weights, *, threads: int = 1) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: the files do not load.
        """
        be_quiet()
        try:
            self._model = _open(weights, threads)
        except LOADING as error:
            raise unavailable(weights, error) from error
        self.model = weights.model
        self.query_encoder = weights.query_encoder
        self.dimensions = weights.dimensions
        self._query, self._passage = prefixes(weights.name)

    def load(self) -> None:
        """Do nothing: the model is in memory already."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of questions, one L2-normalised float32 row for each text."""
        return self._embed([self._query + text for text in texts], self._model.query_embed)

    def embed_question(self, text: str, parts: Sequence[str]) -> Vectors:
        """Return the vectors of a question and of each clause by itself, one L2-normalised float32 row for each."""
        return self.embed_queries([text, *parts])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of component texts, one L2-normalised float32 row for each text."""
        return self._embed([self._passage + text for text in texts], self._model.passage_embed)

    def _embed(self, texts: list[str], run: Callable[..., Iterable[_Vector]]) -> Vectors:
        return unit(run([clean(text) for text in texts], batch_size=BATCH), self.dimensions)


def _open(weights: Weights, threads: int) -> TextEmbedding:
    options: dict[str, Any] = {
        "cache_dir": str(weights.folder),  # fastembed creates this folder; its default is shared by all users
        "specific_model_path": str(weights.folder),
        "local_files_only": True,
        "threads": threads,
        "providers": ["CPUExecutionProvider"],
        "enable_cpu_mem_arena": False,  # an arena never frees the memory of the largest batch
    }
    return TextEmbedding(weights.name, **options)


def prefixes(name: str) -> tuple[str, str]:
    """Return the text prefixes of a model's queries and passages."""
    for start, query, passage in _PREFIXES:
        if name.lower().startswith(start):
            return query, passage
    return "", ""


def download(name: str, *, cache: Path) -> Weights:
    """Download a model of fastembed's list into the cache, embed one text with it, and record it there.

    Raises:
        ModelUnavailable: fastembed does not list the model, or the download failed.
    """
    description = _description(name)
    told: list[str] = []  # fastembed says why in its log alone, which is no output of ours
    logger.remove()
    logger.add(lambda line: told.append(str(line)), format="{message}", level="ERROR")
    try:
        folder = Path(TextEmbedding.download_model(description, str(cache), retries=1))
    except (OSError, ValueError) as error:
        why = clean_line(next(iter(told), str(error)).replace("Falling back to other sources.", ""), 300)
        message = (
            f"model {description.model!r} cannot be downloaded into {cache} ({why}); check the network and its "
            "proxy settings, or copy that folder from a machine where `repertoire model fetch` succeeded"
        )
        raise ModelUnavailable(message) from error
    files = (description.model_file, *description.additional_files)
    dimensions = TextEmbedding.get_embedding_size(description.model)
    size = sum((folder / file).stat().st_size for file in files)
    weights = Weights(description.model, folder, files, size, checksum(folder, files), dimensions)
    FastembedSession(weights).embed_queries(["a first try"])
    record(weights, cache=cache)
    return weights


def _description(name: str) -> DenseModelDescription:
    known = TextEmbedding.list_supported_models()
    for fields in known:
        if fields["model"].lower() == name.lower():
            return DenseModelDescription(**{**fields, "sources": ModelSource(**fields["sources"])})
    names = ", ".join(sorted(fields["model"] for fields in known))
    message = f"fastembed knows no model {name!r}; it knows {names}"
    raise UnknownModel(message)
