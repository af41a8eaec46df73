"""Explains why a candidate is not in a set, and finds the change that would bring it in by assembling again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from repertoire.retrieval.sets.assemble import Assembly, SetLimits, SetSearch
from repertoire.retrieval.sets.candidates import Candidate
from repertoire.retrieval.sets.choices import SetChoices
from repertoire.retrieval.sets.goodness import is_large
from repertoire.retrieval.sets.roles import still_open

SAME, CONFLICT, VERSIONS, TORN, NEEDS, BUDGET, FULL, CROWD, SAME_JOB, LARGE, UNLIKELY, UNSURE, NOTHING_NEW = (
    "same",
    "conflict",
    "versions",
    "torn",
    "needs",
    "budget",
    "full",
    "crowd",
    "same job",
    "large",
    "unlikely",
    "unsure",
    "nothing new",
)
_TEXTS = {
    SAME: "the same as {other}",
    CONFLICT: "conflicts with {other}",
    VERSIONS: "conflicts with {other}: {detail}",
    TORN: "what it needs cannot stand beside each other",
    NEEDS: "needs {detail}",
    BUDGET: "over budget: {detail}",
    FULL: "the set has its {detail}",
    CROWD: "with what it needs, it does not fit in a set of {detail}",
    SAME_JOB: "same job as {other}",
    UNLIKELY: "far less likely to help",
    LARGE: "brings a large plugin along ({detail})",
    UNSURE: "not likely enough to help, though it provides {detail}",
    NOTHING_NEW: "adds nothing that the task needs",
}
_TRIED = 4  # changes that are tried for one candidate
_MORE = 2  # members by which a set is enlarged to see whether the candidate enters
_UNLIKELY = 0.35  # likelihood below which a candidate is out for that reason alone
_HALF = 0.75  # share of a candidate's likelihood: if less is left, another member does its job


_Told = tuple[str, str, str]  # a reason, the key of the member that it is about, and a detail


@dataclass(frozen=True)
class Refusal:
    """The reason why a candidate is not in a set, with the member (`other`) or figure (`detail`) that it is about.

    `stale` is the date since which the candidate is stale, if the other member does its job and is not stale. `remedy`
    is the single change that would bring it in; empty if there is none.
    """

    reason: str
    other: str = ""
    detail: str = ""
    stale: str = ""
    remedy: str = ""

    @property
    def text(self) -> str:
        """The reason in words."""
        return _TEXTS[self.reason].format(other=self.other, detail=self.detail)


@dataclass(frozen=True)
class Case:
    """A set with the candidates, limits and choices that it was assembled from."""

    ranked: Sequence[Candidate]
    others: Sequence[Candidate]
    limits: SetLimits
    choices: SetChoices
    assembly: Assembly


@dataclass(frozen=True)
class _Change:
    """Changed candidates or limits to assemble with, and the words for the change."""

    said: str
    ranked: Sequence[Candidate]
    others: Sequence[Candidate]
    limits: SetLimits


def why_not(case: Case, key: str) -> Refusal:
    """Return the reason that kept a candidate out, and the first single change that brings it in."""
    stand_in = case.choices.stands_for.get(key, key)  # only one of several twins could be chosen
    same = stand_in != key and stand_in in case.choices.members(case.assembly.asked)
    reason, other, detail = (SAME, stand_in, "") if same else _reason(case, stand_in)
    stale = _stale(case, key, other) if reason in {SAME, SAME_JOB} else ""
    refusal = Refusal(reason, _name_beside(case, other, key), detail, stale)
    if stand_in != key and not same:
        return refusal  # whatever is changed, its twin would be chosen
    for change in _changes(case, stand_in, reason, other):
        changed = SetSearch(SetChoices.of(change.ranked, change.others), change.limits).best()
        if key in {member.key for member in changed.chosen}:
            return replace(refusal, remedy=change.said)
    return refusal


def member_of_same_job(choices: SetChoices, key: str, asked: Sequence[str]) -> str:
    """Return the key of the member that does most of a likely candidate's job; empty if there is none."""
    likely, left = choices.expected_f1.brings(key, asked)
    return choices.expected_f1.nearest(key, asked) if likely >= _UNLIKELY and left < _HALF * likely else ""


def _reason(case: Case, key: str) -> _Told:
    choices, asked = case.choices, case.assembly.asked
    candidate, members = choices.known[key], choices.members(asked)
    if not choices.sound(key):
        return TORN, "", ""
    if rivals := choices.rivals(key, members):
        if candidate.twins & choices.known[rivals[0]].twins:
            return SAME, rivals[0], ""
        versions = _disputed(choices, key, rivals[0])
        return (VERSIONS if versions else CONFLICT), rivals[0], versions
    checks: tuple[Callable[[Case, str], _Told | None], ...] = (_lacking, _over_budget, _too_little_gain)
    return next(found for check in checks if (found := check(case, key)) is not None)


