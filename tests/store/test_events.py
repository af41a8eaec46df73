"""The log, and what a person silenced or corrected."""

from __future__ import annotations

from repertoire.domain.event import ASKED, CLOSED, OFFERED, Event
from store.samples import NOW


def log(store, kind, session="s", **fields):
    store.events.append([Event(NOW, kind, session, **fields)])


def test_an_event_comes_back_as_it_was_appended(store):
    event = Event(NOW, OFFERED, "s", "/p", "request:1", "acme:a", {"why": "words", "rank": 1})
    store.events.append([event, Event(NOW, ASKED)])
    newest, oldest = store.events.recent()
    assert oldest == Event(NOW, OFFERED, "s", "/p", "request:1", "acme:a", {"why": "words", "rank": 1}, oldest.id)
    assert newest.id > oldest.id
    assert [found.kind for found in store.events.recent(kinds=(ASKED, CLOSED), limit=5)] == [ASKED]
    assert store.events.recent(session="nobody") == []
    assert [found.kind for found in store.events.since(oldest.id)] == [ASKED]
    assert (store.events.count(OFFERED), store.events.count(CLOSED)) == (1, 0)


def test_the_log_does_not_move_the_revision(store):
    log(store, ASKED)
    assert store.graph.revision() == 0


def test_a_mute_holds_until_it_is_undone(store):
    store.preferences.mute("acme:a", "component", now=NOW)
    store.preferences.mute("/p", "project", now=NOW)
    store.preferences.mute("acme:a", "component", now=NOW)
    assert store.preferences.muted() == {"/p": "project", "acme:a": "component"}
    assert store.preferences.unmute("acme:a")
    assert not store.preferences.unmute("acme:a")
    assert store.preferences.muted() == {"/p": "project"}


def test_a_mute_of_one_project_is_no_mute_elsewhere(store):
    store.preferences.mute("acme:a", "component", project="/p", how="dismissed", now=NOW)
    assert (store.preferences.muted(), store.preferences.silent(project="/q")) == ({}, frozenset())
    assert store.preferences.silent(project="/p") == {"acme:a"}
    assert [(one.target, one.project, one.how) for one in store.preferences.mutes()] == [("acme:a", "/p", "dismissed")]
    assert not store.preferences.unmute("acme:a", project="/q")
    assert store.preferences.unmute("acme:a", project="/p")


def test_a_dismissal_is_of_a_pair_in_either_order_and_a_kind_and_a_content(store):
    store.preferences.dismiss(("acme:b", "acme:a"), "twin_of", content="1:2", now=NOW)
    store.preferences.dismiss(("acme:a", "acme:b"), "twin_of", content="1:3", now=NOW)
    assert store.preferences.dismissed() == {("acme:a", "acme:b", "twin_of"): "1:3"}
    store.preferences.list_again(("acme:b", "acme:a"), "conflicts_with")
    assert len(store.preferences.dismissed()) == 1
    store.preferences.list_again(("acme:b", "acme:a"), "twin_of")
    assert store.preferences.dismissed() == {}
    assert store.graph.revision() == 0


def test_the_last_correction_of_a_component_holds(store):
    store.preferences.correct("acme:a", ["auth"], now=NOW)
    store.preferences.correct("acme:a", ["auth", "oauth"], now=NOW)
    assert store.preferences.corrections() == {"acme:a": ("auth", "oauth")}
