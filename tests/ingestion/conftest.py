"""A workbench that ingests files from a source and shows the resulting components."""

from __future__ import annotations

import pytest

from ingestion.workbench import workbench


@pytest.fixture
def bench(tmp_path, monkeypatch):
    with workbench(tmp_path, monkeypatch) as made:
        yield made
