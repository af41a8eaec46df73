"""A workbench for what one source's files become."""

from __future__ import annotations

import pytest

from ingestion.workbench import workbench


@pytest.fixture
def bench(tmp_path, monkeypatch):
    with workbench(tmp_path, monkeypatch) as made:
        yield made
