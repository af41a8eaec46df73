"""Estimates whether a prompt asks for work that a component may serve, or for an everyday step that needs none.

"Commit this" and "rename this variable" match components about just that, and need none of them. Everyday prompts
differ from requests by their wording, whatever components are stored: a logistic regression on a prompt's adapted
vector, words and word pairs, learned from requests and everyday prompts (bench/quality/plain_requests).
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from repertoire.ports import Vectors

FILE = Path(__file__).with_name("need.npz")
SCALE = 4.0  # factor on vector and words, so that one regularisation penalty suits both
_MOST = 600  # characters that are read: a request says early what it asks for
_LEVELS = 127.0  # steps of a weight in eight bits
_WORD = re.compile(r"[a-z']+")


@dataclass(frozen=True)
class NeedModel:
    """A logistic regression on a prompt's vector and words, learned for one query encoder."""

    query_encoder: str
    words: tuple[str, ...]  # single words, and pairs of adjacent words
    weights: Vectors  # of the vector's dimensions, then of the words
    offset: float

    def features(self, text: str, adapted: Vectors) -> Vectors:
        """Return a prompt's features: its adapted vector, its words and its word pairs."""
        word_values = np.zeros(len(self.words), dtype=np.float32)
        known = [self._places[word] for word in words_of(text) if word in self._places]
        word_values[known] = 1.0 / np.sqrt(max(len(known), 1))
        return np.concatenate([SCALE * adapted, SCALE * word_values]).astype(np.float32)

    def odds(self, text: str, adapted: Vectors) -> float:
        """Return the log-odds that a prompt asks for work that a component may serve."""
        return float(self.features(text, adapted) @ self.weights) + self.offset

    def save(self, path: Path = FILE) -> None:
        """Write the model to a file, with weights of eight bits each."""
        step = max(float(np.abs(self.weights).max()), 1e-9) / _LEVELS
        np.savez_compressed(
            path,
            reading=np.array(self.query_encoder),
            words=np.array("\n".join(self.words)),
            weights=np.round(self.weights / step).astype(np.int8),
            step=np.array(step),
            offset=np.array(self.offset),
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}


def words_of(text: str) -> set[str]:
    """Return the words and the pairs of adjacent words at the beginning of a text."""
    words = _WORD.findall(text[:_MOST].lower())
    return {*words, *(f"{first} {second}" for first, second in itertools.pairwise(words))}


def need_model_for(query_encoder: str, path: Path = FILE) -> NeedModel | None:
    """Return the model that was learned for exactly this query encoder; None where there is none."""
    if not path.is_file():
        return None
    with np.load(path) as kept:
        if str(kept["reading"]) != query_encoder:
            return None
        weights = kept["weights"].astype(np.float32) * float(kept["step"])
        return NeedModel(query_encoder, tuple(str(kept["words"]).split("\n")), weights, float(kept["offset"]))
