"""Judges at a turn's end which problem was hard-won and solved, so that it is worth keeping: one at most, or none."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from repertoire.traces.problem import SOLVED, Problem, SessionTrace

_OFFERS = 64  # keys that are remembered


@dataclass(frozen=True)
class DetectionSettings:
    """What each sign of a hard-won solution counts, in failed attempts; they add up to the threshold or do not."""

    threshold: float = 2.0  # two attempts that failed for nothing: the first may be a slip, a third is a fight
    stuck: float = 1.0  # the same error after an attempt
    moved: float = 0.5  # another error: in code they are mended one after the other, without a fight
    moved_most: float = 1.0  # so that however many are only work
    moved_tough: float = 0.75  # in one test, or where packages or configuration are at fault: one error hides the next
    moved_tough_most: float = 2.25
    moved_stuck: float = 1.0  # where another attempt was for nothing, it is a fight
    eased: float = 0.25  # fewer failures than before: the work goes on well
    eased_most: float = 0.5
    varied: float = 0.5  # the command alone was changed: cheap to try, and queries are refined that way
    varied_most: float = 1.5
    reversal: float = 1.0  # an attempt was taken back after it had failed
    rework: float = 0.5  # lines of an attempt were written over: weaker, since code is also refined
    turned_most: float = 2.0  # of reversals and reworks together
    look: float = 1.5  # something was looked up outside while it was open; alone it may be a page of a manual
    look_more: float = 0.5  # the error itself was searched for, or more than one thing: nobody does that who knows
    long: float = 0.5  # it took longer than `long_seconds`
    long_seconds: float = 600.0
    broad: float = 0.5  # after an attempt for nothing, what mended it is in several files, or in files and commands
    tested_first: float = -0.5  # the test was written to fail: the first code is no attempt at mending


@dataclass(frozen=True)
class Verdict:
    """How hard a problem was to solve, and by which signs."""

    score: float
    signs: tuple[str, ...]


def verdict(problem: Problem, settings: DetectionSettings | None = None) -> Verdict:
    """Weigh the signs that a solution was hard-won."""
    rule = settings or DetectionSettings()
    looks = len(problem.looks)
    for_nothing = problem.stuck + problem.reversals + problem.reworks + looks > 0
    signs = {
        "same error after an attempt": problem.stuck * rule.stuck,
        "another error after an attempt": _moved(problem, rule),
        "command varied": min(problem.varied * rule.varied, rule.varied_most) * (not problem.usage),
        "approach reversed": min(problem.reversals * rule.reversal + problem.reworks * rule.rework, rule.turned_most),
        "looked up": (rule.look + rule.look_more * (problem.sought or looks > 1)) * (looks > 0),
        "long": rule.long * (problem.solved - problem.opened >= rule.long_seconds),
        "broad": rule.broad * (for_nothing and _is_broad(problem)),
        "test written first": rule.tested_first * (problem.tested_first and not problem.setup),
    }
    return Verdict(sum(signs.values()), tuple(name for name, weight in signs.items() if weight))


def _moved(problem: Problem, rule: DetectionSettings) -> float:
    eased = min(problem.eased * rule.eased, rule.eased_most)
    moved = problem.moved - problem.eased
    if problem.stuck:
        return moved * rule.moved_stuck + eased
    tough = moved if 2 * problem.setup >= moved else problem.held
    easy = min((moved - tough) * rule.moved, rule.moved_most)
    return min(tough * rule.moved_tough + easy + eased, rule.moved_tough_most)


def to_offer(
    session: SessionTrace, rejected: AbstractSet[str] = frozenset(), settings: DetectionSettings | None = None
) -> Problem | None:
    """Return the problem that is worth an offer at this stop; None mostly.

    `rejected` are keys of problems that a person did not want to keep: neither they nor what was offered come again.
    """
    rule = settings or DetectionSettings()
    silent = rejected | set(session.offers)
    solved = [each for each in session.problems if _is_solved(each) and not each.keys & silent]
    hard = [(verdict(each, rule).score, each) for each in solved]
    return max((pair for pair in hard if pair[0] >= rule.threshold), key=lambda pair: pair[0], default=(0.0, None))[1]


def offered(session: SessionTrace, problem: Problem) -> SessionTrace:
    """Return the session after a problem was offered."""
    problems = tuple(replace(each, offered=True) if each == problem else each for each in session.problems)
    return replace(session, problems=problems, offers=(*session.offers, *sorted(problem.keys))[-_OFFERS:])


def _is_solved(problem: Problem) -> bool:
    """Tell whether a problem was mended: not given up by skipping tests, nor gone by itself, as the network's are."""
    if problem.state != SOLVED or problem.offered or problem.pending.skipped:
        return False
    return problem.pending.edited or not (problem.network or problem.usage)


def _is_broad(problem: Problem) -> bool:
    files = {hunk.file for hunk in problem.hunks}
    return len(files) + bool(problem.pending.commands) >= 2
