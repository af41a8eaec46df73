"""Learns which capabilities a plain request calls for; writes retrieval/implied_capabilities.npz.

A softmax regression from a question's adapted vector and its words to the vocabulary's capabilities, learned from the
requests of plain_requests/, and from the vocabulary: the name and each synonym of a capability is a request for it, so
that a word which few requests have ("RAG", "Airflow") is known too. `--check` holds a fifth of the components out, with
all their requests, and tells how often a capability that was noted is the first, or among the first three.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

from repertoire.app.wiring import open_embedder  # noqa: E402
from repertoire.catalogue import reading  # noqa: E402
from repertoire.retrieval.implied_capabilities import FILE, CapabilityModel, stems  # noqa: E402
from repertoire.settings import Settings  # noqa: E402

PLAIN = HERE / "plain_requests"
REQUESTS = PLAIN / "requests.jsonl"
ALL_REQUESTS = (REQUESTS, PLAIN / "by_capability.jsonl", PLAIN / "by_role.jsonl")
FEWEST = 2  # requests in which a word stands, for it to tell anything
EPOCHS, BATCH, RATE, DECAY = 15, 256, 0.02, 3e-4
ONE, TWO = 0.9, 0.999  # Adam's
SEED = 0


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
    embedder, _ = open_embedder(Path("/nowhere"), Settings())
    if embedder is None:
        sys.exit("the bundled model cannot be loaded")
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


def _named(capability: reading.Capability) -> list[dict[str, Any]]:
    """Return the name and the synonyms of a capability as requests for it."""
    phrases = dict.fromkeys((capability.term.replace("-", " "), *capability.synonyms))
    return [{"text": phrase, "capabilities": [capability.term], "component": None, "named": True} for phrase in phrases]


def learn(taught: Lessons, reading_of: str) -> CapabilityModel:
    """Return what the lessons teach."""
    counts = Counter(word for row in taught.requests for word in set(stems(row["text"])))
    words = sorted(word for word, count in counts.items() if count >= FEWEST)
    rarity = np.log(len(taught.requests) / np.array([counts[word] for word in words], dtype=np.float32))
    width = taught.vectors.shape[1] + len(words)
    blank = CapabilityModel(
        reading_of,
        tuple(taught.names),
        tuple(words),
        rarity,
        np.zeros((width, len(taught.names)), dtype=np.float32),
        np.log(taught.targets.mean(axis=0) + 1e-5),
    )
    seen = np.stack(
        [blank.features(row["text"], vector) for row, vector in zip(taught.requests, taught.vectors, strict=True)]
    )
    weights, offsets = _fitted(seen, taught.targets, blank.weights.copy(), blank.offsets.copy())
    return CapabilityModel(reading_of, blank.capabilities, blank.words, rarity, weights, offsets)


def _fitted(
    seen: np.ndarray, targets: np.ndarray, weights: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(SEED)
    moments = [np.zeros_like(part) for part in (weights, weights, offsets, offsets)]
    step = 0
    for _ in range(EPOCHS):
        order = chance.permutation(len(seen))
        for at in range(0, len(order), BATCH):
            batch = order[at : at + BATCH]
            odds = seen[batch] @ weights + offsets
            odds = np.exp(odds - odds.max(axis=1, keepdims=True))
            wrong = (odds / odds.sum(axis=1, keepdims=True) - targets[batch]) / len(batch)
            step += 1
            slopes = (seen[batch].T @ wrong + DECAY * weights, wrong.sum(axis=0))
            for place, (part, slope) in enumerate(zip((weights, offsets), slopes, strict=True)):
                moments[2 * place] = ONE * moments[2 * place] + (1 - ONE) * slope
                moments[2 * place + 1] = TWO * moments[2 * place + 1] + (1 - TWO) * slope * slope
                size = np.sqrt(moments[2 * place + 1] / (1 - TWO**step)) + 1e-8
                np.subtract(part, RATE * (moments[2 * place] / (1 - ONE**step)) / size, out=part)
    return weights, offsets


def check(taught: Lessons, reading_of: str) -> None:
    """Print how often what was noted is found, on components that were held out."""
    chance = np.random.default_rng(SEED)
    sources = sorted({row["component"] or row["text"] for row in taught.requests if "named" not in row})
    chance.shuffle(sources)
    held = set(sources[: len(sources) // 5])
    out = np.array([(row["component"] or row["text"]) in held and "named" not in row for row in taught.requests])
    model, asked = learn(taught.where(~out), reading_of), taught.where(out)
    found: dict[str, list[tuple[bool, bool]]] = {}
    for row, vector in zip(asked.requests, asked.vectors, strict=True):
        best = [model.capabilities[place] for place in np.argsort(-model.likely(row["text"], vector))[:3]]
        noted = set(row["capabilities"])
        found.setdefault(row["file"], []).append((best[0] in noted, bool(noted.intersection(best))))
    for file, rows in found.items():
        first, third = np.mean(rows, axis=0)
        print(f"{file}: {len(rows)} held out, first {first:.3f}, one of three {third:.3f}")


def main() -> None:
    """Learn and write, or check."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    taught, reading_of = lessons()
    if parser.parse_args().check:
        check(taught, reading_of)
    else:
        learn(taught, reading_of).save(FILE)
        print(f"{len(taught.requests)} requests, {len(taught.names)} capabilities, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
