"""Computes the vectors of traces, one for the problem and one for the solution, in small batches."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress

from repertoire.domain.errors import StoreBusy
from repertoire.domain.trace import PROBLEM_SPACE, SOLUTION_SPACE, Trace
from repertoire.ports import Embedder
from repertoire.retrieval.translation import english_of, in_english, is_multilingual
from repertoire.retrieval.translation_dictionary import dictionaries_digest
from repertoire.store.database import Store

SPACES = (PROBLEM_SPACE, SOLUTION_SPACE)
_BATCH = 16
_AT_ONCE = 4  # batches that a search waits for
_READ = 2_000  # characters: more than the model reads


def embed_traces(store: Store, embedder: Embedder, *, stop: Callable[[], bool] = lambda: False) -> None:
    """Embed the traces without a vector."""
    for space in SPACES:
        while not stop():
            rows = store.traces.pending(space, embedder.model, limit=_BATCH)
            if not rows:
                break
            traces = store.traces.by_id(node_id for node_id, _ in rows)
            vectors = embedder.embed_passages([passage(space, traces[node_id], embedder.model) for node_id, _ in rows])
            store.vectors.put(space, embedder.model, rows, vectors)


def embed_foreign_again(store: Store, model: str) -> None:
    """Delete the vectors of traces that other dictionaries translated, or none: they are embedded anew, once."""
    version = dictionaries_digest()
    if is_multilingual(model) or store.traces.is_translated_with(version):
        return
    traces = store.traces.by_id(node_id for node_id, _ in store.traces.states())
    foreign = (one for one, told in traces.items() if english_of(f"{told.title}\n{told.context}\n{told.solution}"))
    store.traces.embed_again(foreign, version)


def embed_latest(store: Store, embedder: Embedder) -> None:
    """Embed a few new traces, so that a search finds them by vector; a refresh embeds the rest."""
    if not store.read_only:
        rounds = itertools.count()
        with suppress(StoreBusy):
            embed_traces(store, embedder, stop=lambda: next(rounds) >= _AT_ONCE)


def all_embedded(store: Store, model: str) -> bool:
    """Tell whether no trace is left for a refresh to embed."""
    return not any(store.traces.pending(space, model, limit=1) for space in SPACES)


def passage(space: str, trace: Trace, model: str) -> str:
    """Return the text of a trace that a model embeds in a vector space: in English, unless it reads other languages."""
    told = trace.solution if space == SOLUTION_SPACE else trace.context
    return in_english(f"{trace.title}\n{told}"[:_READ], model)
