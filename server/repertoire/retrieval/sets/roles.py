"""Tells what each member of a set is for: a part of the task, another member, or to stand in for the first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from repertoire.retrieval.language import ENGLISH
from repertoire.retrieval.sets.candidates import Candidate

# Chance from which on a member serves a task of one job alone. Of the 42 such second members in sets for 1,397 common
# tasks, 28 were graded as serving the whole task and 9 as helping with it.
_SERVES_ALONE = 0.5


@dataclass(frozen=True)
class Chosen:
    """A member of a set and its role; a `spare` is needed only if the first member does not serve."""

    key: str
    role: str
    spare: bool = False


@dataclass(frozen=True)
class Spares:
    """Tells which further members only stand in for the first: those that cover nothing new.

    Of a task that is `one_job` it is also who serves that job alone, unless for a technology that is asked for and not
    covered: "reduce bundle size" wants one optimizer, an Expo app with Supabase the know-how of both.
    """

    one_job: bool = False
    technologies: AbstractSet[str] = frozenset()  # capabilities that are technologies

    def has(self, member: Candidate, covered: frozenset[str], provided: frozenset[str]) -> bool:
        """Tell whether a member is a spare beside others that cover and provide so much of the task."""
        new = member.capabilities - provided
        if self.one_job and member.serves >= _SERVES_ALONE and not new & self.technologies:
            return True
        return not new and adds_nothing(member, covered)


def chosen_of(
    asked: Sequence[str],
    known: Mapping[str, Candidate],
    closure: Callable[[str], Sequence[str]],
    *,
    spares: Spares | None,
) -> tuple[Chosen, ...]:
    """Return the members of a set, each before what it needs; `asked` are those that were chosen, the first first.

    A spare is none if the first needs it; what only spares need is spare. A capability is covered by who provides it:
    the word may stand anywhere in a text.
    """
    found: dict[str, Chosen] = {}
    covered: frozenset[str] = frozenset()
    provided: frozenset[str] = frozenset()
    for key in asked:
        member, needed = known[key], key in found
        spare = spares is not None and bool(found) and not needed and spares.has(member, covered, provided)
        instead = f"should {known[asked[0]].name_beside(member)} not serve" if spare else ""
        found[key] = Chosen(key, ", ".join(filter(None, (role(member, covered), instead))), spare)
        for need in reversed(closure(key)[:-1]):  # the last one is the member itself
            before = found.get(need)
            if before is None or (before.spare and not spare):
                found[need] = Chosen(need, f"needed by {member.name}", spare)
        covered, provided = covered | provided_by(member), provided | member.capabilities
    return tuple(found.values())


def still_open(names: Iterable[str], members: Collection[Candidate]) -> tuple[str, ...]:
    """Return the capabilities that no member provides, and whose words none holds: its role would name them."""
    provided = {name for member in members for name in member.capabilities}
    held = {word for member in members for word in member.covers}
    return tuple(name for name in names if name not in provided and not held.issuperset(name.split("-")))


def role(candidate: Candidate, covered: frozenset[str]) -> str:
    """Return the task's capabilities, else words, that a member covers, new ones if it adds any."""
    names = _part(candidate)
    return ", ".join(sorted(names - covered) or sorted(names))


def provided_by(member: Candidate) -> frozenset[str]:
    """Return the capabilities and words of the task that a member covers."""
    return member.capabilities | member.covers


def adds_nothing(candidate: Candidate, covered: frozenset[str]) -> bool:
    """Tell whether all of the task that a candidate is for is covered; so it is if no part of it is known."""
    return _part(candidate) <= covered


def _part(candidate: Candidate) -> frozenset[str]:
    # "add" and "make" tell no part of a task, nor does a number
    return candidate.capabilities or frozenset(word for word in candidate.covers - ENGLISH if not word.isdigit())
