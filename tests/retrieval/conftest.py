"""A store of components, embedded by the bundled model, for all tests of retrieval."""

from __future__ import annotations

import shutil

import pytest

from repertoire.app.sources.embed import embed_pending
from repertoire.store.database import Store
from sample_home import fill


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "repertoire.db") as opened:
        fill(opened, installed=("changelog",))
        yield opened


@pytest.fixture(scope="session")
def embedded_shelf(tmp_path_factory, embedder):
    """Embed the shelf once; every test gets a copy of its own."""
    path = tmp_path_factory.mktemp("shelf") / "repertoire.db"
    with Store.open(path) as opened:
        fill(opened, installed=("changelog",))
        embed_pending(opened, embedder)
    return path


@pytest.fixture
def embedded(tmp_path, embedded_shelf):
    path = shutil.copy(embedded_shelf, tmp_path / "embedded.db")
    with Store.open(path) as opened:
        yield opened
