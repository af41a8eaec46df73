"""Holds the candidates for a set: what each needs and brings along, what shuts others out, and what a set costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from repertoire.retrieval.sets.candidates import Candidate, merged
from repertoire.retrieval.sets.expected_f1 import ExpectedF1


@dataclass(frozen=True)
class SetChoices:
    """The candidates for a set, deduplicated: one of each group of twins stands for the group."""

    ranked: tuple[Candidate, ...]
    known: Mapping[str, Candidate]
    stands_for: Mapping[str, str]  # key of the kept twin by the key of each twin

    @classmethod
    def of(cls, ranked: Sequence[Candidate], others: Iterable[Candidate]) -> SetChoices:
        """Build the choices from ranked candidates, best first, and others, not ranked, that these may depend on."""
        kept, stands_for = merged([*ranked, *others])
        places = len({stands_for[candidate.key] for candidate in ranked})
        return cls(tuple(kept[:places]), {candidate.key: candidate for candidate in kept}, stands_for)

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

    def needs(self, key: str) -> list[str]:
        """Return the direct dependencies of a candidate, each twin replaced by the one that stands for it."""
        found = (self.stands_for.get(need, need) for need in self.known[key].needs)
        return [need for need in found if need in self.known]

    @cached_property
    def usable(self) -> tuple[str, ...]:
        """The keys of the ranked candidates that may stand in a set, best first."""
        return tuple(candidate.key for candidate in self.ranked if self.sound(candidate.key))

    @cached_property
    def entangled(self) -> bool:
        """Whether candidates have dependencies or conflicts, so that a greedy first step may be wrong."""
        return any(
            candidate.needs or candidate.conflicts or candidate.version_conflicts
            for candidate in map(self.known.__getitem__, self.usable)
        )

    @cached_property
    def expected_f1(self) -> ExpectedF1:
        """The expected F1 of sets of these candidates."""
        return ExpectedF1(self.ranked, self.known, self._closures)

    def _exclusive(self, one: str, other: str) -> bool:
        first, second = self.known[one], self.known[other]
        return other in first.conflicts or one in second.conflicts or bool(first.twins & second.twins)

    def _disputed(self, one: str, other: str) -> bool:
        return other in self.known[one].version_conflicts or one in self.known[other].version_conflicts

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
