"""Use suggests edges: strong evidence is applied, weak evidence waits for a person, and both go with the log."""

from __future__ import annotations

import pytest

from repertoire.app.clock import now
from repertoire.app.person.forget import REQUESTS, forget
from repertoire.app.usage.review import (
    ACCEPTED,
    APPLIED,
    LABEL,
    REJECTED,
    UNDECIDED,
    WAITING,
    decide,
    renew_learned,
    review,
)
from repertoire.domain.component import CO_OCCURS_WITH, CONFLICTS_WITH
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.event import ASKED, FAILED, SELECTED, Event
from sample_home import SOURCE

A, B = f"{SOURCE.key}:skills/changelog.md", f"{SOURCE.key}:skills/pdf-forms.md"


def used(store, *nodes, times, kind=SELECTED):
    start = store.events.count(ASKED)
    for number in range(start, start + times):
        where = (f"s{number}", "/p", f"r{number}")
        store.events.append([Event(now(), ASKED, *where), *(Event(now(), kind, *where, node) for node in nodes)])


def learned(store, relation):
    return [edge for edge in store.graph.edges_of(relation) if edge[-1] == LABEL]


def test_what_is_selected_together_often_enough_goes_together_by_itself(store):
    used(store, A, B, times=8)
    assert renew_learned(store) == 1
    [edge] = learned(store, CO_OCCURS_WITH)
    assert edge[4] == "use: selected together for 8 of 8 requests with either, in 8 sessions"
    assert 0 < edge[3] <= 0.5


def test_weak_evidence_waits_until_a_person_accepts_it_and_what_was_accepted_can_be_revoked(store):
    used(store, A, B, times=3)
    [waiting] = review(store)
    assert waiting.state == WAITING
    assert renew_learned(store) == 0
    assert decide(store, [waiting.id], ACCEPTED)[0].state == APPLIED
    assert len(learned(store, CO_OCCURS_WITH)) == 1
    assert decide(store, [waiting.id], REJECTED)[0].state == REJECTED
    assert learned(store, CO_OCCURS_WITH) == []
    assert decide(store, [waiting.id], UNDECIDED)[0].state == WAITING


def test_what_was_rejected_stays_away_however_strong_it_grows(store):
    used(store, A, B, times=8)
    renew_learned(store)
    decide(store, [review(store)[0].id], REJECTED)
    used(store, A, B, times=20)
    assert renew_learned(store) == 0


def test_what_fails_together_and_works_apart_is_in_conflict(store):
    used(store, A, B, times=6, kind=FAILED)
    used(store, A, times=12)
    used(store, B, times=12)
    renew_learned(store)
    assert len(learned(store, CONFLICTS_WITH)) == 1
    assert learned(store, CO_OCCURS_WITH) == []


def test_what_fails_apart_as_well_is_broken_and_not_in_conflict(store):
    used(store, A, B, times=6, kind=FAILED)
    used(store, A, times=12, kind=FAILED)
    used(store, B, times=12, kind=FAILED)
    assert review(store) == ()


def test_one_session_that_repeats_itself_is_no_evidence(store):
    for number in range(9):
        where = ("s", "/p", f"r{number}")
        store.events.append([Event(now(), SELECTED, *where, node) for node in (A, B)])
    assert review(store) == ()


def test_forgetting_the_log_forgets_the_edges_and_one_project_only_what_it_showed(store):
    used(store, A, B, times=8)
    renew_learned(store)
    forget(store, "project", project="/elsewhere")
    assert len(learned(store, CO_OCCURS_WITH)) == 1
    forget(store, REQUESTS)
    assert learned(store, CO_OCCURS_WITH) == []
    assert review(store) == ()


def test_an_unknown_id_is_told(store):
    with pytest.raises(InvalidRequest, match="feedc0de"):
        decide(store, ["feedc0de"], ACCEPTED)
