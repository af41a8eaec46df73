"""Reads the plain requests, and the capabilities that each calls for, with the vectors of their texts."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

from repertoire.app.wiring import open_embedder  # noqa: E402
from repertoire.catalogue import reading  # noqa: E402
from repertoire.ports import Embedder  # noqa: E402
from repertoire.settings import Settings  # noqa: E402

PLAIN = HERE / "plain_requests"
REQUESTS = PLAIN / "requests.jsonl"
ALL_REQUESTS = (REQUESTS, *(PLAIN / f"{name}.jsonl" for name in ("by_capability", "by_role", "urgent")))


@dataclass(frozen=True)
class Lessons:
    """Requests with the capabilities of the vocabulary that they call for, the first counting most."""

    requests: list[dict[str, Any]]
    vectors: np.ndarray
    names: list[str]
    targets: np.ndarray

    def where(self, rows: np.ndarray) -> Lessons:
        """Return the lessons of some rows."""
        kept = [row for row, wanted in zip(self.requests, rows, strict=True) if wanted]
        return Lessons(kept, self.vectors[rows], self.names, self.targets[rows])


def lessons(files: Sequence[Path] = ALL_REQUESTS) -> tuple[Lessons, str]:
    """Return what is learned from, and the reading of its vectors."""
    known = reading.load().capabilities
    rows = [
        {"component": None, **json.loads(line), "file": file.stem}
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    rows = [row for row in rows if known.keys() & row["capabilities"]]
    written = {name for row in rows for name in row["capabilities"]}
    rows += [row for name in sorted(written & known.keys()) for row in _named(known[name])]
    embedder = bundled_embedder()
    texts = [row["text"] for row in rows]
    vectors = np.concatenate([embedder.embed_queries(texts[at : at + 64]) for at in range(0, len(texts), 64)])
    names = sorted({name for row in rows for name in row["capabilities"] if name in known})
    place = {name: index for index, name in enumerate(names)}
    targets = np.zeros((len(rows), len(names)), dtype=np.float32)
    for index, row in enumerate(rows):
        for order, name in enumerate(name for name in row["capabilities"] if name in place):
            targets[index, place[name]] = 1.0 / (1 + order)
    targets /= targets.sum(axis=1, keepdims=True)
    return Lessons(rows, vectors, names, targets), embedder.query_encoder


def bundled_embedder() -> Embedder:
    """Return the model that ships, or end the script."""
    embedder, _ = open_embedder(Path("/nowhere"), Settings())
    if embedder is None:
        sys.exit("the bundled model cannot be loaded")
    return embedder


def lines(*names: str) -> list[str]:
    """Return the lines of some files of plain_requests/, without empty ones."""
    return [line for name in names for line in (PLAIN / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def _named(capability: reading.Capability) -> list[dict[str, Any]]:
    """Return the name and the synonyms of a capability as requests for it."""
    phrases = dict.fromkeys((capability.term.replace("-", " "), *capability.synonyms))
    return [{"text": phrase, "capabilities": [capability.term], "component": None, "named": True} for phrase in phrases]
