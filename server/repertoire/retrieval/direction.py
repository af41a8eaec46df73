"""Which way a task goes: the action it asks for against the one that a component offers, where both are plain.

Who asks to have something written is not helped by a reviewer, and who asks for PDF to Excel not by Excel to Markdown.
Only an imperative and a name (or the verb that a description begins with) are plain; all else says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from repertoire.domain.component import Component
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.binding import lead_of
from repertoire.retrieval.component_reader import ComponentReader
from repertoire.retrieval.matched_words import stem
from repertoire.retrieval.products import Products, Word, name_words, words_of
from repertoire.retrieval.snapshot import Snapshot

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
# Log-odds, by what 540 plain requests with an imperative asked for and what the components offer they were written for.
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
# what else says in a name what a component does; a migration or a build is as often a thing
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
_BEGINNING = 60  # characters of a description, of which the first word is read
_BETWEEN = 4  # words from one end of a conversion to the other


@dataclass(frozen=True)
class Offer:
    """What a component does: its actions with the stems of their words, and the products it converts from and to."""

    actions: Mapping[str, str]
    ends: tuple[str, str]


class Directions:
    """Scores components by the direction of a task."""

    def __init__(self, products: Products) -> None:
        self._products = products
        self._known: tuple[Snapshot | None, dict[int, Offer]] = None, {}  # by row of one snapshot

    def odds(self, snapshot: Snapshot, reader: ComponentReader, rows: Rows, text: str) -> Floats:
        """Return the log-odds that the direction adds to these rows; 0 where the task's direction is not plain."""
        odds = np.zeros(len(snapshot))
        words = words_of(text)
        action, ends = asked(words), self._ends(words)
        if action or ends[1]:
            said = frozenset(stem(word.text) for word in words)
            offers = self._of(snapshot, reader, rows)
            for row in rows.tolist():
                odds[row] = _of_one(offers[row], action, ends[1], said) if row in offers else 0.0
        return odds

    def _of(self, snapshot: Snapshot, reader: ComponentReader, rows: Rows) -> Mapping[int, Offer]:
        if self._known[0] is not snapshot:
            self._known = snapshot, {}
        known = self._known[1]
        for row, entry in reader.at(np.array([row for row in rows.tolist() if row not in known], dtype=np.int64)):
            known[row] = self._offer(entry.component)
        return known

    def _offer(self, component: Component) -> Offer:
        """Return what a component offers; its ends by its name, or by a sentence about both of them."""
        name = name_words(component.name)
        ends = self._ends(name)
        if not ends[1]:
            told = self._ends(words_of(lead_of(component.description)))
            ends = told if all(told) else ends
        actions = {action: stem(word) for action, word in offered(name, component.description).items()}
        return Offer(actions, ends)

    def _ends(self, words: Sequence[Word]) -> tuple[str, str]:
        """Return the products that a text converts from and to; a side that is not named is empty."""
        for place, word in enumerate(words):
            if word.text in _INTO:
                before = [found.product for found in self._products.borne(words[max(place - _BETWEEN, 0) : place])]
                after = [found.product for found in self._products.borne(words[place + 1 : place + 1 + _BETWEEN])]
                if after and after[0] not in before:
                    return before[-1] if before else "", after[0]
        return "", ""


def _of_one(offer: Offer, action: str, into: str, said: frozenset[str]) -> float:
    # who asks for a review checklist is well served by a review
    opposed = {action for action, word in offer.actions.items() if word not in said}
    found = _ALIKE if action in offer.actions else 0.0
    found = found or -_OPPOSED * bool(opposed & _OPPOSITES.get(action, frozenset()))
    return found - _ELSEWHERE * (bool(into) and offer.ends[1] not in {"", into})


def asked(words: Sequence[Word]) -> str:
    """Return the action that an imperative asks for; blank where none stands at the beginning."""
    told = [word.text for word in words if word.text not in _POLITE][:2]
    if len(told) > 1 and told[0] in _STRAIN and told[1].startswith("test"):
        return LOAD
    return _ASKED.get(told[0], "") if told else ""


def offered(name: Sequence[Word], description: str) -> dict[str, str]:
    """Return the actions that a name says a component does, else what its description begins with, with their words."""
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
