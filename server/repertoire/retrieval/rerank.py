"""Reranks the head of an answer by features of each component's text: where and how close the question's words stand.

Words are weighted by inverse document frequency, as in the index. The index does not tell whether they stand together,
in the name, in the first sentence, in a request that the component gives as an example, or only in the sentence that
says what it is *not* for.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from repertoire.domain.component import AGENT, BODY_INDEXED, COMMAND, SKILL, Component
from repertoire.domain.text import content_words
from repertoire.retrieval.arrays import Floats
from repertoire.retrieval.matched_words import stem
from repertoire.retrieval.ranking_weights import RERANK

STAGE = "rerank"
KINDS = (SKILL, AGENT, COMMAND)
FEATURES = (
    "held in the name",
    "of the name, asked for",
    "held in the description",
    "held in the first sentence",
    "held in the body",
    "held within a few lines",
    "held side by side",
    "asked like an example",
    "held only in what it is not for",
    *(f"{kind}, where {asked}" for kind in KINDS for asked in ("asked", "told", "of one's own")),
)
_PASSAGE = 240  # characters of a passage, two or three lines of prose
_BESIDE = 16  # characters between the starts of two words that stand side by side
_EXAMPLE = re.compile("[\"'\u201c\u2018]([^\"'\u201d\u2019\n]{6,160})[\"'\u201d\u2019]")
_EXAMPLE_WORDS = 2
_MOST_EXAMPLES = 20
_NOT_FOR = re.compile(
    r"\b(?:not (?:for|to be used|when)|do(?: no|n')t use|never use|avoid (?:for|when|using)|instead,? use|unlike)\b"
    r"[^.;\n]*"
)
_NOT_FOR_SIGNS = ("not for", "not to be", "not when", "t use", "never use", "avoid ", "instead", "unlike")
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
_QUESTION = re.compile(r"\?|^(?:how|what|which|why|when|where|who|should|can|could|is|are|do|does)\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:i|i'm|i've|me|my|we|we're|our|us)\b", re.IGNORECASE)


def second_look(text: str, rarities: Mapping[str, float], components: Sequence[Component]) -> Floats:
    """Return the FEATURES of components, one row for each; `rarities` are those of the question's words."""
    weights: dict[str, float] = {}
    for word, rarity in rarities.items():
        weights.setdefault(stem(word), rarity)
    if not weights:
        return np.zeros((len(components), len(FEATURES)))
    sought = sorted(weights, key=len)
    asked = (bool(_QUESTION.search(text)), not _QUESTION.search(text), bool(_OWN.search(text)))
    words = _stems(text)
    pairs = {pair: min(weights.get(word, 0.0) for word in pair) for pair in pairwise(words)}
    rows = [[*_held(component, sought, weights, pairs), *_kind(component, asked)] for component in components]
    return np.array(rows)


def odds_of(features: Floats) -> Floats:
    """Return the log-odds that reranking adds to each row, centred on the average of these rows."""
    odds = features @ np.array(RERANK)
    return np.asarray(odds - odds.mean()) if len(odds) else odds


def _held(
    component: Component, sought: Sequence[str], weights: Mapping[str, float], pairs: Mapping[tuple[str, str], float]
) -> list[float]:
    total = sum(weights.values())
    name, description = component.name.lower(), component.described.lower()
    text = f"{name}\n{description}\n{component.body[:BODY_INDEXED].lower()}"
    marks = _marks(text, sought)
    starts = [start for start, _ in marks]
    description_at, ends = len(name) + 1, len(name) + 1 + len(description)
    first = _SENTENCE_END.search(text, description_at, ends)
    # Few texts hold any of these signs: looking for signs first halves the time of searching every text for `_NOT_FOR`.
    wary = any(sign in text for sign in _NOT_FOR_SIGNS)
    refused = [match.span() for match in _NOT_FOR.finditer(text, description_at)] if wary else []

    def share(low: int, high: int) -> float:
        held = {word for _, word in marks[bisect_left(starts, low) : bisect_left(starts, high)]}
        return sum(weights[word] for word in held) / total

    outside = {word for start, word in marks if not any(low <= start < high for low, high in refused)}
    inside = {word for start, word in marks if word not in outside}
    beside = {
        (word_before, other)
        for (at, word_before), (then, other) in pairwise(marks)
        if then - at <= _BESIDE + len(word_before)
    }
    own = _stems(component.name)
    return [
        share(0, description_at),
        sum(word in weights for word in own) / max(len(own), 1),
        share(description_at, ends),
        share(description_at, first.start() if first else ends),
        share(ends, len(text)),
        _densest(marks, weights) / total,
        sum(weight for pair, weight in pairs.items() if pair in beside) / total,
        _like_example(component, weights),
        sum(weights[word] for word in inside) / total,
    ]


def _marks(text: str, sought: Sequence[str]) -> list[tuple[int, str]]:
    """Return the places where a word begins with a sought stem, each with the longest; `sought` is sorted by length."""
    longest: dict[int, str] = {}
    for stemmed in sought:  # one regular expression for all stems takes twice as long
        at = text.find(stemmed)
        while at >= 0:
            if not at or not text[at - 1].isalnum():
                longest[at] = stemmed
            at = text.find(stemmed, at + len(stemmed))
    return sorted(longest.items())


def _densest(marks: Sequence[tuple[int, str]], weights: Mapping[str, float]) -> float:
    """Return the largest total weight of the words in any passage, each word counted once."""
    inside: dict[str, int] = {}
    most = held = 0.0
    first = 0
    for start, word in marks:
        while marks[first][0] <= start - _PASSAGE:
            left = marks[first][1]
            inside[left] -= 1
            held -= 0.0 if inside[left] else weights[left]
            first += 1
        inside[word] = inside.get(word, 0) + 1
        held += weights[word] if inside[word] == 1 else 0.0
        most = max(most, held)
    return most


def _like_example(component: Component, weights: Mapping[str, float]) -> float:
    """Return the largest share of an example's words that the question holds."""
    best = 0.0
    for text in [*component.examples, *_EXAMPLE.findall(component.description)][:_MOST_EXAMPLES]:
        words = set(_stems(text))
        if len(words) >= _EXAMPLE_WORDS:
            best = max(best, sum(word in weights for word in words) / len(words))
    return best


@lru_cache(maxsize=1 << 13)  # the same names and examples stand at the head of many answers
def _stems(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in content_words(text))


def _kind(component: Component, asked: Sequence[bool]) -> list[float]:
    return [float(component.type == kind and way) for kind in KINDS for way in asked]
