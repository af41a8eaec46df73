"""Compares two failed runs of a check: the same error, another one, or fewer."""

from __future__ import annotations

from repertoire.traces.problem import Round

_KEPT = 24


def same_error(before: Round, now: Round) -> bool:
    """Tell whether two runs failed with the same error at the same place."""
    if fewer(before, now) or _elsewhere(before, now):
        return False
    if before.firsts & now.exacts or now.firsts & before.exacts or not (before.keys or now.keys):
        return True
    return bool(before.keys & now.keys and before.tests & now.tests)


def fewer(before: Round, now: Round) -> bool:
    """Tell whether the later run has fewer failures."""
    return before.count > now.count > 0


def _elsewhere(before: Round, now: Round) -> bool:
    if before.tests and now.tests:
        return not before.tests & now.tests
    return bool(before.places and now.places and not before.places & now.places)


def merged(before: Round, now: Round) -> Round:
    """Merge two runs of a check over the same state of the code."""
    return Round(
        frozenset(sorted(before.firsts | now.firsts)[:_KEPT]),
        frozenset(sorted(before.exacts | now.exacts)[:_KEPT]),
        frozenset(sorted(before.keys | now.keys)[:_KEPT]),
        frozenset(sorted(before.tests | now.tests)[:_KEPT]),
        frozenset(sorted(before.places | now.places)[:_KEPT]),
        now.count,
    )
