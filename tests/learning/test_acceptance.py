"""The components that a request accepts and refuses: passed over, failed, and the newest counting most."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.event import BAD, OK
from repertoire.domain.experience import Experience
from repertoire.learning.acceptance import experiences
from repertoire.learning.outcomes import Trial
from repertoire.learning.usage import Decay

NOW, BEFORE = "2026-04-02T00:00:00Z", "2026-01-02T00:00:00Z"  # ninety days apart
CLOCK = Decay(NOW, 90.0)


def offered(node: str, rank: int, session: str = "s1", *, at: str = NOW) -> Trial:
    return Trial(node, "/p", session, "r", offered_at=at, rank=rank)


def taken(trial: Trial, outcome: str = OK) -> Trial:
    return replace(trial, selected_at=trial.offered_at, outcome=outcome)


def told(*trials: Trial) -> dict[str, Experience]:
    return dict(experiences(trials, CLOCK.weight).get("r", {}))


def test_what_stood_above_a_selection_was_refused_as_far_as_it_was_looked_at_and_what_stood_below_was_not() -> None:
    found = told(offered("first", 1), offered("second", 2), taken(offered("third", 3)), offered("fourth", 4))
    assert found == {
        "first": Experience(0, 0.0, 1.0),
        "second": Experience(0, 0.0, 0.5),
        "third": Experience(1, 1.0, 0.0),
    }


def test_where_something_else_was_selected_all_that_was_offered_was_refused() -> None:
    unaided = Trial("own", "/p", "s1", "r", selected_at=NOW)
    assert told(offered("first", 1), offered("second", 2), unaided)["second"] == Experience(0, 0.0, 0.5)


def test_a_request_for_which_nothing_was_selected_tells_nothing() -> None:
    assert told(offered("first", 1), offered("second", 2)) == {}


def test_what_was_selected_and_failed_was_refused() -> None:
    assert told(taken(offered("first", 1), BAD)) == {"first": Experience(1, 0.0, 1.0)}


def test_each_session_tells_for_itself() -> None:
    found = told(offered("first", 1), taken(offered("second", 2)), taken(offered("first", 1, "s2")))
    assert found["first"] == Experience(1, 1.0, 0.5)


def test_ten_selections_are_outweighed_by_a_few_that_say_otherwise() -> None:
    old = [taken(offered("old", 1, f"s{number}")) for number in range(10)]
    new = [t for n in range(4) for t in (offered("old", 1, f"t{n}"), taken(offered("new", 2, f"t{n}")))]
    found = told(*old, *new)
    assert found["old"].selected == 10
    assert found["old"].accepted == pytest.approx(10 / 16)
    assert found["new"].accepted == 4.0


def test_what_happened_half_a_life_ago_counts_half() -> None:
    assert told(taken(offered("a", 1, at=BEFORE)))["a"].accepted == pytest.approx(0.5)


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(("", OK, BAD))), max_size=30))
def test_no_more_is_accepted_or_refused_than_happened(rows: list[tuple[int, str]]) -> None:
    trials = []
    for number, (rank, outcome) in enumerate(rows):
        trial = offered("a", rank, f"s{number}")
        trials.append(taken(trial, outcome) if outcome else trial)
        trials.append(taken(offered("b", 5, f"s{number}")))
    one = told(*trials).get("a", Experience())
    assert one.selected == sum(bool(outcome) for _, outcome in rows)
    assert 0.0 <= one.accepted <= sum(outcome == OK for _, outcome in rows)
    assert 0.0 <= one.refused <= sum(outcome != OK for _, outcome in rows)
