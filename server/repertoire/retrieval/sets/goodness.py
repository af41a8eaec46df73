"""Computes the chance that a set is good (a member serves the task, none is of no use), and what completes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repertoire.retrieval.sets.candidates import LIGHTER, Candidate
from repertoire.retrieval.why import NOTED_PAST

# Factor on the chance for each further member, and for each dependency (with another one a set would be better or worse
# for naming a dependency as a member): without it sets grow for next to nothing. With .95, .98 and 1 for a member 79.5,
# 80.7 and 83.0 of 100 sets for 88 plain tasks are good, 18.2, 17.0 and 14.8 bad; of 1,035 others, that were graded more
# strictly, .98 and 1 lose 0 and .8 of the good and avoid .4 of the bad.
_FURTHER_FACTOR = 0.98
_SAME_JOB = 0.9  # from this likeness on, as of a plugin and its part, a member brings nothing beside the other
_LIKELY = 0.7  # chance of helping from which on a candidate completes a set
# Tokens of a large plugin in each session's listing: of 186 plugins of fourteen repositories two are larger.
_LARGE = 2_500
# A member of a large plugin gives way to one of half the tokens whose chance of serving is at most so much lower, and
# one that must be installed to one that is there. Were every fifth of 3,803 components installed, .1 would let 48
# instead of 25 of 100 sets begin with one; of 379 tasks 2.9 of 100 fewer sets are good, with 3.0 of 100 ungraded.
# So does one that lacks something on this machine to one that lacks nothing: where docker, gh, kubectl, uv and ffmpeg
# were missing, 9 of 763 sets changed their first, read by eye: seven for the better, none for the worse.
# What a person put there for themselves is meant for it. Of 46 questions for which one has a skill of one's own, .2
# lets 41 instead of 37 sets begin with such a skill, .3 42; of 88 tasks for which one has 46, 8 more begin with
# one, read by eye: six rightly, two with one that helps.
_GIVES_WAY, _GIVES_WAY_TO_INSTALLED, _GIVES_WAY_TO_OWN = 0.06, 0.1, 0.2
# Nothing gives way to what serves less than half as likely: where the first itself is unlikely, all that is installed
# is within those margins, and a set for "clean up my downloads folder" began with one's own remover of dead code.
_LEAST_SHARE = 0.5
# The ranking weighs more than grades do; one that serves so much likelier than its first leads. Of 1,314 kept tasks 1
# more gets a good set and 6 fewer a bad one, with .4 of 100 more members ungraded; of 27 leaders that change, read by
# eye, 13 are better and 3 worse.
_LIKELIER = 0.05
_SAME = 0.85  # of the evidence of past requests from which on the same was asked before; one that was alike has .75
_LARGE_FACTOR = 0.95  # factor on the chance for each large plugin
MISSING_REQUIREMENT_FACTOR = 0.7  # factor on the likelihood of a component that lacks a requirement on this machine


def chance_of_good(members: Sequence[Candidate], dependencies: int) -> float:
    """Return the chance, 0 to 1, that graded members make a good set; lower for each that stands beside the first.

    The grades of members count as independent of each other. A member that does the job of one before it only makes the
    set larger.
    """
    useful, merely_helpful = 1.0, 1.0
    for place, member in enumerate(members):
        if any(_does_the_job_of(member, other) for other in members[:place]):
            continue
        met = MISSING_REQUIREMENT_FACTOR if member.lacking else 1.0
        useful *= met * member.helps
        merely_helpful *= met * (member.helps - member.serves)
    large = len({member.unit for member in members if is_large(member)})
    small = _FURTHER_FACTOR ** (len(members) - 1 + dependencies) * _LARGE_FACTOR**large
    return float(small * (useful - merely_helpful))


def foremost(entering: Sequence[str], known: Mapping[str, Candidate]) -> str:
    """Return the key of the first, or of one that serves likelier; or nearly as likely, and costs less.

    Less costs an installed one, one that lacks nothing on this machine, and one that brings no large plugin along.
    """
    first = _likelier(known[entering[0]], [known[key] for key in entering[1:]])
    if first.lacking and not (first.installed or _served(first, first.serves)):
        first = _complete(first, [known[key] for key in entering])
    others = [known[key] for key in entering if key != first.key]
    if not first.installed:
        ready = (one for one in others if one.installed and not one.needs)
        likely = (one.key for one in ready if gives_way(first.serves, one.serves, own=one.own))
        installed = next(likely, "")
        if installed:
            return installed
    if not is_large(first):
        return first.key
    light = [
        other
        for other in others
        if other.serves >= first.serves - _GIVES_WAY
        and LIGHTER * (other.unit_tokens or other.tokens) <= first.unit_tokens
    ]
    return max(light, key=lambda other: other.serves, default=first).key


def _likelier(first: Candidate, others: Sequence[Candidate]) -> Candidate:
    """Return the first, or the likeliest to serve of those that do so by a margin and lack nothing here."""
    if first.installed and not first.refused:
        return first
    likelier = (one for one in others if one.serves >= first.serves + _LIKELIER and not one.lacking)
    best = max(likelier, key=lambda one: one.serves, default=first)
    return first if _served(first, best.serves) else best


def _complete(first: Candidate, others: Sequence[Candidate]) -> Candidate:
    """Return the likeliest to serve of those that lack nothing here and serve nearly as likely as the first, or it."""
    near = (one for one in others if not one.lacking and _is_near(first.serves, one.serves, _GIVES_WAY_TO_INSTALLED))
    return max(near, key=lambda one: one.serves, default=first)


def _served(first: Candidate, serves: float) -> bool:
    """Tell whether a first served the request before, or similar ones, which weighs more than that one of `serves` may.

    A use may belong to other work than the request it was learned for: where the grade says so, as one that is less
    than half as likely does, only the same request counts.
    """
    return first.past >= _SAME or (first.past >= NOTED_PAST and first.serves >= _LEAST_SHARE * serves)


def gives_way(serves: float, installed_serves: float, *, own: bool) -> bool:
    """Tell whether one that must be installed, with this chance of serving, gives way to an installed one with that."""
    return _is_near(serves, installed_serves, _GIVES_WAY_TO_OWN if own else _GIVES_WAY_TO_INSTALLED)


def _is_near(serves: float, other_serves: float, margin: float) -> bool:
    return serves - other_serves <= margin and other_serves >= _LEAST_SHARE * serves


def is_large(candidate: Candidate) -> bool:
    """Tell whether a candidate would bring a large plugin along."""
    return candidate.unit_tokens >= _LARGE and not candidate.installed


def completes(candidate: Candidate, members: Sequence[Candidate]) -> bool:
    """Tell whether a candidate likely helps with a capability that no member provides, and does no member's job.

    Without it a task in two parts may get two members for one of them. Of 221 graded tasks in parts it costs one or two
    of 100 good sets, as the graders did not ask for every part.
    """
    return candidate.helps >= _LIKELY and adds_capability(candidate, members)


def adds_capability(candidate: Candidate, members: Sequence[Candidate]) -> bool:
    """Tell whether a candidate provides what no member provides, does no member's job, and lacks nothing here."""
    new = candidate.capabilities.difference(*(member.capabilities for member in members))
    return bool(new) and not candidate.lacking and not any(_does_the_job_of(candidate, member) for member in members)


def _does_the_job_of(candidate: Candidate, other: Candidate) -> bool:
    """Tell whether two do the same job; who names a plugin, a skill and a server alike means the same by it."""
    return candidate.alike.get(other.key, 0.0) >= _SAME_JOB or candidate.name.lower() == other.name.lower()
