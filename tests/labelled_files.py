"""Writes the files of a labelled set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Rows = Iterable[Mapping[str, Any]]


def write_labelled_set(folder: Path, corpus: Rows, queries: Rows, gold: str) -> Path:
    """Write a labelled set of these rows, queries and lines of gold into a new folder, and return it."""
    folder.mkdir()
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "qrels.tsv").write_text(gold)
    return folder
