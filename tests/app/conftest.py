"""Provides a workbench for tests that ingest, and a store filled with the sample home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.workbench import workbench
from repertoire.store.database import Store
from sample_home import fill


@pytest.fixture
def bench(tmp_path, monkeypatch):
    with workbench(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "a.db") as opened:
        fill(opened)
        yield opened
