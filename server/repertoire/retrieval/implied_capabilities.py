"""Predicts the capabilities that a plain request implies without naming them, by a learned perceptron.

"Add dark mode" names no capability, and no description is worded like it. A hidden layer reads a question's adapted
vector and its words; it was learned on some twenty thousand requests, each labelled with its capabilities
(bench/quality/plain_requests). The graph then gives the components that provide them. A walk from the nearest of these
requests gained less than half as much; without the hidden layer a noted capability is first in 57 of 100, not 63.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from repertoire.domain.component import CAPABILITY, PROVIDES
from repertoire.domain.text import content_words, split_words
from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.matched_words import stem
from repertoire.retrieval.snapshot import Snapshot

MEANT = "meant"
FILE = Path(__file__).with_name("implied_capabilities.npz")
SCALE = 4.0  # factor on vector and words, so that one learning rate suits both
# Log-odds for providing the likely capabilities, for the description's cosine, and against a name that says other
# things. Learned on requests of six repositories, measured on tasks over eight others.
_PROVIDING, _NEAR, _BESIDE_IT = 0.79, 0.36, 0.25
_HEAD = 100  # rows whose names are compared; other rows count as if no word of their name was asked for
_SURE, _FEW = 0.15, 3  # least probability, and most, of capabilities whose words count as asked for
_LEVELS = 127.0  # steps of a weight in eight bits


@dataclass(frozen=True)
class CapabilityModel:
    """A perceptron from a question to capabilities, learned for one query encoder.

    Shapes: dimensions, words and capabilities by hidden units, as named. Weights of words are kept in eight bits, since
    they are many and a question has few of them.
    """

    query_encoder: str
    capabilities: tuple[str, ...]
    words: tuple[str, ...]
    rarity: Floats
    of_vector: Vectors  # dimensions by hidden units
    of_words: npt.NDArray[np.int8]  # words by hidden units, in `steps`
    steps: Vectors  # of the weights of each word
    hidden_offsets: Vectors
    of_hidden: Vectors  # hidden units by capabilities
    offsets: Floats

    def likely(self, text: str, adapted: Vectors) -> Floats:
        """Return the probability of each capability for a question; they sum up to 1."""
        known, values = known_words(text, self._places, self.rarity)
        said = (values * self.steps[known]) @ self.of_words[known].astype(np.float32)
        hidden = np.maximum(SCALE * adapted @ self.of_vector + said + self.hidden_offsets, 0.0)
        odds = (hidden @ self.of_hidden + self.offsets).astype(np.float64)
        odds = np.exp(odds - odds.max())
        return np.asarray(odds / odds.sum())

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}


def known_words(text: str, places: Mapping[str, int], rarity: Floats) -> tuple[Rows, Vectors]:
    """Return the places of a question's known words and their values: the rarity, brought to one length."""
    known = np.array([places[word] for word in sorted(set(stems(text))) if word in places], dtype=np.int64)
    values = rarity[known]
    size = float(np.linalg.norm(values))
    return known, (values * (SCALE / size) if size else values).astype(np.float32)


def stems(text: str) -> list[str]:
    """Return the stems of a text's content words."""
    return [stem(word) for word in content_words(text)]


def capability_model_for(query_encoder: str, path: Path = FILE) -> CapabilityModel | None:
    """Return the model that was learned for exactly this query encoder; None where there is none."""
    if not path.is_file():
        return None
    with np.load(path) as kept:
        if str(kept["reading"]) != query_encoder:
            return None
        return CapabilityModel(
            query_encoder,
            tuple(kept["capabilities"].tolist()),
            tuple(kept["words"].tolist()),
            kept["rarity"],
            kept["of_vector"].astype(np.float32) * kept["steps_of_vector"][:, None],
            kept["of_words"],
            kept["steps"],
            kept["hidden_offsets"],
            kept["of_hidden"].astype(np.float32) * kept["steps_of_hidden"][:, None],
            kept["offsets"],
        )


def save(model: CapabilityModel, path: Path) -> None:
    """Write a model to a file, with weights of eight bits each."""
    of_vector, of_hidden = in_eight_bits(model.of_vector), in_eight_bits(model.of_hidden)
    np.savez_compressed(
        path,
        reading=np.array(model.query_encoder),
        capabilities=np.array(model.capabilities),
        words=np.array(model.words),
        rarity=model.rarity.astype(np.float32),
        of_vector=of_vector[0],
        steps_of_vector=of_vector[1],
        of_words=model.of_words,
        steps=model.steps,
        hidden_offsets=model.hidden_offsets,
        of_hidden=of_hidden[0],
        steps_of_hidden=of_hidden[1],
        offsets=model.offsets.astype(np.float32),
    )


def in_eight_bits(weights: Vectors) -> tuple[npt.NDArray[np.int8], Vectors]:
    """Return weights as whole numbers of eight bits, and the step of each row."""
    steps = np.maximum(np.abs(weights).max(axis=1), 1e-9) / _LEVELS
    return np.round(weights / steps[:, None]).astype(np.int8), steps.astype(np.float32)


