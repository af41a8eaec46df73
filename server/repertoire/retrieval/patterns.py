"""Matches known combinations to a question, and finds the companions of chosen components by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from repertoire.domain.component import CAPABILITY, MEMBER_OF, PATTERN, PROVIDES
from repertoire.domain.text import content_words
from repertoire.retrieval.arrays import Floats, Mask, Rows
from repertoire.retrieval.plan import QueryPlan
from repertoire.retrieval.snapshot import Snapshot

PATTERNS = "patterns"  # name of the stage and of its part of the score
_PATTERN_WEIGHT = 2.0  # log-odds of a member at most; more cost first places where the combination was not meant
_ENOUGH = 2.0  # other members that give full strength, if each is as likely as the first hit
_NAMED = 0.25  # weight of a question that names the combination or its capabilities, beside such members
_LEAST_LIKELY = 0.02  # share of the first hit's likelihood below which a member does not count for its combination
_LEAST = 0.05  # strength below which a combination is dropped: any question shares a capability with many
_NOTED = 0.1  # strength below which a combination is not shown as a reason
_MATCHED = 5  # combinations that a question is said to be about
_USED = "request"  # origin of combinations from past requests; a stage of its own counts these, and twice was worse
_WHOLE = ("plugin", "agent", "project")  # origins that list a combination as a whole, not counted by support and lift


@dataclass(frozen=True)
class KnownPattern:
    """A known combination of components or capabilities; `lift` is 0 for one that a plugin, agent or project lists."""

    name: str
    origin: str
    support: int
    lift: float
    members: tuple[int, ...]  # rows of components
    capabilities: tuple[str, ...]
    seen: tuple[str, ...] = ()  # names of the plugins, agents and projects in which it was found
    wholes: tuple[str, ...] = ()  # ids of these, if their members differ


@dataclass(frozen=True)
class Companion:
    """A component that goes with chosen ones: its strength (0 to 1), the chosen rows, and the combination."""

    row: int
    strength: float
    beside: tuple[int, ...]
    known: KnownPattern


@dataclass(frozen=True)
class Matches:
    """The log-odds that combinations add to every row; `first` are the combinations that match best."""

    score: Floats
    first: tuple[KnownPattern, ...]
    by: Rows  # index of the combination that gives each row its score, -1 for none
    likely: Floats  # likelihood of each row relative to the first hit; 0 below _LEAST_LIKELY
    patterns: Patterns | None = None

    @classmethod
    def silent(cls, size: int = 0) -> Matches:
        """Return the result for a question that was not matched: no score anywhere."""
        return cls(np.zeros(size), (), np.full(size, -1), np.zeros(size))

    def companions(self, rows: Sequence[int], *, among: Mask | None = None) -> list[Companion]:
        """Return the companions of these rows, the strongest first, from the rows in the mask `among`."""
        return self.patterns.companions(rows, among=among) if self.patterns is not None else []

    def why(self, row: int) -> str:
        """Return the sentence that names the combination behind a row's score; empty if the score is low."""
        if self.patterns is None or self.by[row] < 0 or self.score[row] < _NOTED * _PATTERN_WEIGHT:
            return ""
        pattern = self.patterns.known[self.by[row]]
        others = sorted((other for other in pattern.members if other != row), key=lambda other: -self.likely[other])
        return self.patterns.sentence(pattern, [other for other in others if self.likely[other] > 0.0] or others)


