"""Computes the expected F1 of a set from the likelihoods of its members, for candidates that were not graded.

It is twice the set's gain, divided by its size plus the usual size for such a task. A member's gain is its likelihood,
reduced where a likelier member does the same job, and raised where both belong to one bundle. Covering a needed
capability adds gain, the more the surer a member provides it. A dependency counts as half a member and has no gain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from repertoire.retrieval.sets.candidates import Candidate
from repertoire.retrieval.sets.goodness import MISSING_REQUIREMENT_FACTOR

_SHARPNESS = 4.0 / 3.0  # exponent that turns a relative score into a likelihood; learned on the train splits
# Shares by which a member's likelihood falls or rises.
_SHARED_WORDS_FACTOR = 0.4  # loss of a member of which other members share every word that it shares with the task
_NO_COVER_FACTOR = 0.35  # loss of a member that covers no needed capability that is still open
_SAME_BUNDLE_BONUS = 0.15  # bonus of a member that belongs to the bundle of a likelier member
_COVER_WEIGHT = 0.3  # gain of a needed capability, covered by a component that surely provides it and surely fits
_COVER_THRESHOLD = 0.25  # relative score from which on a candidate's capabilities count as needed
_NEEDED_MEMBER_SIZE = 0.5  # size of a dependency: it is not chosen, and mostly installed with the member


class ExpectedF1:
    """Computes the expected F1 of sets of one choice of candidates; the worth of a set is kept."""

    def __init__(
        self, ranked: Sequence[Candidate], known: Mapping[str, Candidate], closures: Mapping[str, tuple[str, ...]]
    ) -> None:
        """`known` are all candidates by key, `closures` the keys of each with its dependencies."""
        self._ranked, self._known, self._closures = ranked, known, closures
        self._worths: dict[float, dict[frozenset[str], float]] = {}  # by expected size: a search meets many sets again

    def of(self, asked: Sequence[str], expected: float) -> float:
        """Return the expected F1 of a set where a task usually needs so many members, whatever their order."""
        known = self._worths.setdefault(expected, {})
        which = frozenset(asked)
        if which not in known:
            known[which] = self._worth(asked, expected)
        return known[which]

    def bound(self, key: str) -> float:
        """Return a bound on the expected F1 of any set that a candidate makes better."""
        return 2.0 * self._most[key]

    def brings(self, key: str, asked: Sequence[str]) -> tuple[float, float]:
        """Return a candidate's likelihood by itself, and what is left of it beside the members of a set."""
        return self._likely[key], self._left(key, asked)

    def nearest(self, key: str, asked: Iterable[str]) -> str:
        """Return the member that is most alike to a candidate."""
        mine, alike = self._marks[key], self._known[key].alike
        return max(asked, key=lambda other: (alike.get(other, 0.0), (mine & self._marks[other]).bit_count()))

    def _worth(self, asked: Sequence[str], expected: float) -> float:
        brought = 0.0
        before: list[str] = []
        for key in sorted(asked, key=self._place.__getitem__):
            brought += self._gain(key, before)
            before.append(key)
        members = {member for key in asked for member in self._closures[key]}
        brought += _COVER_WEIGHT * sum(max(by) for by in zip(*(self._covering[key] for key in members), strict=True))
        size = len(asked) + _NEEDED_MEMBER_SIZE * (len(members) - len(asked))
        return float(2.0 * brought / (size + expected + _COVER_WEIGHT * len(self._needed)))

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
        own = self._known[key]
        for other in before:
            marks |= self._marks[other]
            together = together or (own.bundle != "" and own.bundle == self._known[other].bundle)
            same = max(same, own.alike.get(other, 0.0))
        mine = self._marks[key]
        # A component that shares no word with the task counts as if earlier members shared all of them.
        shared = (mine & marks).bit_count() / mine.bit_count() if mine else 1.0
        likely = min(1.0, self._likely[key] * (1.0 + _SAME_BUNDLE_BONUS * together))
        return likely * (1.0 - _SHARED_WORDS_FACTOR * shared) * (1.0 - same)

    @cached_property
    def _best_score(self) -> float:
        return max((candidate.score for candidate in self._ranked), default=0.0)

    @cached_property
    def _likely(self) -> dict[str, float]:
        return {key: self._likelihood(candidate) for key, candidate in self._known.items()}

    def _likelihood(self, candidate: Candidate) -> float:
        relative = candidate.score / self._best_score if self._best_score > 0 else 1.0
        return float(min(relative, 1.0) ** _SHARPNESS) * (MISSING_REQUIREMENT_FACTOR if candidate.lacking else 1.0)

    @cached_property
    def _most(self) -> dict[str, float]:
        return {
            key: (1.0 + _SAME_BUNDLE_BONUS) * self._likely[key]
            + _COVER_WEIGHT * sum(sum(self._covering[member]) for member in self._closures[key])
            for key in self._known
        }

    @cached_property
    def _place(self) -> dict[str, tuple[float, int]]:
        """The sort key of each candidate, the likelier first, in which a set's worth is summed."""
        return {key: (-self._likely[key], place) for place, key in enumerate(self._known)}

    @cached_property
    def _needed(self) -> tuple[str, ...]:
        least = _COVER_THRESHOLD * self._best_score
        return tuple(sorted({name for c in self._ranked if c.score >= least for name in c.capabilities}))

    @cached_property
    def _covered(self) -> dict[str, int]:
        bit = {name: 1 << place for place, name in enumerate(self._needed)}
        least = _COVER_THRESHOLD * self._best_score
        return {
            key: sum(bit.get(name, 0) for name in candidate.capabilities) if candidate.score >= least else 0
            for key, candidate in self._known.items()
        }

    @cached_property
    def _covering(self) -> dict[str, tuple[float, ...]]:
        """For each candidate, by needed capability: the candidate's likelihood times how surely it provides that."""
        return {key: tuple(self._covers(key, place) for place in range(len(self._needed))) for key in self._known}

    def _covers(self, key: str, place: int) -> float:
        if not self._covered[key] & 1 << place:
            return 0.0
        return self._likely[key] * self._known[key].surely.get(self._needed[place], 1.0)

    @cached_property
    def _marks(self) -> dict[str, int]:
        words = sorted({word for candidate in self._known.values() for word in candidate.covers})
        bit = {word: 1 << place for place, word in enumerate(words)}
        return {key: sum(bit[word] for word in candidate.covers) for key, candidate in self._known.items()}
