"""Learns which prompts need a component at all: `python bench/quality/need.py` rewrites retrieval/need.npz.

A logistic regression from a prompt's adapted vector, its words and pairs of them: requests of plain_requests/ against
its everyday prompts and what no component serves, both sides counting the same. `--check` holds a fifth of each out,
five times, requests with all others of their component, and prints how many of either are told right.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

from plain_lessons import REQUESTS, lessons  # noqa: E402

from repertoire.app.wiring import open_embedder  # noqa: E402
from repertoire.retrieval.need import FILE, NeedModel, words_of  # noqa: E402
from repertoire.settings import Settings  # noqa: E402

PLAIN = HERE / "plain_requests"
FEWEST = 4  # prompts in which a word or a pair stands, for it to tell anything
DECAY, STEPS, FOLDS, SEED = 10.0, 12, 5, 0


@dataclass(frozen=True)
class Prompts:
    """Prompts, whether each asks for what a component may serve, and whose requests go together."""

    texts: list[str]
    vectors: np.ndarray
    asking: np.ndarray
    groups: list[str]


def prompts() -> tuple[Prompts, str]:
    """Return what is learned from, and the query encoder of its vectors."""
    taught, query_encoder = lessons((REQUESTS,))
    embedder, _ = open_embedder(Path("/nowhere"), Settings())
    if embedder is None:
        sys.exit("the bundled model cannot be loaded")
    names = ("everyday.txt", "none.txt")
    idle = [line for name in names for line in (PLAIN / name).read_text(encoding="utf-8").splitlines() if line.strip()]
    vectors = np.concatenate([taught.vectors, embedder.embed_queries(idle)])
    texts = [*(row["text"] for row in taught.requests), *idle]
    groups = [*(row["component"] or row["text"] for row in taught.requests), *idle]
    return Prompts(texts, vectors, np.arange(len(texts)) < len(taught.requests), groups), query_encoder


def learn(taught: Prompts, query_encoder: str) -> NeedModel:
    """Return what the prompts teach: Newton's steps, each solved over the prompts, of which there are fewer."""
    counts = Counter(word for text in taught.texts for word in words_of(text))
    words = tuple(sorted(word for word, count in counts.items() if count >= FEWEST))
    blank = NeedModel(query_encoder, words, np.zeros(0, dtype=np.float32), 0.0)
    pairs = zip(taught.texts, taught.vectors, strict=True)
    seen = np.stack([blank.features(text, vector) for text, vector in pairs])
    share = taught.asking.mean()
    counting = np.where(taught.asking, 0.5 / share, 0.5 / (1.0 - share)).astype(np.float32)
    weights, offset = np.zeros(seen.shape[1], dtype=np.float32), 0.0
    for _ in range(STEPS):
        likely = 1.0 / (1.0 + np.exp(-(seen @ weights + offset)))
        curve = np.maximum(counting * likely * (1.0 - likely), 1e-4)
        target = seen @ weights + offset + counting * (taught.asking - likely) / curve
        weights, offset = _ridge(seen, target, curve)
    return NeedModel(query_encoder, words, weights, offset)


def _ridge(seen: np.ndarray, target: np.ndarray, counting: np.ndarray) -> tuple[np.ndarray, float]:
    """Return weights and offset of a weighted ridge regression, the offset free."""
    middle, level = np.average(seen, axis=0, weights=counting), np.average(target, weights=counting)
    root = np.sqrt(counting)[:, None]
    scaled, wanted = (seen - middle) * root, (target - level) * root[:, 0]
    if scaled.shape[0] < scaled.shape[1]:
        weights = scaled.T @ np.linalg.solve(scaled @ scaled.T + DECAY * np.eye(len(scaled)), wanted)
    else:
        weights = np.linalg.solve(scaled.T @ scaled + DECAY * np.eye(scaled.shape[1]), scaled.T @ wanted)
    return weights.astype(np.float32), float(level - middle @ weights)


def held_out(taught: Prompts, query_encoder: str) -> np.ndarray:
    """Return the odds of each prompt by a model that learned nothing from its group, in FOLDS folds."""
    chance = np.random.default_rng(SEED)
    fold = {group: int(chance.integers(FOLDS)) for group in sorted(set(taught.groups))}
    own = np.array([fold[group] for group in taught.groups])
    odds = np.zeros(len(own))
    for out in range(FOLDS):
        kept = own != out
        texts = [text for text, keep in zip(taught.texts, kept, strict=True) if keep]
        model = learn(Prompts(texts, taught.vectors[kept], taught.asking[kept], []), query_encoder)
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
