"""A workbench for every test of the app that ingests."""

from __future__ import annotations

import pytest

from ingestion.workbench import workbench


@pytest.fixture
def bench(tmp_path, monkeypatch):
    with workbench(tmp_path, monkeypatch) as made:
        yield made
