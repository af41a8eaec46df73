"""Thousands of real components, read and embedded once into a cache, for tests whose answers were read by eye."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from repertoire.app.kernel import Repertoire
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.ingest import ingest
from repertoire.app.sources.settle import settle, write_catalogue
from repertoire.app.wiring import open_repertoire

DATA = "REPERTOIRE_COMPONENTS_DATA"  # names a folder that holds a folder for each repository
UNHURRIED = {"REPERTOIRE_QUERY_MS": "60000"}  # how busy a machine is must not decide what is recommended


@contextmanager
def real_components(config: pytest.Config) -> Iterator[Repertoire]:
    """Open a home that holds them all; the first run takes minutes, later ones read what changed."""
    home = config.cache.mkdir("real-components")
    with open_repertoire(home, environment=UNHURRIED) as opened:
        for folder in repositories():
            ingest(opened.store, home, str(folder), settings=opened.settings)
        write_catalogue(opened.store)  # as every user has it: whether an earlier run had read it must not decide either
        settle(opened.store)
        assert opened.embedder is not None
        embed_pending(opened.store, opened.embedder)
        yield opened


def repositories() -> list[Path]:
    """Return the folders of the repositories."""
    return [folder for folder in sorted(Path(os.environ[DATA]).iterdir()) if folder.is_dir() and "+" in folder.name]