class Patterns:
    """The known combinations of one snapshot, indexed by row, name and capability."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._size = len(snapshot)
        positions = [position for position, kind in enumerate(snapshot.topology.types) if kind == PATTERN]
        place = {position: index for index, position in enumerate(positions)}
        self._which, self._row, self._sure = _read_members(snapshot, place)
        self._rows = np.array(sorted(set(self._row.tolist())), dtype=np.int64)
        self._called: dict[str, list[int]] = {}
        for row in self._rows.tolist():
            summary = snapshot.summaries[row]
            for called in {summary.id, summary.name}:
                self._called.setdefault(called, []).append(row)
        # An installed copy is found by its copies' ids too.
        for row in np.flatnonzero(snapshot.copies.has_installed_copy).tolist():
            answering = int(snapshot.copies.representative[row])
            if answering in self._called.get(snapshot.summaries[answering].id, ()):
                self._called.setdefault(snapshot.summaries[row].id, []).append(answering)
        self._of_term = _read_terms(snapshot, place)
        self.known = self._read_patterns(positions)
        # A removed component leaves its combination with fewer members.
        self._others = np.bincount(self._which, minlength=len(positions)) - 1
        self._support = np.array([known.support for known in self.known], dtype=np.int64)
        self._counts = np.array([known.origin != _USED for known in self.known], dtype=np.bool_)
        self._words = [
            frozenset(content_words(known.name)) if known.origin in _WHOLE else frozenset() for known in self.known
        ]
        self._by_word: dict[str, list[int]] = {}
        for index, words in enumerate(self._words):
            for word in words:
                self._by_word.setdefault(word, []).append(index)

    def __len__(self) -> int:
        return len(self.known)

    def match(self, plan: QueryPlan, scores: Floats) -> Matches:
        """Match the combinations to a question; `scores` are the log-odds of all rows, which weigh the members."""
        if not len(self._which):
            return replace(Matches.silent(self._size), patterns=self)
        best = float(scores.max())
        likely = np.zeros(self._size)
        likely[self._rows] = np.exp(scores[self._rows] - (best if np.isfinite(best) else 0.0))
        likely[likely < _LEAST_LIKELY] = 0.0
        for called in plan.query.using:
            rows = self._called.get(called, [])
            likely[rows] = np.maximum(likely[rows], 1.0 / max(len(rows), 1))  # only one of several namesakes is in use
        own = likely[self._row]
        together = np.bincount(self._which, weights=own, minlength=len(self))
        asked = self._named_by(plan)
        vouched = np.minimum((together[self._which] - own) / _ENOUGH + _NAMED * asked[self._which], 1.0)
        strength = np.where(self._counts[self._which], self._sure * vouched, 0.0)
        strength[strength < _LEAST] = 0.0
        said, by = self._best_of_rows(strength)
        return Matches(
            _PATTERN_WEIGHT * said, self._best_matches(together / _ENOUGH + _NAMED * asked), by, likely, self
        )

    def companions(self, rows: Sequence[int], *, among: Mask | None = None, limit: int = 8) -> list[Companion]:
        """Return the companions of these rows, the strongest first, from the rows in the mask `among`."""
        chosen = np.zeros(self._size, dtype=np.bool_)
        chosen[self._snapshot.copies.representative[list(rows)]] = True
        if not len(self._which) or not chosen.any():
            return []
        count = np.bincount(self._which, weights=chosen[self._row], minlength=len(self))
        needed = np.clip(self._others, 1, _ENOUGH)
        strength = self._sure * np.minimum(count / needed, 1.0)[self._which]
        open_to = ~chosen if among is None else among & ~chosen
        best, by = self._best_of_rows(np.where(open_to[self._row], strength, 0.0))
        found = sorted(np.nonzero(best)[0].tolist(), key=lambda row: (-best[row], -self.known[by[row]].support, row))
        return [
            Companion(
                row,
                float(best[row]),
                tuple(other for other in self.known[by[row]].members if chosen[other]),
                self.known[by[row]],
            )
            for row in found[:limit]
        ]

    def holding(self, rows: Sequence[int], *, limit: int) -> list[KnownPattern]:
        """Return the combinations that hold any of these rows, by falling support and lift."""
        wanted = np.isin(self._row, self._snapshot.copies.representative[list(rows)])
        found = {self.known[index] for index in self._which[wanted].tolist()}
        return sorted(found, key=lambda pattern: (-pattern.support, -pattern.lift, len(pattern.members), pattern.name))[
            :limit
        ]

    def of_whole(self, name: str) -> list[KnownPattern]:
        """Return the combinations that plugins, agents or projects of this name list."""
        return [known for known in self.known if known.name == name and known.origin in _WHOLE and known.members]

    def of_capabilities(self, capabilities: Sequence[str], *, limit: int) -> list[KnownPattern]:
        """Return the combinations of capabilities that hold any of these, those that hold most of them first."""
        asked = set(capabilities)
        of = {index for term in asked for index, _ in self._of_term.get(term, ())}
        return sorted(
            (self.known[index] for index in of if not self.known[index].members),
            key=lambda pattern: (
                -len(asked.intersection(pattern.capabilities)),
                -pattern.support,
                -pattern.lift,
                pattern.name,
            ),
        )[:limit]

    def rows_called(self, name: str) -> list[int]:
        """Return the rows with this id or name that are members of any combination."""
        return list(self._called.get(name, ()))

    def sentence(self, pattern: KnownPattern, others: Sequence[int]) -> str:
        """Return a short sentence on how a component belongs to a combination, with two other members at most."""
        names = " and ".join(self._snapshot.summaries[row].name for row in others[:2])
        if pattern.origin in _WHOLE:
            whole = "your own set" if pattern.origin == "project" else f"{pattern.name}'s set"
            return f"part of {whole}" + (f", with {names}" if names else "")
        figures = f"(support {pattern.support}, lift {pattern.lift:.1f})"
        often = "often used together" if pattern.origin == _USED else "often together"
        return f"{often} with {names or pattern.name} {figures}"

    def _read_patterns(self, positions: Sequence[int]) -> tuple[KnownPattern, ...]:
        topology, data = self._snapshot.topology, self._snapshot.patterns
        members: list[list[int]] = [[] for _ in positions]
        for index, row in zip(self._which.tolist(), self._row.tolist(), strict=True):
            members[index].append(row)
        terms: list[list[str]] = [[] for _ in positions]
        for term, of in self._of_term.items():
            for index, _ in of:
                terms[index].append(term)
        return tuple(
            KnownPattern(
                topology.names[position],
                str(kept.get("origin", "")),
                int(kept.get("support", 1)),
                float(kept.get("lift", 0.0)),
                tuple(members[index]),
                tuple(terms[index]),
                tuple(map(str, kept.get("evidence", ()))),
                tuple(map(str, kept.get("wholes", ()))),
            )
            for index, position in enumerate(positions)
            for kept in [data.get(int(topology.ids[position]), {})]
        )

    def _named_by(self, plan: QueryPlan) -> Floats:
        """Return how far, 0 to 1, a question names each combination: by two or more capabilities, or by its name."""
        cover, purity, named = np.zeros(len(self)), np.zeros(len(self)), np.zeros(len(self))
        if len(plan.capabilities) > 1:
            for term in plan.capabilities:
                for index, share in self._of_term.get(term, ()):
                    cover[index] += 1.0 / len(plan.capabilities)
                    purity[index] += share
        words = set(plan.words)
        for index in {index for word in words for index in self._by_word.get(word, ())}:
            named[index] = self._words[index] <= words
        return np.asarray(np.maximum(cover * np.minimum(purity, 1.0), named))

    def _best_of_rows(self, strength: Floats) -> tuple[Floats, Rows]:
        """Return the largest strength for each row and the combination that gives it; ties go to the larger support."""
        best, by = np.zeros(self._size), np.full(self._size, -1)
        said = np.nonzero(strength > 0.0)[0]
        said = said[np.lexsort((self._support[self._which[said]], strength[said]))]
        best[self._row[said]] = strength[said]  # of several for one row the last, and largest, stays
        by[self._row[said]] = self._which[said]
        return best, by

    def _best_matches(self, strength: Floats) -> tuple[KnownPattern, ...]:
        head = np.argsort(-strength, kind="stable")[:_MATCHED].tolist()
        return tuple(self.known[index] for index in head if strength[index] >= _NOTED and self.known[index].members)


def _read_members(snapshot: Snapshot, place: dict[int, int]) -> tuple[Rows, Rows, Floats]:
    answering = snapshot.copies.representative
    surest: dict[tuple[int, int], float] = {}  # exact copies count as one member
    for source, target, weight in snapshot.weighted_edges(MEMBER_OF):
        if target in place and (row := int(snapshot.row_at[source])) >= 0:
            member = place[target], int(answering[row])
            surest[member] = max(surest.get(member, 0.0), weight)
    found = sorted(surest.items())
    which = np.array([index for (index, _), _ in found], dtype=np.int64)
    rows = np.array([row for (_, row), _ in found], dtype=np.int64)
    return which, rows, np.array([weight for _, weight in found], dtype=np.float64)


def _read_terms(snapshot: Snapshot, place: dict[int, int]) -> dict[str, list[tuple[int, float]]]:
    topology = snapshot.topology
    found: dict[str, list[tuple[int, float]]] = {}
    for source, target, weight in snapshot.weighted_edges(PROVIDES):
        if source in place and topology.types[target] == CAPABILITY:
            found.setdefault(topology.names[target], []).append((place[source], weight))
    return found
