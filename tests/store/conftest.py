"""A store with nothing in it, on a disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from repertoire.store.database import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "repertoire.db") as opened:
        yield opened
