"""An amendment that keeps the words is a version of its own, with the same key wherever it is shared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from repertoire.app.clock import now, today
from repertoire.app.kernel import Repertoire
from repertoire.app.traces.contribute import Contribution, amended, confirm, draft
from repertoire.app.traces.exchange import exported, import_lines
from repertoire.app.traces.fields import TraceFields
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import Moment
from repertoire.domain.trace import ACTIVE, FAILED, SUPERSEDED, Trace

VITE = TraceFields("vite build is killed", "The build dies with exit code 137 in CI.", "Raise the memory limit.")
MAY = f"{today() + timedelta(days=200)}"


@pytest.fixture
def repertoire(tmp_path: Path) -> Iterator[Repertoire]:
    with open_repertoire(tmp_path, environment={}) as opened:
        yield opened


def drafted(repertoire: Repertoire, told: TraceFields) -> Contribution:
    return draft(repertoire.store, told, moment=Moment(now(), "s", "/srv/acme"))


def keep(repertoire: Repertoire, told: TraceFields) -> Trace:
    return confirm(repertoire.store, drafted(repertoire, told).token, now=now()).trace


def amend(repertoire: Repertoire, key: str, **changes: object) -> Trace:
    return keep(repertoire, amended(repertoire.store, key, changes))


@pytest.mark.parametrize(("part", "value"), [("outcome", FAILED), ("review_after", MAY), ("watch", "until vite >= 7")])
def test_a_change_of_the_outcome_the_day_of_review_or_the_watch_alone_amends(
    repertoire: Repertoire, part: str, value: str
) -> None:
    first = keep(repertoire, VITE)
    second = amend(repertoire, first.key, **{part: value})
    assert (getattr(second, part), second.version, second.supersedes) == (value, 2, first.key)
    third = amend(repertoire, second.key, **{part: getattr(first, part)})
    assert (getattr(third, part), third.version, third.supersedes) == (getattr(first, part), 3, second.key)
    states = {trace.key: trace.status for trace in repertoire.store.traces.all()}
    assert states == {first.key: SUPERSEDED, second.key: SUPERSEDED, third.key: ACTIVE}


def test_an_amendment_that_changes_nothing_is_known_and_so_is_one_that_was_kept(repertoire: Repertoire) -> None:
    first = keep(repertoire, VITE)
    same = drafted(repertoire, amended(repertoire.store, first.key, {"outcome": first.outcome}))
    assert (same.known, same.trace) == (True, first)
    failed = amended(repertoire.store, first.key, {"outcome": FAILED})
    second = keep(repertoire, failed)
    again = drafted(repertoire, failed)
    assert (again.known, again.trace) == (True, second)


def test_an_amendment_in_the_same_words_has_the_same_key_where_it_is_imported(
    repertoire: Repertoire, tmp_path: Path
) -> None:
    first = keep(repertoire, replace(VITE, author="ann"))
    second = amend(repertoire, first.key, outcome=FAILED, watch="  until vite >= 7, see /home/jane/notes ")
    (tmp_path / "other").mkdir()
    with open_repertoire(tmp_path / "other", environment={}) as other:
        lines = list(exported(repertoire.store))
        assert import_lines(other.store, lines, moment=Moment(now(), "", "")).added == 2
        assert import_lines(other.store, lines[::-1], moment=Moment(now(), "", "")).known == 2
        states = {trace.key: trace.status for trace in other.store.traces.all()}
        assert states == {first.key: SUPERSEDED, second.key: ACTIVE}