def _disputed(choices: SetChoices, key: str, rival: str) -> str:
    """Return the packages in whose versions a candidate or its dependencies conflict with a rival; else empty."""
    return next(
        (said for member in choices.closure(key) if (said := choices.known[member].version_conflicts.get(rival, ""))),
        "",
    )


def _lacking(case: Case, key: str) -> _Told | None:
    lacking = _own_lacks(case, key)
    return (NEEDS, "", ", and ".join(lacking[:2])) if lacking else None


def _own_lacks(case: Case, key: str) -> list[str]:
    """Return what a candidate lacks, without what a member lacks too: that kept the member out no more than this."""
    members = case.choices.members(case.assembly.asked)
    shared = {lack for member in members for lack in case.choices.known[member].lacking}
    return [lack for lack in case.choices.known[key].lacking if lack not in shared]


def _over_budget(case: Case, key: str) -> _Told | None:
    members = case.choices.members(case.assembly.asked)
    total = case.choices.tokens(members.union(case.choices.closure(key)))
    if total <= case.limits.budget:
        return None
    return BUDGET, "", f"the set would take {total} of {case.limits.budget} tokens"


def _too_little_gain(case: Case, key: str) -> _Told:
    asked = case.assembly.asked
    if case.choices.expected_f1.brings(key, asked)[0] < _UNLIKELY:
        return UNLIKELY, "", ""
    known = case.choices.known
    open_needs = still_open(sorted(known[key].capabilities), [known[one] for one in asked])
    if asked and not open_needs and (nearest := member_of_same_job(case.choices, key, asked)):
        return SAME_JOB, nearest, ""
    members = case.choices.members(asked)
    if len(asked) >= case.limits.size or len(members) == case.limits.most:
        return FULL, "", str(len(members))
    if not case.limits.allows(len(members.union(case.choices.closure(key)))):
        return CROWD, "", str(case.limits.most)
    if case.limits.graded and is_large(known[key]):
        return LARGE, "", f"{known[key].unit}, {known[key].unit_tokens:,} tokens"
    return (UNSURE, "", ", ".join(open_needs)) if open_needs else (NOTHING_NEW, "", "")


def _changes(case: Case, key: str, reason: str, other: str) -> Iterator[_Change]:
    """Yield at most `_TRIED` changed conditions to assemble with, the most promising first."""
    kinds: dict[str, Callable[[], Iterator[_Change]]] = {
        NEEDS: lambda: _with_needs(case, key),
        BUDGET: lambda: _with_budget(case, key),
        FULL: lambda: _with_size(case),
        SAME: lambda: _without(case, other),
        CONFLICT: lambda: _without(case, other),
        VERSIONS: lambda: _without(case, other),
        SAME_JOB: lambda: _without(case, other),
    }
    tried = 0
    for kind in dict.fromkeys([reason, FULL]):
        for change in kinds.get(kind, lambda: iter(()))():
            yield change
            tried += 1
            if tried == _TRIED:
                return


def _with_needs(case: Case, key: str) -> Iterator[_Change]:
    def met(candidate: Candidate) -> Candidate:
        return replace(candidate, lacking=()) if candidate.key == key else candidate

    said = "with " + " and ".join(lack.partition(":")[0].partition(",")[0] for lack in _own_lacks(case, key))
    yield _Change(said, [met(c) for c in case.ranked], [met(c) for c in case.others], case.limits)


def _with_budget(case: Case, key: str) -> Iterator[_Change]:
    members = case.choices.members(case.assembly.asked)
    budget = case.choices.tokens(members.union(case.choices.closure(key)))
    yield _Change(f"with a budget of {budget} tokens", case.ranked, case.others, replace(case.limits, budget=budget))


def _with_size(case: Case) -> Iterator[_Change]:
    now = case.limits.most or len(case.choices.members(case.assembly.asked))
    for size in range(now + 1, now + 1 + _MORE):
        limits = replace(case.limits, size=size, most=size, expected=float(size))
        yield _Change(f"with size {size}", case.ranked, case.others, limits)


def _without(case: Case, other: str) -> Iterator[_Change]:
    # Members that depend on the removed one would bring it back.
    gone = {other, *(member for member in case.assembly.asked if other in case.choices.closure(member))}
    yield _Change(
        f"without {' and '.join(case.choices.known[removed].name for removed in sorted(gone))}",
        [c for c in case.ranked if c.key not in gone],
        [c for c in case.others if c.key not in gone],
        case.limits,
    )


def _stale(case: Case, key: str, other: str) -> str:
    own = next((c.stale for c in (*case.ranked, *case.others) if c.key == key), "")
    return "" if case.choices.known[other].stale else own


def _name_beside(case: Case, member: str, key: str) -> str:
    known = case.choices.known  # without all but one of several twins
    if not member:
        return ""
    return known[member].name_beside(known[key]) if key in known else known[member].name
