"""Learns which capabilities a plain request calls for; writes retrieval/implied_capabilities.npz.

A perceptron of one hidden layer from a question's adapted vector and its words to the vocabulary's capabilities. It is
learned from the requests of plain_requests/, and from the vocabulary: the name and each synonym of a capability is a
request for it, so that a word which few requests have ("RAG", "Airflow") is known too. `--check` holds a fifth of the
components out, with all their requests, and tells how often a capability that was noted is the first, or among three.
Needs torch beside the product's packages; takes some minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

import perceptrons  # noqa: E402
from perceptrons import Layers  # noqa: E402
from plain_lessons import Lessons, lessons  # noqa: E402

from repertoire.retrieval.implied_capabilities import (  # noqa: E402
    FILE,
    CapabilityModel,
    known_words,
    save,
    stems,
)

FEWEST = 2  # requests in which a word stands, for it to tell anything
HIDDEN, EPOCHS, DECAY = 512, 10, 0.1
SOFTENED = 1.3  # what log-odds are divided by: as sharp as they are learned, they cost cc_native first places
SEED = 0


def learn(taught: Lessons, reading_of: str) -> CapabilityModel:
    """Return what the lessons teach."""
    counts = Counter(word for row in taught.requests for word in set(stems(row["text"])))
    words = sorted(word for word, count in counts.items() if count >= FEWEST)
    rarity = np.log(len(taught.requests) / np.array([counts[word] for word in words], dtype=np.float32))
    places = {word: place for place, word in enumerate(words)}
    held = [known_words(row["text"], places, rarity) for row in taught.requests]
    targets = torch.tensor(taught.targets)

    def surprise(odds: Tensor, batch: Tensor) -> Tensor:
        return -(targets[batch] * functional.log_softmax(odds, dim=1)).sum(1).mean()

    usual = np.log(taught.targets.mean(axis=0) + 1e-5)
    learned = perceptrons.learn(taught.vectors, held, Layers(len(words), HIDDEN, EPOCHS, DECAY), usual, surprise)
    softer = replace(learned, of_hidden=learned.of_hidden / SOFTENED, offsets=learned.offsets / SOFTENED)
    return CapabilityModel(reading_of, tuple(taught.names), tuple(words), rarity, softer)


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
        save(learn(taught, reading_of), FILE)
        print(f"{len(taught.requests)} requests, {len(taught.names)} capabilities, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
