"""Predicts the capabilities that a plain request implies without naming them, by a learned perceptron.

"Add dark mode" names no capability, and no description is worded like it. A hidden layer reads a question's adapted
vector and its words; it was learned on some twenty thousand requests, each labelled with its capabilities
(bench/quality/plain_requests). The graph then gives the components that provide them. A walk from the nearest of these
requests gained less than half as much; without the hidden layer a noted capability is first in 57 of 100, not 63.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from repertoire.domain.answer import DESCRIPTION_SPACE
from repertoire.domain.component import Component
from repertoire.domain.text import content_words, split_words
from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.learned_arrays import arrays_for
from repertoire.retrieval.matched_words import stem
from repertoire.retrieval.perceptron import SCALE, Perceptron
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.snapshot_cache import SnapshotCache

MEANT = "meant"
FILE = Path(__file__).with_name("implied_capabilities.npz")
# Log-odds for providing the likely capabilities, for the description's cosine, and against a name that says other
# things. Learned on requests of six repositories, measured on tasks over eight others.
_PROVIDING, _NEAR, _BESIDE_IT = 0.79, 0.36, 0.25
_HEAD = 100  # rows whose names are compared; other rows count as if no word of their name was asked for
_SURE, _FEW = 0.15, 3  # least probability, and most, of capabilities whose words count as asked for
_LEAST_HELD = 0.1  # least sum of certainties by which a share is taken
_FIRST_SENTENCE = 200  # characters of a description that tell what a component is for
_MOST_DESCRIBED = 2000  # components whose hidden units are kept, 5 kB each
_TINY = 1e-9


@dataclass(frozen=True)
class CapabilityModel:
    """A perceptron from a question to capabilities, learned for one query encoder."""

    query_encoder: str
    capabilities: tuple[str, ...]
    words: tuple[str, ...]
    rarity: Floats
    perceptron: Perceptron

    def likely(self, text: str, vector: Vectors) -> Floats:
        """Return the probability of each capability for a question; they sum up to 1."""
        return self.likely_of(self.hidden(text, vector))

    def hidden(self, text: str, vector: Vectors | None) -> Vectors:
        """Return the hidden units for a text and its vector, if it has one."""
        return self.perceptron.hidden(vector, *known_words(text, self._places, self.rarity))

    def likely_of(self, hidden: Vectors) -> Floats:
        """Return the probability of each capability for hidden units."""
        odds = self.perceptron.outputs(hidden)
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


@cache
def capability_model_for(query_encoder: str, path: Path = FILE) -> CapabilityModel | None:
    """Return the model that was learned for exactly this query encoder, read once a process; None if there is none."""
    kept = arrays_for(path, query_encoder)
    if kept is None:
        return None
    words, capabilities = (tuple(kept[name].tolist()) for name in ("words", "capabilities"))
    return CapabilityModel(query_encoder, capabilities, words, kept["rarity"], Perceptron.of(kept))


def save(model: CapabilityModel, path: Path) -> None:
    """Write a model to a file."""
    np.savez_compressed(
        path,
        reading=np.array(model.query_encoder),
        capabilities=np.array(model.capabilities),
        words=np.array(model.words),
        rarity=model.rarity.astype(np.float32),
        allow_pickle=False,
        **model.perceptron.arrays(),
    )


@dataclass(frozen=True)
class ImpliedCapabilities:
    """The capabilities that a question implies, and by row how far a component provides them."""

    likely: Mapping[str, float]  # probability by capability
    provided: Floats  # by row, the sum over its capabilities of the square root of the probability
    hidden: Vectors  # the hidden units for the question

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
        names = meant.capabilities if meant is not None else ()
        self._provisions = SnapshotCache(lambda snapshot: _known_provisions(snapshot, names))
        self._described = SnapshotCache[dict[int, tuple[Vectors, Floats, float]]](lambda _: {})  # by row

    def providing(self, snapshot: Snapshot, likely: Mapping[str, float]) -> Floats:
        """Return by row how far a component provides the probable capabilities."""
        if self._meant is None:
            return np.zeros(len(snapshot))
        known = self._provisions.of(snapshot)
        odds = np.sqrt(np.array([likely.get(name, 0.0) for name in self._meant.capabilities]))
        weights = known.weights * odds[known.places]
        return np.bincount(known.rows, weights, minlength=len(snapshot)).astype(np.float64)

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
        return self._meant is not None and self._provisions.of(snapshot).of_most

    def ask(self, snapshot: Snapshot, text: str, adapted: Vectors) -> ImpliedCapabilities | None:
        """Return the capabilities that a question implies, and which rows provide them; None without a model."""
        if self._meant is None:
            return None
        hidden = self._meant.hidden(text, adapted)
        likely = self._named(self._meant.likely_of(hidden))
        return ImpliedCapabilities(likely, self.providing(snapshot, likely), hidden)

    def _named(self, likely: Floats) -> dict[str, float]:
        return dict(zip(self._meant.capabilities, likely.tolist(), strict=True)) if self._meant is not None else {}

    def comparison(self, snapshot: Snapshot, rows: Rows, text: str, implied: ImpliedCapabilities) -> Floats:
        """Return how far rows provide what a question implies, one row of five figures each.

        They are the sum by square roots, the best, the sum, the sum by all that a row provides, and `beside_it`.
        """
        if self._meant is None:
            return np.zeros((len(rows), 5))
        holders, places, weights, _ = self._provisions.of(snapshot)
        likely = np.array([implied.likely.get(name, 0.0) for name in self._meant.capabilities])[places] * weights
        best = np.zeros(len(snapshot))
        np.maximum.at(best, holders, likely)
        whole = np.bincount(holders, likely, minlength=len(snapshot))
        held = np.bincount(holders, weights, minlength=len(snapshot))
        share = whole / np.maximum(held, _LEAST_HELD)
        beside = self.beside_it(snapshot, rows, text, implied)
        return np.stack([column[rows] for column in (implied.provided, best, whole, share, beside)], axis=1)

    def described(
        self, snapshot: Snapshot, rows: Rows, components: Sequence[Component], implied: ImpliedCapabilities
    ) -> Floats:
        """Return how alike a question and components' descriptions are by the capabilities that both imply.

        One row for each component: the overlap of the probabilities (Bhattacharyya), their product by the question's
        highest, the cosine of the hidden units, the description's highest probability, and minus its entropy.
        """
        if self._meant is None or not len(rows):
            return np.zeros((len(rows), 5))
        meant, asked = self._meant, np.array(list(implied.likely.values()))
        size = float(np.linalg.norm(implied.hidden))
        pairs = zip(rows.tolist(), components, strict=True)
        read = [self._of_description(meant, snapshot, row, component) for row, component in pairs]
        hidden, likely, entropy = (np.array(part) for part in zip(*read, strict=True))
        overlap, both = np.sqrt(likely * asked).sum(axis=1), likely @ asked / asked.max()
        alike = hidden @ implied.hidden / max(size, _TINY)
        return np.stack([overlap, both, alike, likely.max(axis=1), -entropy], axis=1)

    def _of_description(
        self, meant: CapabilityModel, snapshot: Snapshot, row: int, component: Component
    ) -> tuple[Vectors, Floats, float]:
        """Return the hidden units of a component's name and first sentence, of length 1, its capabilities, entropy."""
        known = self._described.of(snapshot)
        found = known.get(row)
        if found is None:
            first = component.described.split(". ")[0][:_FIRST_SENTENCE]
            vector = snapshot.spaces[DESCRIPTION_SPACE].at(row)
            hidden = meant.hidden(f"{component.name.replace('-', ' ')} {first}", vector)
            likely = meant.likely_of(hidden)
            entropy = -float((likely * np.log(likely + _TINY)).sum())
            found = hidden / max(float(np.linalg.norm(hidden)), _TINY), likely, entropy
            if len(known) >= _MOST_DESCRIBED:
                known.clear()
            known[row] = found
        return found

    def odds(self, snapshot: Snapshot, rows: Rows, text: str, implied: ImpliedCapabilities, near: Floats) -> Floats:
        """Return the log-odds that implied capabilities add to each row; `near` holds the descriptions' cosines."""
        beside = self.beside_it(snapshot, rows, text, implied)
        return _PROVIDING * implied.provided + _NEAR * near - _BESIDE_IT * beside

    def read(self, snapshot: Snapshot) -> None:
        """Compute which rows provide which capabilities, if the snapshot is not the cached one."""
        if self._meant is not None:
            self._provisions.of(snapshot)


class _KnownProvisions(NamedTuple):
    """Which components provide which capabilities of a model, one entry for each pair."""

    rows: Rows
    places: Rows  # of the capabilities among those of the model
    weights: Floats
    of_most: bool  # whether most components provide one


def _known_provisions(snapshot: Snapshot, capabilities: Sequence[str]) -> _KnownProvisions:
    place = {name: index for index, name in enumerate(capabilities)}
    surest: dict[tuple[int, int], float] = {}
    for row, end, certainty in snapshot.provisions.entries():
        index = place.get(snapshot.topology.names[end], -1)
        if row >= 0 and index >= 0:
            surest[row, index] = max(surest.get((row, index), 0.0), certainty)
    pairs = np.array(list(surest), dtype=np.int64).reshape(-1, 2)
    of_most = 2 * len(set(pairs[:, 0].tolist())) > int((~snapshot.inner_tools).sum())
    return _KnownProvisions(pairs[:, 0], pairs[:, 1], np.array(list(surest.values())), of_most)
