"""Assembles the set of the highest worth, closed under dependencies, free of conflicts and within the budget.

Where candidates were graded, the worth is the chance that the set is good; otherwise it is the expected F1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repertoire.domain.answer import BUDGET
from repertoire.retrieval.sets.choices import SetChoices
from repertoire.retrieval.sets.cycles import cycles
from repertoire.retrieval.sets.goodness import adds_capability, chance_of_good, completes, foremost, is_large
from repertoire.retrieval.sets.roles import Chosen, Spares, adds_nothing, chosen_of, provided_by

_STARTS = 6  # candidates that the search starts from


@dataclass(frozen=True)
class SetLimits:
    """The limits of a set: tokens, number of chosen members, and the expected number for such a task."""

    budget: int = BUDGET
    size: int = 5
    expected: float = 2.0
    graded: bool = False  # whether the worth is the chance that the set is good
    spares: Spares | None = None  # which members are spares; None: none is
    parts: int = 0  # members up to which a graded set is completed for capabilities that are still open
    clauses: int = 0  # members up to which it is completed by what serves a clause
    most: int = 0  # members, with all that they need, that a person allows; 0: any number

    def allows(self, members: int) -> bool:
        """Tell whether a person allows so many members."""
        return not self.most or members <= self.most


@dataclass(frozen=True)
class Assembly:
    """The set, candidates beyond the budget, and dependency cycles."""

    chosen: tuple[Chosen, ...]
    too_large: tuple[str, ...] = ()
    circles: tuple[tuple[str, ...], ...] = ()
    asked: tuple[str, ...] = ()  # keys of members that were chosen, without pure dependencies


class SetSearch:
    """Searches the best set of some candidates within limits."""

    def __init__(self, choices: SetChoices, limits: SetLimits) -> None:
        self._choices, self._known, self._limits = choices, choices.known, limits

    def best(self) -> Assembly:
        """Return the best set that a greedy search finds; the expected F1 also by drops and exchanges of members."""
        asked = self._graded() if self._limits.graded else self._searched()
        return Assembly(
            chosen_of(asked, self._known, self._choices.closure, spares=self._limits.spares),
            self._too_large(asked),
            tuple(cycles({key: self._choices.needs(key) for key in self._choices.members(asked)})),
            asked,
        )

    def worth(self, asked: Sequence[str]) -> float:
        """Return the worth of a set, which does not depend on the order of members; an empty set has none."""
        if self._limits.graded:
            return self._chance(asked)
        return self._choices.expected_f1.of(asked, self._limits.expected)

    def _graded(self) -> tuple[str, ...]:
        """Return the first candidate that may stand, with those that raise the chance that the set is good.

        If it needs others, a worthier one of the next few takes its place; if it must be installed, an installed one of
        nearly its chance; if its plugin is large, a light one.
        """
        entering = [key for key in self._choices.usable[:_STARTS] if self._may_enter(key, ())]
        if not entering:
            return ()
        needy = len(self._choices.closure(entering[0])) > 1
        first = max(entering, key=lambda key: self._chance((key,))) if needy else foremost(entering, self._known)
        return self._completed(self._grown((first,)))

    def _completed(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Return a set with the next that likely help and provide a capability of the task that no member provides."""
        for key in self._choices.usable:
            fits = len(asked) < self._limits.parts and completes(self._known[key], [self._known[one] for one in asked])
            if fits and self._may_enter(key, asked):
                asked = (*asked, key)
        for clause in sorted({clause for candidate in self._choices.ranked for clause in candidate.helps_parts}):
            if len(asked) < self._limits.clauses and not any(clause in self._known[one].helps_parts for one in asked):
                asked = (*asked, *self._for_clause(clause, asked))
        return asked

    def _for_clause(self, clause: int, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Return the candidate that likeliest helps with a clause and adds to a set, a large plugin last."""
        among = [self._known[one] for one in asked]
        helping = [self._known[key] for key in self._choices.usable if clause in self._known[key].helps_parts]
        fitting = [one for one in helping if adds_capability(one, among) and self._may_enter(one.key, asked)]
        fitting.sort(key=lambda candidate: (is_large(candidate), -candidate.helps_parts[clause]))
        return tuple(one.key for one in fitting[:1])

    def _searched(self) -> tuple[str, ...]:
        improved = (self._improved(start) for start in self._starts())
        return max(improved, key=self.worth)

    def _chance(self, asked: Sequence[str]) -> float:
        dependencies = len(self._choices.members(asked)) - len(asked)
        return chance_of_good([self._known[key] for key in asked], dependencies)

    def _starts(self) -> list[tuple[str, ...]]:
        """Return the sets that the search starts from: the empty one, and single candidates if some may conflict."""
        if not self._choices.entangled:
            return [()]
        entering = [key for key in self._choices.usable[:_STARTS] if self._may_enter(key, ())]
        return [(), *((key,) for key in entering)]

    def _improved(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        asked = self._grown(asked)
        while (changed := self._exchanged(asked)) != asked:
            asked = changed
        return asked

    def _grown(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        worth = self.worth(asked)
        while len(asked) < self._limits.size:
            found, best = "", worth
            for key in self._entering(asked, worth):
                if self._may_enter(key, asked) and not (self._limits.graded and self._is_needy_spare(key, asked)):
                    value = self.worth((*asked, key))
                    if value > best:
                        found, best = key, value
            if not found:
                break
            asked, worth = (*asked, found), best
        return asked

    def _is_needy_spare(self, key: str, asked: Sequence[str]) -> bool:
        """Tell whether a candidate would only stand in for a member, and bring others along for that."""
        among = self._choices.members(asked)
        covered = frozenset[str]().union(*(provided_by(self._known[one]) for one in among))
        return len(among.union(self._choices.closure(key))) > len(among) + 1 and adds_nothing(self._known[key], covered)

    def _exchanged(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Return the best set after dropping or exchanging one member; the same set if none is better."""
        best, found = self.worth(asked), asked
        entering = self._entering(asked, best)
        for place in range(len(asked)):
            rest = asked[:place] + asked[place + 1 :]
            options = [rest, *((*rest, key) for key in entering if self._may_enter(key, rest))]
            for option in options:
                value = self.worth(option)
                if value > best + 1e-9:
                    best, found = value, option
        return self._grown(found) if found != asked else asked

    def _entering(self, asked: Sequence[str], worth: float) -> list[str]:
        """Return the candidates that can raise the worth of a set, by their largest possible gain."""
        return [key for key in self._choices.usable if key not in asked and self._largest(key) > worth]

    def _largest(self, key: str) -> float:
        """Return a bound on the worth of any set that a candidate makes better."""
        return self._known[key].helps if self._limits.graded else self._choices.expected_f1.bound(key)

    def _may_enter(self, key: str, asked: Sequence[str]) -> bool:
        members = self._choices.members(asked)
        if self._choices.rivals(key, members):
            return False
        together = members.union(self._choices.closure(key))
        grown = max(len(together), len(members) + 1)  # one that comes along already fills no further place
        return self._limits.allows(grown) and self._choices.tokens(together) <= self._limits.budget

    def _too_large(self, asked: Sequence[str]) -> tuple[str, ...]:
        """Return the candidates that would improve the set but exceed the budget."""
        if len(asked) >= self._limits.size:
            return ()
        members, worth = self._choices.members(asked), self.worth(asked)
        return tuple(
            key
            for key in self._choices.usable
            if key not in asked
            and self._choices.tokens(members.union(self._choices.closure(key))) > self._limits.budget
            and not self._choices.rivals(key, members)
            and self.worth((*asked, key)) > worth
        )
