"""A compacted log stays bounded, and teaches the same usage as the whole log did."""

from __future__ import annotations

import pytest

from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.usage.compact_log import compact_when_due
from repertoire.app.usage.usage_cache import usage
from repertoire.domain.event import ASKED, COUNTED, FAILED, GAP, OFFERED, SELECTED, Event
from repertoire.learning.log_compaction import LogBounds
from repertoire.retrieval.pipeline import Pipeline
from sample_home import SOURCE

PDF, SHIP = f"{SOURCE.key}:skills/pdf-forms.md", f"{SOURCE.key}:commands/ship.md"
ROOM = LogBounds(newest=30, selected=30)


def sessions(store, number, *, first=0, chosen=(), failed=()):
    """Record sessions of one prompt each, a day apart: both are offered, some are selected."""
    for session in range(first, first + number):
        at, name, key = f"2026-01-{1 + session % 28:02}T00:00:00Z", f"s{session}", f"request:{session}"
        log = [Event(at, ASKED, name, "/p", key), Event(at, OFFERED, name, "/p", key, PDF, {"rank": 1})]
        log.append(Event(at, OFFERED, name, "/p", key, SHIP, {"rank": 2}))
        log += [Event(at, SELECTED, name, "/p", key, PDF) for _ in range(session in chosen)]
        log += [Event(at, FAILED, name, "/p", key, PDF) for _ in range(session in failed)]
        store.events.append(log)


def told(store):
    explained = explain(store, Pipeline(store.graph, store.vectors, embedder=None), ExplainRequest(PDF)).history
    records = usage(store, half_life=90.0).records.values()
    remembered = [(one.node, one.recommended, one.selected, one.failed, round(one.looks, 9)) for one in records]
    return sorted(remembered), explained, store.events.last(OFFERED), store.events.last(SELECTED)


def test_what_is_told_of_use_stays_and_the_log_shrinks(store):
    sessions(store, 50, chosen={3, 20, 45}, failed={4, 44})
    store.events.append([Event("2026-01-01T00:00:00Z", GAP, data={"need": "a"})])
    before, revision = told(store), store.graph.revision()
    assert compact_when_due(store, bounds=ROOM, every=1) > 0
    assert told(store) == before
    kinds = [event.kind for event in store.events.since(0, limit=-1)]
    assert len(kinds) < 30 + 30 + kinds.count(COUNTED) + 5
    assert GAP in kinds
    assert store.graph.revision() == revision  # what answers are made from did not move


def test_the_log_is_looked_at_now_and_then_and_not_at_each_prompt(store):
    sessions(store, 20)
    assert compact_when_due(store, bounds=ROOM, every=100) == 0
    sessions(store, 20, first=20)
    assert compact_when_due(store, bounds=ROOM, every=100) > 0
    assert compact_when_due(store, bounds=LogBounds(newest=1), every=100) == 0


def test_what_was_counted_is_forgotten_with_the_project_and_with_the_log(store):
    sessions(store, 40)
    compact_when_due(store, bounds=ROOM, every=1)
    assert store.events.count(COUNTED)
    store.privacy.forget_project("/p")
    assert store.events.since(0, limit=-1) == []


def test_a_use_whose_request_was_dropped_keeps_the_age_of_the_request(store):
    sessions(store, 50, chosen=range(50))
    for session in range(50):
        store.requests.select(f"request:{session}", PDF, now="2026-01-01T00:00:00Z")
    before = usage(store, half_life=90.0).experiences
    assert compact_when_due(store, bounds=ROOM, every=1) > 0
    after = usage(store, half_life=90.0).experiences
    assert after.keys() == before.keys()
    for request, own in before.items():
        assert (after[request][PDF].selected, own[PDF].selected) == (1, 1)
        assert after[request][PDF].accepted == pytest.approx(own[PDF].accepted, rel=0.25)  # a day of January or another


def test_an_unfinished_compaction_leaves_the_log_as_it_was(store, monkeypatch):
    sessions(store, 40)
    before = store.events.since(0, limit=-1)
    monkeypatch.setattr(type(store.events), "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compact_when_due(store, bounds=ROOM, every=1)
    assert store.events.since(0, limit=-1) == before
    with pytest.raises(Exception, match="append-only"):
        store._connection.execute("DELETE FROM event")


def interrupted(*_):
    raise KeyboardInterrupt
