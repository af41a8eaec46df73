"""Learns which prompts need a component at all: `python bench/quality/need.py` rewrites retrieval/need.npz.

A perceptron over a prompt's adapted vector, its words and pairs of them: requests and asks of plain_requests/ against
its everyday prompts and what no component serves, which count twice as much together: most prompts need nothing.
`--check` holds a fifth of each out, five times, requests with all others of their component, and prints how many of
either are told right, then the same of what was written apart (`held_…`) by the model that ships. Needs torch beside
the product's packages.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

import perceptrons  # noqa: E402
from perceptrons import Layers  # noqa: E402
from plain_lessons import bundled_embedder, lessons, lines  # noqa: E402

from repertoire.retrieval.need import FILE, NeedModel, known_words, need_model_for, words_of  # noqa: E402

FEWEST = 4  # prompts in which a word or a pair stands, for it to tell anything
HIDDEN, EPOCHS, DECAY = 64, 8, 1.0
ASKING = 1.0 / 3.0  # share of the prompts of a session that count as asking for something
OF_ASKS = 4.0  # how often one of asks.txt counts among the requests, most of which nobody would take for private
FOLDS, SEED = 5, 0


@dataclass(frozen=True)
class Prompts:
    """Prompts, whether each asks for what a component may serve, how often it counts, whose requests go together."""

    texts: list[str]
    vectors: np.ndarray
    asking: np.ndarray
    counting: np.ndarray
    groups: list[str]

    def where(self, rows: np.ndarray) -> Prompts:
        """Return the prompts of some rows."""
        texts, groups = ([one[row] for row in np.flatnonzero(rows)] for one in (self.texts, self.groups))
        return Prompts(texts, self.vectors[rows], self.asking[rows], self.counting[rows], groups)


def prompts() -> tuple[Prompts, str]:
    """Return what is learned from, and the query encoder of its vectors."""
    taught, query_encoder = lessons()
    embedder = bundled_embedder()
    asks, idle = lines("asks.txt"), lines("everyday.txt", "everyday_small.txt", "none.txt")
    vectors = np.concatenate([taught.vectors, embedder.embed_queries([*asks, *idle])])
    texts = [*(row["text"] for row in taught.requests), *asks, *idle]
    groups = [*(row["component"] or row["text"] for row in taught.requests), *asks, *idle]
    counting = np.ones(len(texts))
    counting[len(taught.requests) : len(texts) - len(idle)] = OF_ASKS
    return Prompts(texts, vectors, np.arange(len(texts)) < len(texts) - len(idle), counting, groups), query_encoder


def learn(taught: Prompts, query_encoder: str, *, hidden: int = HIDDEN) -> NeedModel:
    """Return what the prompts teach."""
    counts = Counter(word for text in taught.texts for word in words_of(text))
    words = tuple(sorted(word for word, count in counts.items() if count >= FEWEST))
    places = {word: place for place, word in enumerate(words)}
    held = [known_words(text, places) for text in taught.texts]
    share = taught.counting[taught.asking].sum() / taught.counting.sum()
    each = np.where(taught.asking, ASKING / share, (1.0 - ASKING) / (1.0 - share))
    counting = torch.tensor(taught.counting * each, dtype=torch.float32)
    asking = torch.tensor(taught.asking, dtype=torch.float32)

    def surprise(odds: Tensor, batch: Tensor) -> Tensor:
        lost = functional.binary_cross_entropy_with_logits(odds[:, 0], asking[batch], reduction="none")
        return (counting[batch] * lost).mean()

    layers = Layers(len(words), hidden, EPOCHS, DECAY)
    return NeedModel(query_encoder, words, perceptrons.learn(taught.vectors, held, layers, np.zeros(1), surprise))


def held_out(taught: Prompts, query_encoder: str, *, hidden: int = HIDDEN) -> np.ndarray:
    """Return the odds of each prompt by a model that learned nothing from its group, in FOLDS folds."""
    chance = np.random.default_rng(SEED)
    fold = {group: int(chance.integers(FOLDS)) for group in sorted(set(taught.groups))}
    own = np.array([fold[group] for group in taught.groups])
    odds = np.zeros(len(own))
    for out in range(FOLDS):
        kept = own != out
        model = learn(taught.where(kept), query_encoder, hidden=hidden)
        for place in np.flatnonzero(~kept):
            odds[place] = model.odds(taught.texts[place], taught.vectors[place])
    return odds


def check(taught: Prompts, query_encoder: str) -> None:
    """Print how many prompts that were held out are told right."""
    odds = held_out(taught, query_encoder)
    asking, idle = odds[taught.asking], odds[~taught.asking]
    likelier = np.searchsorted(np.sort(idle), asking).mean() / len(idle)
    told = f"requests {100 * np.mean(asking > 0):.1f} %, others {100 * np.mean(idle <= 0):.1f} %"
    print(f"{len(asking)} requests, {len(idle)} others held out: told right {told}; AUC {likelier:.3f}")
    ships, embedder = need_model_for(query_encoder), bundled_embedder()
    if ships is None:
        sys.exit(f"{FILE.name} was learned for other vectors; run this without --check first")
    for name, wanted in (("held_asks.txt", True), ("held_none.txt", False)):
        texts = lines(name)
        right = [(ships.odds(*pair) > 0) == wanted for pair in zip(texts, embedder.embed_queries(texts), strict=True)]
        print(f"{name}: {len(texts)}, told right {100 * np.mean(right):.1f} %")


def main() -> None:
    """Learn and write, or check."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    taught, query_encoder = prompts()
    if parser.parse_args().check:
        check(taught, query_encoder)
    else:
        learn(taught, query_encoder).save(FILE)
        print(f"{len(taught.texts)} prompts, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
