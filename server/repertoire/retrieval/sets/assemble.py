"""Assembles the set of the highest worth, closed under dependencies, free of conflicts and within the budget.

Where candidates were graded, the worth is the chance that the set is good; otherwise it is the expected F1.

The expected F1 is twice the set's gain, divided by its size plus the usual size for such a task. A member's gain is its
likelihood, reduced where a likelier member does the same job, and raised where both belong to one bundle. Covering a
needed capability adds gain, the more the surer a member provides it. A dependency counts as half a member and has no
gain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from repertoire.domain.answer import BUDGET
from repertoire.retrieval.sets.candidates import Candidate, merged
from repertoire.retrieval.sets.cycles import cycles
from repertoire.retrieval.sets.goodness import (
    MISSING_REQUIREMENT_FACTOR,
    adds_capability,
    chance_of_good,
    completes,
    foremost,
    is_large,
)
from repertoire.retrieval.sets.roles import Chosen, adds_nothing, chosen_of, provided_by

_SHARPNESS = 4.0 / 3.0  # exponent that turns a relative score into a likelihood; learned on the train splits
# Shares by which a member's likelihood falls or rises.
_SHARED_WORDS_FACTOR = 0.4  # loss of a member of which other members share every word that it shares with the task
_NO_COVER_FACTOR = 0.35  # loss of a member that covers no needed capability that is still open
_SAME_BUNDLE_BONUS = 0.15  # bonus of a member that belongs to the bundle of a likelier member
_COVER_WEIGHT = 0.3  # gain of a needed capability, covered by a component that surely provides it and surely fits
_COVER_THRESHOLD = 0.25  # relative score from which on a candidate's capabilities count as needed
_NEEDED_MEMBER_SIZE = 0.5  # size of a dependency: it is not chosen, and mostly installed with the member
_STARTS = 6  # candidates that the search starts from


@dataclass(frozen=True)
class SetLimits:
    """The limits of a set: tokens, number of chosen members, and the expected number for such a task."""

    budget: int = BUDGET
    size: int = 5
    expected: float = 2.0
    graded: bool = False  # whether the worth is the chance that the set is good
    parts: int = 0  # members up to which a graded set is completed for capabilities that are still open
    clauses: int = 0  # members up to which it is completed by what serves a clause


@dataclass(frozen=True)
class Assembly:
    """The set with dependencies first, candidates beyond the budget, and dependency cycles."""

    chosen: tuple[Chosen, ...]
    too_large: tuple[str, ...] = ()
    circles: tuple[tuple[str, ...], ...] = ()
    asked: tuple[str, ...] = ()  # keys of members that were chosen, without pure dependencies
    worth: float = 0.0


@dataclass(frozen=True)
class SetChoices:
    """The candidates for a set, deduplicated: one of each group of twins stands for the group."""

    ranked: tuple[Candidate, ...]
    known: Mapping[str, Candidate]
    stands_for: Mapping[str, str]  # key of the kept twin by the key of each twin

    @classmethod
    def of(cls, ranked: Sequence[Candidate], others: Iterable[Candidate]) -> SetChoices:
        """Build the choices from ranked candidates, best first, and others that these may depend on."""
        ids = {candidate.key for candidate in ranked}
        kept, stands_for = merged([*ranked, *(other for other in others if other.key not in ids)])
        places = len({stands_for[candidate.key] for candidate in ranked})
        return cls(tuple(kept[:places]), {candidate.key: candidate for candidate in kept}, stands_for)

    def best(self, limits: SetLimits) -> Assembly:
        """Return the best set that a greedy search finds; the expected F1 also by drops and exchanges of members."""
        asked = self._graded(limits) if limits.graded else self._searched(limits)
        return Assembly(
            chosen_of(asked, self.known, self.closure, with_spares=limits.graded),
            self._too_large(asked, limits),
            tuple(cycles({key: self.needs(key) for key in self.members(asked)})),
            asked,
            self.worth(asked, limits),
        )

    def _graded(self, limits: SetLimits) -> tuple[str, ...]:
        """Return the first candidate that may stand, with those that raise the chance that the set is good.

        If it needs others, a worthier one of the next few takes its place; if it must be installed, an installed one of
        nearly its chance; if its plugin is large, a light one.
        """
        entering = [key for key in self._usable[:_STARTS] if self._may_enter(key, (), limits)]
        if not entering:
            return ()
        needy = len(self.closure(entering[0])) > 1
        first = max(entering, key=lambda key: self._chance((key,))) if needy else foremost(entering, self.known)
        return self._completed(self._grown((first,), limits), limits)

    def _completed(self, asked: tuple[str, ...], limits: SetLimits) -> tuple[str, ...]:
        """Return a set with the next that likely help and provide a capability of the task that no member provides."""
        for key in self._usable:
            fits = len(asked) < limits.parts and completes(self.known[key], [self.known[one] for one in asked])
            if fits and self._may_enter(key, asked, limits):
                asked = (*asked, key)
        for clause in sorted({clause for candidate in self.ranked for clause in candidate.helps_parts}):
            if len(asked) < limits.clauses and not any(clause in self.known[one].helps_parts for one in asked):
                asked = (*asked, *self._for_clause(clause, asked, limits))
        return asked

    def _for_clause(self, clause: int, asked: tuple[str, ...], limits: SetLimits) -> tuple[str, ...]:
        """Return the candidate that likeliest helps with a clause and adds to a set, a large plugin last."""
        among = [self.known[one] for one in asked]
        helping = [self.known[key] for key in self._usable if clause in self.known[key].helps_parts]
        fitting = [one for one in helping if adds_capability(one, among) and self._may_enter(one.key, asked, limits)]
        fitting.sort(key=lambda candidate: (is_large(candidate), -candidate.helps_parts[clause]))
        return tuple(one.key for one in fitting[:1])

    def _searched(self, limits: SetLimits) -> tuple[str, ...]:
        improved = (self._improved(start, limits) for start in self._starts(limits))
        return max(improved, key=lambda asked: self.worth(asked, limits))

    def closure(self, key: str) -> tuple[str, ...]:
        """Return a key with all its known dependencies, dependencies first."""
        return self._closures[key]

    def members(self, asked: Iterable[str]) -> frozenset[str]:
        """Return the members of a set: the chosen keys with all their dependencies."""
        return frozenset(member for key in asked for member in self.closure(key))

    def tokens(self, members: Iterable[str]) -> int:
        """Return the tokens of a set; a plugin counts once, as a whole."""
        cost = {self.known[key].unit or key: self.known[key].unit_tokens or self.known[key].tokens for key in members}
        return sum(cost.values())

    def rivals(self, key: str, members: Iterable[str]) -> list[str]:
        """Return the members that conflict with a candidate or its dependencies."""
        shut_out = self._shut_out[key]
        return [member for member in members if member in shut_out]

    def sound(self, key: str) -> bool:
        """Tell whether a candidate and its dependencies are free of conflicts among themselves."""
        entering = self.closure(key)
        return not any(self._exclusive(a, b) for i, a in enumerate(entering) for b in entering[:i])

    def worth(self, asked: Sequence[str], limits: SetLimits) -> float:
        """Return the worth of a set, which does not depend on the order of members; an empty set has none."""
        if limits.graded:
            return self._chance(asked)
        known = self._worths.setdefault(limits.expected, {})
        which = frozenset(asked)
        if which not in known:
            known[which] = self._worth(asked, limits)
        return known[which]

    def _chance(self, asked: Sequence[str]) -> float:
        dependencies = len(self.members(asked)) - len(asked)
        return chance_of_good([self.known[key] for key in asked], dependencies)

    def _worth(self, asked: Sequence[str], limits: SetLimits) -> float:
        brought = 0.0
        before: list[str] = []
        for key in sorted(asked, key=self._place.__getitem__):
            brought += self._gain(key, before)
            before.append(key)
        members = self.members(asked)
        brought += _COVER_WEIGHT * sum(max(by) for by in zip(*(self._covering[key] for key in members), strict=True))
        size = len(asked) + _NEEDED_MEMBER_SIZE * (len(members) - len(asked))
        return float(2.0 * brought / (size + limits.expected + _COVER_WEIGHT * len(self._needed)))

    def brings(self, key: str, asked: Sequence[str]) -> tuple[float, float]:
        """Return a candidate's likelihood by itself, and what is left of it beside the members of a set."""
        return self._likely[key], self._left(key, asked)

    def nearest(self, key: str, asked: Iterable[str]) -> str:
        """Return the member that is most alike to a candidate."""
        mine, alike = self._marks[key], self.known[key].alike
        return max(asked, key=lambda other: (alike.get(other, 0.0), (mine & self._marks[other]).bit_count()))

    def _starts(self, limits: SetLimits) -> list[tuple[str, ...]]:
        """Return the sets that the search starts from: the empty one, and single candidates if some may conflict."""
        if not self._entangled:
            return [()]
        entering = [key for key in self._usable[:_STARTS] if self._may_enter(key, (), limits)]
        return [(), *((key,) for key in entering)]

    def _improved(self, asked: tuple[str, ...], limits: SetLimits) -> tuple[str, ...]:
        asked = self._grown(asked, limits)
        while (changed := self._exchanged(asked, limits)) != asked:
            asked = changed
        return asked

    def _grown(self, asked: tuple[str, ...], limits: SetLimits) -> tuple[str, ...]:
        worth = self.worth(asked, limits)
        while len(asked) < limits.size:
            found, best = "", worth
            for key in self._entering(asked, worth, limits):
                if self._may_enter(key, asked, limits) and not (limits.graded and self._is_needy_spare(key, asked)):
                    value = self.worth((*asked, key), limits)
                    if value > best:
                        found, best = key, value
            if not found:
                break
            asked, worth = (*asked, found), best
        return asked

    def _is_needy_spare(self, key: str, asked: Sequence[str]) -> bool:
        """Tell whether a candidate would only stand in for a member, and bring others along for that."""
        among = self.members(asked)
        covered = frozenset[str]().union(*(provided_by(self.known[one]) for one in among))
        return len(among.union(self.closure(key))) > len(among) + 1 and adds_nothing(self.known[key], covered)

    def _exchanged(self, asked: tuple[str, ...], limits: SetLimits) -> tuple[str, ...]:
        """Return the best set after dropping or exchanging one member; the same set if none is better."""
        best, found = self.worth(asked, limits), asked
        entering = self._entering(asked, best, limits)
        for place in range(len(asked)):
            rest = asked[:place] + asked[place + 1 :]
            options = [rest, *((*rest, key) for key in entering if self._may_enter(key, rest, limits))]
            for option in options:
                value = self.worth(option, limits)
                if value > best + 1e-9:
                    best, found = value, option
        return self._grown(found, limits) if found != asked else asked

    def _entering(self, asked: Sequence[str], worth: float, limits: SetLimits) -> list[str]:
        """Return the candidates that can raise the worth of a set, by their largest possible gain."""
        return [key for key in self._usable if key not in asked and self._largest(key, limits) > worth]

    def _largest(self, key: str, limits: SetLimits) -> float:
        """Return a bound on the worth of any set that a candidate makes better."""
        return self.known[key].helps if limits.graded else 2.0 * self._most[key]

    def _may_enter(self, key: str, asked: Sequence[str], limits: SetLimits) -> bool:
        members = self.members(asked)
        if self.rivals(key, members):
            return False
        return self.tokens(members.union(self.closure(key))) <= limits.budget

    def _too_large(self, asked: Sequence[str], limits: SetLimits) -> tuple[str, ...]:
        """Return the candidates that would improve the set but exceed the budget."""
        if len(asked) >= limits.size:
            return ()
        members, worth = self.members(asked), self.worth(asked, limits)
        return tuple(
            key
            for key in self._usable
            if key not in asked
            and self.tokens(members.union(self.closure(key))) > limits.budget
            and not self.rivals(key, members)
            and self.worth((*asked, key), limits) > worth
        )

    def _gain(self, key: str, before: Sequence[str]) -> float:
        """Return the gain of a candidate beside earlier members; lower if these cover all its capabilities."""
        if not before:
            return self._likely[key]
        covered = 0
        for other in before:
            covered |= self._covered[other]
        idle = bool(self._needed) and not self._covered[key] & ~covered
        return self._left(key, before) * (1.0 - _NO_COVER_FACTOR * idle)

    def _left(self, key: str, before: Sequence[str]) -> float:
        """Return a candidate's likelihood, reduced by the overlap with earlier members."""
        if not before:
            return self._likely[key]
        marks = 0
        together, same = False, 0.0
        own = self.known[key]
        for other in before:
            marks |= self._marks[other]
            together = together or (own.bundle != "" and own.bundle == self.known[other].bundle)
            same = max(same, own.alike.get(other, 0.0))
        mine = self._marks[key]
        # A component that shares no word with the task counts as if earlier members shared all of them.
        shared = (mine & marks).bit_count() / mine.bit_count() if mine else 1.0
        likely = min(1.0, self._likely[key] * (1.0 + _SAME_BUNDLE_BONUS * together))
        return likely * (1.0 - _SHARED_WORDS_FACTOR * shared) * (1.0 - same)

    def _exclusive(self, one: str, other: str) -> bool:
        first, second = self.known[one], self.known[other]
        return other in first.conflicts or one in second.conflicts or bool(first.twins & second.twins)

    def _disputed(self, one: str, other: str) -> bool:
        return other in self.known[one].version_conflicts or one in self.known[other].version_conflicts

    def needs(self, key: str) -> list[str]:
        """Return the direct dependencies of a candidate, each twin replaced by the one that stands for it."""
        found = (self.stands_for.get(need, need) for need in self.known[key].needs)
        return [need for need in found if need in self.known]

    @cached_property
    def _worths(self) -> dict[float, dict[frozenset[str], float]]:
        """The cached worth of sets, by expected size, because a search meets many sets again."""
        return {}

    @cached_property
    def _shut_out(self) -> dict[str, frozenset[str]]:
        """The candidates that conflict with a candidate or any of its dependencies, by key."""
        return {
            key: frozenset(
                other
                for other in self.known
                if other not in self.closure(key)
                and any(self._exclusive(other, member) or self._disputed(other, member) for member in self.closure(key))
            )
            for key in self.known
        }

    @cached_property
    def _entangled(self) -> bool:
        """Whether candidates have dependencies or conflicts, so that a greedy first step may be wrong."""
        return any(
            candidate.needs or candidate.conflicts or candidate.version_conflicts
            for candidate in map(self.known.__getitem__, self._usable)
        )

    @cached_property
    def _usable(self) -> tuple[str, ...]:
        return tuple(candidate.key for candidate in self.ranked if self.sound(candidate.key))

    @cached_property
    def _closures(self) -> dict[str, tuple[str, ...]]:
        return {key: self._closure(key) for key in self.known}

    def _closure(self, key: str) -> tuple[str, ...]:
        order: list[str] = []
        seen = {key}
        waiting = [(key, iter(self.needs(key)))]
        while waiting:
            current, needs = waiting[-1]
            need = next((need for need in needs if need not in seen), None)
            if need is None:
                order.append(current)
                waiting.pop()
            else:
                seen.add(need)
                waiting.append((need, iter(self.needs(need))))
        return tuple(order)

    @cached_property
    def _best_score(self) -> float:
        return max((candidate.score for candidate in self.ranked), default=0.0)

    @cached_property
    def _likely(self) -> dict[str, float]:
        return {key: self._likelihood(candidate) for key, candidate in self.known.items()}

    def _likelihood(self, candidate: Candidate) -> float:
        relative = candidate.score / self._best_score if self._best_score > 0 else 1.0
        return float(min(relative, 1.0) ** _SHARPNESS) * (MISSING_REQUIREMENT_FACTOR if candidate.lacking else 1.0)

    @cached_property
    def _most(self) -> dict[str, float]:
        return {
            key: (1.0 + _SAME_BUNDLE_BONUS) * self._likely[key]
            + _COVER_WEIGHT * sum(sum(self._covering[member]) for member in self.closure(key))
            for key in self.known
        }

    @cached_property
    def _place(self) -> dict[str, tuple[float, int]]:
        """The sort key of each candidate, the likelier first, in which a set's worth is summed."""
        return {key: (-self._likely[key], place) for place, key in enumerate(self.known)}

    @cached_property
    def _needed(self) -> tuple[str, ...]:
        least = _COVER_THRESHOLD * self._best_score
        return tuple(sorted({name for c in self.ranked if c.score >= least for name in c.capabilities}))

    @cached_property
    def _covered(self) -> dict[str, int]:
        bit = {name: 1 << place for place, name in enumerate(self._needed)}
        least = _COVER_THRESHOLD * self._best_score
        return {
            key: sum(bit.get(name, 0) for name in candidate.capabilities) if candidate.score >= least else 0
            for key, candidate in self.known.items()
        }

    @cached_property
    def _covering(self) -> dict[str, tuple[float, ...]]:
        """For each candidate, by needed capability: the candidate's likelihood times how surely it provides that."""
        return {key: tuple(self._covers(key, place) for place in range(len(self._needed))) for key in self.known}

    def _covers(self, key: str, place: int) -> float:
        if not self._covered[key] & 1 << place:
            return 0.0
        return self._likely[key] * self.known[key].surely.get(self._needed[place], 1.0)

    @cached_property
    def _marks(self) -> dict[str, int]:
        words = sorted({word for candidate in self.known.values() for word in candidate.covers})
        bit = {word: 1 << place for place, word in enumerate(words)}
        return {key: sum(bit[word] for word in candidate.covers) for key, candidate in self.known.items()}
