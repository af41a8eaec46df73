"""A store with a shelf of components, embedded by the bundled model, for every test of retrieval."""

from __future__ import annotations

import pytest

from repertoire.app.embed import embed_pending
from repertoire.inference.embedder import load
from repertoire.inference.weights import bundled
from repertoire.store.database import Store
from shelf import fill


@pytest.fixture(scope="session")
def embedder():
    return load(bundled())


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "repertoire.db") as opened:
        fill(opened, installed=("changelog",))
        yield opened


@pytest.fixture
def embedded(store, embedder):
    embed_pending(store, embedder)
    return store
