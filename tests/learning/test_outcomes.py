"""Trials folded from the log: each offer, its selection and its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain import event as kinds
from repertoire.domain.event import BAD, OK, UNKNOWN
from repertoire.learning.outcomes import Trial, together, trials
from repertoire.learning.signals import corrects, signal_of_command

AT = "2026-01-02T03:04:05Z"


@dataclass(frozen=True)
class Happening:
    kind: str
    node: str = ""
    request: str = "r1"
    session: str = "s1"
    data: Mapping[str, Any] = field(default_factory=dict)
    at: str = AT
    project: str = "/project"
    id: int = 0


ASK, SECOND = Happening(kinds.ASKED), Happening(kinds.ASKED, request="r2")
OFFER = Happening(kinds.OFFERED, "a", data={"rank": 2}, id=1)
USE = Happening(kinds.SELECTED, "a")
FAIL = Happening(kinds.FAILED, "a")
CHECK, UNDO, CORRECT = (Happening(kind) for kind in (kinds.CHECKED, kinds.UNDONE, kinds.CORRECTED))


def say(outcome: str) -> Happening:
    return Happening(kinds.OUTCOME, "a", data={"outcome": outcome})


def one(*events: Happening) -> Trial:
    [trial] = trials(events)
    return trial


def test_an_offer_that_nobody_takes_is_not_selected() -> None:
    trial = one(ASK, OFFER)
    assert (trial.offered_at, trial.rank, trial.selected_at, trial.outcome) == (AT, 2, "", UNKNOWN)


def test_use_after_an_offer_selects_it_and_tells_nothing_of_the_outcome() -> None:
    trial = one(ASK, OFFER, SECOND, Happening(kinds.SELECTED, "a", "r2"))
    assert (trial.rank, trial.request, trial.how, trial.outcome) == (2, "r2", "used", UNKNOWN)


def test_what_is_installed_and_then_used_for_one_request_is_selected_once_and_by_the_use() -> None:
    installed = Happening(kinds.SELECTED, "a", session="", data={"how": "installed", "offer": 1})
    trial = one(ASK, OFFER, installed, USE)
    assert (trial.how, trial.rank, trial.request) == ("used", 2, "r1")
    assert one(ASK, OFFER, installed, USE, Happening(kinds.TAKEN_BACK, "a", data={"installed": AT})).selected_at


def test_an_installation_that_is_noticed_after_a_use_leaves_the_use_as_it_is() -> None:
    noticed = Happening(kinds.SELECTED, "a", session="", data={"how": "installed", "offer": 1})
    trial = one(ASK, OFFER, USE, CORRECT, noticed)
    assert (trial.how, trial.request, trial.outcome) == ("used", "r1", BAD)


def test_what_is_installed_twice_is_selected_until_the_undo_of_the_second_alone() -> None:
    first = Happening(kinds.SELECTED, "a", session="", data={"how": "installed", "offer": 1})
    later = "2026-01-03T03:04:05Z"
    undone = Happening(kinds.TAKEN_BACK, "a", data={"installed": later})
    found = trials([OFFER, first, replace(first, at=later), undone])
    assert [(trial.at, trial.used) for trial in found if trial.selected_at] == [(AT, True)]


def test_of_a_question_that_is_asked_again_the_newest_answer_alone_belongs_to_the_request() -> None:
    sets = [Happening(kinds.OFFERED, node, data={"rank": 1, "where": "set"}, id=n) for n, node in enumerate("aba", 1)]
    found = trials([*sets, Happening(kinds.SELECTED, "a", data={"how": "installed", "offer": 3}, session="")])
    assert [(trial.node, trial.request, bool(trial.selected_at)) for trial in found] == [
        ("a", "", False),
        ("b", "", False),
        ("a", "r1", True),
    ]


def test_what_was_installed_after_its_offer_is_selected() -> None:
    installed = Happening(kinds.SELECTED, "a", session="", data={"how": "installed", "offer": 1})
    assert one(ASK, OFFER, installed).how == "installed"


def test_an_installation_that_was_undone_leaves_an_offer_that_nobody_took() -> None:
    installed = Happening(kinds.SELECTED, "a", session="", data={"how": "installed", "offer": 1})
    back = Happening(kinds.TAKEN_BACK, "a", session="", data={"installed": AT})
    assert not one(ASK, OFFER, installed, back).selected_at
    alone = replace(installed, data={"how": "installed"})
    assert trials([alone, back]) == []
    assert [trial.used for trial in trials([alone, back, USE])] == [True]


def test_a_set_that_was_asked_for_is_credited_to_the_projects_next_use_for_a_day() -> None:
    offer = Happening(kinds.OFFERED, "a", "", "", {"rank": 1})
    assert one(offer, USE).rank == 1
    late = Happening(kinds.SELECTED, "a", at="2026-01-04T03:04:05Z")
    assert len(trials([offer, late])) == 2
    assert len(trials([offer, replace(USE, project="/elsewhere")])) == 2


def test_what_the_next_request_uses_again_is_selected_once_more() -> None:
    found = trials([ASK, OFFER, USE, SECOND, replace(USE, request="r2")])
    assert [(trial.request, trial.rank, trial.used) for trial in found] == [("r1", 2, True), ("r2", 0, True)]


@pytest.mark.parametrize(
    ("session", "project", "meant"), [("s1", "/project", 0), ("s3", "/project", 1), ("s3", "/elsewhere", 2)]
)
def test_feedback_is_of_the_use_in_its_session_else_in_its_project_else_of_the_last(
    session: str, project: str, meant: int
) -> None:
    uses = [USE, replace(USE, session="s2"), replace(USE, session="s4", project="/another")]
    found = trials([*uses, replace(say(OK), session=session, project=project)])
    assert [trial.outcome for trial in found] == [OK if place == meant else UNKNOWN for place in range(3)]


@pytest.mark.parametrize(
    ("after", "outcome"),
    [
        ((USE, CHECK), OK),
        ((USE, UNDO), BAD),
        ((USE, SECOND, UNDO), BAD),
        ((USE, CORRECT, SECOND), BAD),
        ((USE, SECOND, CHECK), UNKNOWN),
        ((FAIL,), BAD),
        ((FAIL, USE), UNKNOWN),
        ((FAIL, USE, CHECK), OK),
        ((FAIL, UNDO, USE), BAD),
        ((USE, UNDO, CHECK), BAD),
        ((USE, UNDO, say(OK)), OK),
        ((USE, say(OK), FAIL, UNDO), OK),
        ((USE, say(OK), say(BAD)), BAD),
        ((say(OK),), OK),
    ],
)
def test_the_outcome_follows_the_definitions(after: tuple[Happening, ...], outcome: str) -> None:
    assert one(ASK, *after).outcome == outcome


def test_what_comes_of_a_turn_without_a_request_says_nothing_of_the_turns_before() -> None:
    first, second, again = (Happening(kinds.SELECTED, node, "", data={"begins": True}) for node in "aba")
    beside = Happening(kinds.SELECTED, "c", "")
    found = trials([ASK, USE, first, second, beside, CORRECT, again, CHECK])
    assert [(trial.node, trial.outcome) for trial in found] == [
        *(("a", UNKNOWN), ("a", UNKNOWN), ("b", BAD), ("c", BAD)),
        ("a", OK),
    ]


def test_what_one_request_selected_is_together() -> None:
    passed_over = replace(OFFER, node="d")
    log = [ASK, passed_over, USE, Happening(kinds.SELECTED, "b"), SECOND, Happening(kinds.SELECTED, "c", "r2")]
    assert [[trial.node for trial in group] for group in together(trials(log))] == [["a", "b"]]


EVENTS = st.builds(
    Happening,
    st.sampled_from((ASK, OFFER, USE, FAIL, CHECK, UNDO, CORRECT, say(OK))).map(lambda event: event.kind),
    st.sampled_from(("", "a", "b")),
    st.sampled_from(("r1", "r2")),
    st.sampled_from(("", "s1", "s2")),
)


@given(st.lists(EVENTS, max_size=30))
def test_every_trial_was_offered_or_selected_and_no_offer_is_lost(events: list[Happening]) -> None:
    found = trials(events)
    assert all(trial.offered_at or trial.selected_at for trial in found)
    offered = sum(event.kind == kinds.OFFERED and bool(event.node) for event in events)
    assert sum(bool(trial.offered_at) for trial in found) == offered
    assert found == trials(events)


@pytest.mark.parametrize(
    ("command", "signal"),
    [
        ("uv run pytest -q tests", kinds.CHECKED),
        ("cd web && npm run test", kinds.CHECKED),
        ("CI=1 cargo clippy", kinds.CHECKED),
        ("pytest | tail -3", ""),
        ("pytest || true", ""),
        ("echo pytest", ""),
        ("git checkout -- src/a.py", kinds.UNDONE),
        ("git restore src", kinds.UNDONE),
        ("git restore --staged src", ""),
        ("git checkout main", ""),
        ("git reset --hard HEAD~1", kinds.UNDONE),
        ("git commit -m 'revert the test'", ""),
    ],
)
def test_a_command_that_succeeded_tells_of_checks_and_of_edits_undone(command: str, signal: str) -> None:
    assert signal_of_command(command) == signal


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("No, use the other table", True),
        ("That's wrong: the total is off", True),
        ("please undo that", True),
        ("it still doesn't work", True),
        ("No worries, go on", False),
        ("now add a test", False),
        ("explain why no rows come back", False),
    ],
)
def test_a_prompt_that_begins_by_saying_so_corrects_what_was_done(prompt: str, told: bool) -> None:
    assert corrects(prompt) is told
