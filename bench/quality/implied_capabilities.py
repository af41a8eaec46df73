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
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

from plain_lessons import Lessons, lessons  # noqa: E402

from repertoire.retrieval.implied_capabilities import (  # noqa: E402
    FILE,
    SCALE,
    CapabilityModel,
    in_eight_bits,
    known_words,
    save,
    stems,
)

FEWEST = 2  # requests in which a word stands, for it to tell anything
HIDDEN, DROPPED = 512, 0.5
EPOCHS, BATCH, RATE, DECAY = 10, 256, 2e-3, 0.1
SOFTENED = 1.3  # what log-odds are divided by: as sharp as they are learned, they cost cc_native first places
SEED = 0


def learn(taught: Lessons, reading_of: str) -> CapabilityModel:
    """Return what the lessons teach."""
    counts = Counter(word for row in taught.requests for word in set(stems(row["text"])))
    words = sorted(word for word, count in counts.items() if count >= FEWEST)
    rarity = np.log(len(taught.requests) / np.array([counts[word] for word in words], dtype=np.float32))
    places = {word: place for place, word in enumerate(words)}
    held = [known_words(row["text"], places, rarity) for row in taught.requests]
    torch.manual_seed(SEED)
    network = Network(taught.vectors.shape[1], len(words), np.log(taught.targets.mean(axis=0) + 1e-5))
    fit(network, taught, held)
    weights = [part.detach().numpy().astype(np.float32) for part in network.parts()]
    of_vector, of_words, hidden_offsets, of_hidden, offsets = weights
    of_words, steps = in_eight_bits(of_words)
    return CapabilityModel(
        reading_of,
        tuple(taught.names),
        tuple(words),
        rarity,
        of_vector,
        of_words,
        steps,
        hidden_offsets,
        of_hidden / SOFTENED,
        offsets / SOFTENED,
    )


class Network(nn.Module):
    """A perceptron of one hidden layer over a vector and a bag of words."""

    def __init__(self, width: int, words: int, usual: np.ndarray) -> None:
        super().__init__()
        self.vector = nn.Linear(width, HIDDEN)
        self.words = nn.EmbeddingBag(words, HIDDEN, mode="sum")
        self.drop = nn.Dropout(DROPPED)
        self.out = nn.Linear(HIDDEN, len(usual))
        nn.init.normal_(self.words.weight, std=0.02)
        nn.init.normal_(self.out.weight, std=0.02)
        self.out.bias.data = torch.tensor(usual, dtype=torch.float32)

    def forward(self, vectors: Tensor, held: Sequence[tuple[np.ndarray, np.ndarray]]) -> Tensor:
        """Return the log-odds of capabilities, up to a constant."""
        sizes = [len(known) for known, _ in held]
        begins = torch.tensor(np.concatenate(([0], np.cumsum(sizes)[:-1])))
        known, values = (torch.tensor(np.concatenate(part)) for part in zip(*held, strict=True))
        said = self.words(known, begins, per_sample_weights=values)
        return self.out(self.drop(functional.relu(self.vector(vectors) + said)))

    def parts(self) -> tuple[Tensor, ...]:
        """Return the weights of vector, words, hidden offsets, capabilities and their offsets."""
        return self.vector.weight.T, self.words.weight, self.vector.bias, self.out.weight.T, self.out.bias


def fit(network: Network, taught: Lessons, held: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Descend the surprise at what was noted, the rate falling to nothing."""
    chance = np.random.default_rng(SEED)
    vectors, targets = torch.tensor(SCALE * taught.vectors), torch.tensor(taught.targets)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    steps, step = EPOCHS * (len(held) // BATCH), 0
    for _ in range(EPOCHS):
        order = chance.permutation(len(held))
        for at in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[at : at + BATCH]
            for group in optimizer.param_groups:
                group["lr"] = RATE * (1.0 - step / steps)
            likely = functional.log_softmax(network(vectors[batch], [held[row] for row in batch]), dim=1)
            loss = -(targets[batch] * likely).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
    network.eval()


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