@dataclass(frozen=True)
class ImpliedCapabilities:
    """The capabilities that a question implies, and by row how far a component provides them."""

    likely: Mapping[str, float]  # probability by capability
    provided: Floats  # by row, the sum over its capabilities of the square root of the probability

    def likeliest(self, count: int) -> list[str]:
        """Return the names of the most probable capabilities, the most probable first."""
        return self._likeliest_first[:count]

    @cached_property
    def _likeliest_first(self) -> list[str]:
        return sorted(self.likely, key=self.likely.__getitem__, reverse=True)


@lru_cache(maxsize=4096)  # the same names stand at the head of many answers
def _stems_of_name(name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in split_words(name))


class CapabilityScorer:
    """Scores the components of the newest snapshot by the capabilities that a question implies."""

    def __init__(self, meant: CapabilityModel | None, synonyms: Mapping[str, Iterable[str]]) -> None:
        """Keep the model; `synonyms` maps each capability to its other words."""
        self._meant = meant
        self._synonyms = synonyms
        self._stems: dict[str, list[str]] = {}  # by capability
        self._kept: tuple[Snapshot, Rows, Rows, Floats] | None = None
        self._most_are_known = False

    def likely(self, text: str, adapted: Vectors) -> dict[str, float]:
        """Return the probability of each capability for a question; empty without a model."""
        if self._meant is None:
            return {}
        odds = self._meant.likely(text, adapted)
        return dict(zip(self._meant.capabilities, odds.tolist(), strict=True))

    def providing(self, snapshot: Snapshot, likely: Mapping[str, float]) -> Floats:
        """Return by row how far a component provides the probable capabilities."""
        self.read(snapshot)
        if self._kept is None or self._meant is None:
            return np.zeros(len(snapshot))
        _, rows, places, weights = self._kept
        odds = np.sqrt(np.array([likely.get(name, 0.0) for name in self._meant.capabilities]))
        return np.bincount(rows, weights * odds[places], minlength=len(snapshot)).astype(np.float64)

    def beside_it(self, snapshot: Snapshot, rows: Rows, text: str, implied: ImpliedCapabilities) -> Floats:
        """Return by row the share of a component's name that the question neither says nor implies; 1 beyond the head.

        A vendor, a framework or a trade in a name makes a component special.
        """
        meant = [name for name in implied.likeliest(_FEW) if implied.likely[name] > _SURE]
        asked = {stem(word) for word in split_words(text)}.union(*(self._words_of(name) for name in meant))
        share = np.ones(len(snapshot))
        for row in rows[:_HEAD].tolist():
            name = _stems_of_name(snapshot.summaries[row].name)
            share[row] = len(name - asked) / max(len(name), 1)
        return share

    def _words_of(self, capability: str) -> list[str]:
        if capability not in self._stems:
            listed = self._synonyms.get(capability)
            self._stems[capability] = stems(" ".join((capability, *listed))) if listed is not None else []
        return self._stems[capability]

    def knows_most(self, snapshot: Snapshot) -> bool:
        """Tell whether most components of a snapshot provide a capability that the model knows."""
        self.read(snapshot)
        return self._most_are_known

    def ask(self, snapshot: Snapshot, text: str, adapted: Vectors) -> ImpliedCapabilities | None:
        """Return the capabilities that a question implies, and which rows provide them; None without a model."""
        likely = self.likely(text, adapted)
        return ImpliedCapabilities(likely, self.providing(snapshot, likely)) if likely else None

    def odds(self, snapshot: Snapshot, rows: Rows, text: str, implied: ImpliedCapabilities, near: Floats) -> Floats:
        """Return the log-odds that implied capabilities add to each row; `near` holds the descriptions' cosines."""
        beside = self.beside_it(snapshot, rows, text, implied)
        return _PROVIDING * implied.provided + _NEAR * near - _BESIDE_IT * beside

    def read(self, snapshot: Snapshot) -> None:
        """Compute which rows provide which capabilities, if the snapshot is not the cached one."""
        if self._meant is None or (self._kept is not None and self._kept[0] is snapshot):
            return
        topology = snapshot.topology
        place = {name: index for index, name in enumerate(self._meant.capabilities)}
        surest: dict[tuple[int, int], float] = {}
        for edge in np.flatnonzero(np.asarray(topology.relation) == PROVIDES).tolist():
            row, end = int(snapshot.row_at[topology.source[edge]]), int(topology.target[edge])
            index = place.get(topology.names[end], -1) if topology.types[end] == CAPABILITY else -1
            if row >= 0 and index >= 0:
                weight = min(float(topology.weight[edge]), 1.0)
                surest[row, index] = max(surest.get((row, index), 0.0), weight)
        pairs = np.array(list(surest), dtype=np.int64).reshape(-1, 2)
        self._kept = snapshot, pairs[:, 0], pairs[:, 1], np.array(list(surest.values()))
        self._most_are_known = 2 * len(set(pairs[:, 0].tolist())) > int((~snapshot.inner_tools).sum())
