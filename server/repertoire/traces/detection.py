"""Decides at a turn's end which solved problem was hard enough to propose as a trace: one at most."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from repertoire.traces.problem import SOLVED, Problem, SessionTrace

_OFFERS = 64  # keys of offered problems that a session remembers


@dataclass(frozen=True)
class DetectionSettings:
    """The weight of each sign of a hard-won solution, in failed attempts, and the threshold for their sum."""

    threshold: float = 2.0  # two attempts without any progress: one may be a slip
    stuck: float = 1.0  # an attempt after which the error was the same
    moved: float = (
        0.5  # an attempt after which the error was another: in code, errors are often corrected one after the other
    )
    moved_most: float = 1.0  # limit of their sum: many of them are ordinary work
    moved_tough: float = (
        0.75  # another error in the same test, or in packages or configuration: one error hides the next
    )
    moved_tough_most: float = 2.25
    moved_stuck: float = 1.0  # another error, if some other attempt left the error the same
    eased: float = 0.25  # an attempt after which fewer tests failed: the work proceeds
    eased_most: float = 0.5
    varied: float = 0.5  # only the command was changed: a cheap attempt, and the way queries are refined
    varied_most: float = 1.5
    reversal: float = 1.0  # an attempt that was undone after it had failed
    rework: float = 0.5  # lines of an attempt were rewritten: a weaker sign, since code is also refined
    turned_most: float = 2.0  # limit of the sum of reversals and reworks
    look: float = 1.5  # a look-up outside while the problem was open; alone, it may be a page of a manual
    look_more: float = 0.5  # a search for the error itself, or a second look-up
    long: float = 0.5  # the problem was open longer than `long_seconds`
    long_seconds: float = 600.0
    broad: float = 0.5  # after a failed attempt, the solution is in several files, or in files and commands
    tested_first: float = -0.5  # the test was written first, to fail: the first code is no attempt at a solution


@dataclass(frozen=True)
class Verdict:
    """How hard a problem was to solve: the sum of its signs, and their names."""

    score: float
    signs: tuple[str, ...]


def verdict(problem: Problem, settings: DetectionSettings | None = None) -> Verdict:
    """Compute how hard-won the solution of a problem was."""
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
    """Return the problem to propose at this stop; mostly None.

    `rejected` are keys of problems that a person refused to keep; neither they nor offered ones are proposed again.
    """
    rule = settings or DetectionSettings()
    silent = rejected | set(session.offers)
    solved = [each for each in session.problems if _is_solved(each) and not each.keys & silent]
    hard = [(verdict(each, rule).score, each) for each in solved]
    return max((pair for pair in hard if pair[0] >= rule.threshold), key=lambda pair: pair[0], default=(0.0, None))[1]


def offered(session: SessionTrace, problem: Problem) -> SessionTrace:
    """Return the session with this problem marked as offered."""
    problems = tuple(replace(each, offered=True) if each == problem else each for each in session.problems)
    return replace(session, problems=problems, offers=(*session.offers, *sorted(problem.keys))[-_OFFERS:])


def _is_solved(problem: Problem) -> bool:
    """Tell whether a problem was really solved, not by skipped tests nor by itself, and was not offered yet."""
    if problem.state != SOLVED or problem.offered or problem.pending.skipped:
        return False
    return problem.pending.edited or not (problem.network or problem.usage)


def _is_broad(problem: Problem) -> bool:
    files = {hunk.file for hunk in problem.hunks}
    return len(files) + bool(problem.pending.commands) >= 2
