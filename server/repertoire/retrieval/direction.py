"""Compares the action that a task asks for (write, review, convert …) with the action that a component offers.

A task to write something is not served by a reviewer, and one to convert PDF to Excel not by Excel to Markdown. Only
an imperative in the task, and the component's name (or the first verb of its description), are plain enough to count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from repertoire.domain.component import Component
from repertoire.retrieval.arrays import Floats, Mask, Rows
from repertoire.retrieval.binding import lead_of
from repertoire.retrieval.component_reader import ComponentReader
from repertoire.retrieval.matched_words import stem
from repertoire.retrieval.products import Products, Word, name_words, words_of
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.snapshot_cache import SnapshotCache

DIRECTION = "direction"
MAKE, REVIEW, FIX, REFACTOR, CONVERT, MIGRATE, DEPLOY, EXPLAIN, FIND, REMOVE, MOCK, LOAD = (
    "make",
    "review",
    "fix",
    "refactor",
    "convert",
    "migrate",
    "deploy",
    "explain",
    "find",
    "remove",
    "mock",
    "load",
)
# Log-odds for an opposite action, for the same action, and for another target of a conversion. Learned on 540 plain
# requests with an imperative, and the components that they were written for.
_OPPOSED, _ALIKE, _ELSEWHERE = 1.0, 0.4, 0.8
_OPPOSITES = {
    MAKE: frozenset((REVIEW, FIX, REFACTOR)),
    REVIEW: frozenset((MAKE, CONVERT, MIGRATE, DEPLOY)),
    FIX: frozenset((MAKE, DEPLOY, CONVERT)),
    CONVERT: frozenset((REVIEW, FIX)),
    DEPLOY: frozenset((MAKE, REVIEW)),
    FIND: frozenset((MAKE,)),
    REMOVE: frozenset((MAKE,)),
    MOCK: frozenset((LOAD,)),
    LOAD: frozenset((MOCK,)),
}
_VERBS = {
    MAKE: "write create build generate draft scaffold author design implement add make compose produce develop",
    REVIEW: "review audit assess critique inspect",
    FIX: "fix debug troubleshoot resolve diagnose repair",
    REFACTOR: "refactor simplify",
    CONVERT: "convert export transform",
    MIGRATE: "migrate upgrade port modernize modernise",
    DEPLOY: "deploy publish ship release",
    EXPLAIN: "explain document summarize summarise describe teach",
    FIND: "find search research",
    REMOVE: "delete remove",
    MOCK: "mock stub",
}
# further words in names that say an action; `migration` and `build` are left out, since they are as often things
_DOERS = {
    MAKE: "writer writing creator creation generator generation builder scaffolder drafter composer authoring",
    REVIEW: "reviewer reviewing auditor auditing critic assessor inspector",
    FIX: "fixer debugger debugging troubleshooter troubleshooting resolver",
    REFACTOR: "refactoring simplifier",
    CONVERT: "converter conversion exporter",
    MIGRATE: "migrator upgrader modernizer",
    DEPLOY: "deployer deployment publisher",
    EXPLAIN: "explainer documenter",
    MOCK: "mocking mocker",
}
_THINGS = frozenset(("build", "design", "port", "release", "document", "research", "search", "add", "make"))
_ASKED = {verb: action for action, verbs in _VERBS.items() for verb in verbs.split()}
_DONE = {verb: action for verb, action in _ASKED.items() if verb not in _THINGS} | {
    doer: action for action, doers in _DOERS.items() for doer in doers.split()
}
_POLITE = frozenset(
    "please can could would you i we want wants need needs to help me us let s lets how do does should just now".split()
)
_STRAIN = frozenset(("load", "stress"))
_INTO = frozenset(("to", "into", "as", "2"))
_BEGINNING = 60  # characters of a description in which its first word is looked for
_BETWEEN = 4  # words before and after `to` in which the two formats of a conversion are looked for


@dataclass(frozen=True)
class OfferedActions:
    """What a component does: its actions with the stems of their words, and the products it converts from and to."""

    actions: Mapping[str, str]
    ends: tuple[str, str]


class Directions:
    """Scores components by whether their action and conversion match those of a task."""

    def __init__(self, products: Products) -> None:
        self._products = products
        self._known = SnapshotCache[dict[int, OfferedActions]](lambda _: {})  # by row

    def odds(self, snapshot: Snapshot, reader: ComponentReader, rows: Rows, text: str) -> Floats:
        """Return the log-odds that the direction adds to each row; 0 if the task has no plain action or conversion."""
        odds = np.zeros(len(snapshot))
        words = words_of(text)
        action, ends = asked(words), self._ends(words)
        if action or ends[1]:
            said = frozenset(stem(word.text) for word in words)
            offers = self._offers(snapshot, reader, rows)
            for row in rows.tolist():
                odds[row] = _offer_odds(offers[row], action, ends[1], said) if row in offers else 0.0
        return odds

    def converts_elsewhere(self, snapshot: Snapshot, reader: ComponentReader, rows: Rows, text: str) -> Mask:
        """Return the mask of rows that convert into another target than the conversion that the task asks for."""
        found, (_, into) = np.zeros(len(snapshot), dtype=bool), self._ends(words_of(text))
        if into:
            offers = self._offers(snapshot, reader, rows)
            for row in rows.tolist():
                found[row] = row in offers and _is_elsewhere(offers[row], into)
        return found

    def _offers(self, snapshot: Snapshot, reader: ComponentReader, rows: Rows) -> Mapping[int, OfferedActions]:
        known = self._known.of(snapshot)
        for row, entry in reader.at(np.array([row for row in rows.tolist() if row not in known], dtype=np.int64)):
            known[row] = self._offer(entry.component)
        return known

    def _offer(self, component: Component) -> OfferedActions:
        """Return what a component offers: its conversion by its name, else by a first sentence about both ends."""
        name = name_words(component.name)
        ends = self._ends(name)
        if not ends[1]:
            sentence_ends = self._ends(words_of(lead_of(component.described)))
            ends = sentence_ends if all(sentence_ends) else ends
        actions = {action: stem(word) for action, word in offered(name, component.described).items()}
        return OfferedActions(actions, ends)

    def _ends(self, words: Sequence[Word]) -> tuple[str, str]:
        """Return the products that a text converts from and to; an empty string for a side that it does not name."""
        for place, word in enumerate(words):
            if word.text in _INTO:
                before = [found.product for found in self._products.in_name(words[max(place - _BETWEEN, 0) : place])]
                after = [found.product for found in self._products.in_name(words[place + 1 : place + 1 + _BETWEEN])]
                if after and after[0] not in before:
                    return before[-1] if before else "", after[0]
        return "", ""


def _offer_odds(offer: OfferedActions, action: str, into: str, said: frozenset[str]) -> float:
    # a task that says the offered action itself is served by it: "write a review checklist" by a reviewer
    opposed = {action for action, word in offer.actions.items() if word not in said}
    found = _ALIKE if action in offer.actions else 0.0
    found = found or -_OPPOSED * bool(opposed & _OPPOSITES.get(action, frozenset()))
    return found - _ELSEWHERE * _is_elsewhere(offer, into)


def _is_elsewhere(offer: OfferedActions, into: str) -> bool:
    return bool(into) and offer.ends[1] not in {"", into}


def asked(words: Sequence[Word]) -> str:
    """Return the action that a text's opening imperative asks for; an empty string where it opens with none."""
    opening = [word.text for word in words if word.text not in _POLITE][:2]
    if len(opening) > 1 and opening[0] in _STRAIN and opening[1].startswith("test"):
        return LOAD
    return _ASKED.get(opening[0], "") if opening else ""


def offered(name: Sequence[Word], description: str) -> dict[str, str]:
    """Return the actions in a component's name, else in its description's first word, each with its word."""
    own = [word.text for word in name]
    found = {_DONE[word]: word for word in own if word in _DONE}
    if any(word in _STRAIN and after.startswith("test") for word, after in pairwise(own)):
        found[LOAD] = LOAD
    if not found:
        first = next(iter(words_of(description[:_BEGINNING])), Word("", capital=False)).text
        found = {_ASKED[form]: form for form in _forms(first) if form in _ASKED}
    return found


def _forms(verb: str) -> tuple[str, ...]:
    return (
        verb,
        verb.removesuffix("s"),
        verb.removesuffix("es"),
        verb.removesuffix("ing"),
        f"{verb.removesuffix('ing')}e",
    )
