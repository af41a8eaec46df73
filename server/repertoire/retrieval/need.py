"""Estimates whether a prompt asks for work that a component may serve, or for an everyday step that needs none.

"Commit this" and "rename this variable" match components about just that, and need none of them. Everyday prompts
differ from requests by their wording, whatever components are stored: a perceptron over a prompt's adapted vector,
words and word pairs, learned from requests and everyday prompts (bench/quality/plain_requests).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from repertoire.domain.text import content_words
from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Rows
from repertoire.retrieval.learned_arrays import arrays_for
from repertoire.retrieval.perceptron import SCALE, Perceptron

NEED = "need"
# From these log-odds down a prompt draws no hint, even if the first component serves at .999 and the prompt has a
# subject of components; tests/app/session/test_hint.py holds it against the thresholds of hints.
NO_HINT = -2.85
FILE = Path(__file__).with_name("need.npz")
_MOST = 600  # characters that are read: a request says early what it asks for
_WORD = re.compile(r"[a-z']+")
# The words of an error message after a symptom ("the Docker build fails: failed to solve …") are no one's wording.
_SYMPTOM = re.compile(r"\b(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|dies|throws?|breaks)(?: with\b|:)", re.IGNORECASE)
_SAID = 2  # content words before a message from which on they alone are read


@dataclass(frozen=True)
class NeedModel:
    """A perceptron from a prompt's vector and words to one log-odds, learned for one query encoder."""

    query_encoder: str
    words: tuple[str, ...]  # single words, and pairs of adjacent words
    perceptron: Perceptron

    def odds(self, text: str, adapted: Vectors) -> float:
        """Return the log-odds that a prompt asks for work that a component may serve."""
        hidden = self.perceptron.hidden(adapted, *known_words(text, self._places))
        return float(self.perceptron.outputs(hidden)[0])

    def save(self, path: Path = FILE) -> None:
        """Write the model to a file."""
        np.savez_compressed(
            path,
            allow_pickle=False,
            reading=np.array(self.query_encoder),
            words=np.array("\n".join(self.words)),
            **self.perceptron.arrays(),
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}


def without_message(text: str) -> str:
    """Return a prompt up to the message of an error that it tells of; as it is without one or with little else."""
    symptom = _SYMPTOM.search(text[:_MOST])
    if symptom is None or len(content_words(text[: symptom.start()])) < _SAID:
        return text
    return text[: symptom.end()]


def known_words(text: str, places: Mapping[str, int]) -> tuple[Rows, Vectors]:
    """Return the places of a prompt's known words and pairs, and their values: all equal, brought to one length."""
    known = np.array(sorted(places[word] for word in words_of(text) if word in places), dtype=np.int64)
    return known, np.full(len(known), SCALE / np.sqrt(max(len(known), 1)), dtype=np.float32)


def words_of(text: str) -> set[str]:
    """Return the words and the pairs of adjacent words at the beginning of a text."""
    words = _WORD.findall(text[:_MOST].lower())
    return {*words, *(f"{first} {second}" for first, second in itertools.pairwise(words))}


@cache
def need_model_for(query_encoder: str, path: Path = FILE) -> NeedModel | None:
    """Return the model that was learned for exactly this query encoder, read once a process; None if there is none."""
    kept = arrays_for(path, query_encoder)
    if kept is None:
        return None
    return NeedModel(query_encoder, tuple(str(kept["words"]).split("\n")), Perceptron.of(kept))
