"""`stats` reports followed hints, mutes and component usage, as text and as JSON."""

from __future__ import annotations

from dataclasses import asdict

from repertoire.app.clock import now
from repertoire.app.person.feedback import give_feedback
from repertoire.app.session.hook_events import Moment
from repertoire.app.usage.stats import stats
from repertoire.domain.event import HELD, OFFERED, SELECTED, SHOWN, TAKEN, Event
from repertoire.learning.arbiter import RARELY_TAKEN
from repertoire.rendering.usage import stats_text
from repertoire.settings import Settings
from sample_home import SOURCE

FORMS, SHIP = (f"{SOURCE.key}:{path}.md" for path in ("skills/pdf-forms", "commands/ship"))


def told(store):
    found = stats(store, Settings(), project="/here")
    return asdict(found), stats_text(found)


def test_nothing_is_told_of_nothing(store):
    assert told(store)[1].startswith("No component was offered or used yet")


def test_hints_are_told_by_kind_with_what_is_asked_of_the_next(store):
    skill, command = ({"type": kind, "rank": 1, "where": "prompt"} for kind in ("skill", "command"))
    store.events.append([Event(now(), OFFERED, f"s{n}", "/here", f"r{n}", FORMS, skill) for n in range(120)])
    store.events.append([Event(now(), OFFERED, f"c{n}", "/here", f"q{n}", SHIP, command) for n in range(4)])
    store.events.append([Event(now(), SELECTED, "c0", "/here", "q0", SHIP)])
    store.events.append([Event(now(), HELD, "s", "/here", "r", FORMS, {**skill, "why": RARELY_TAKEN})] * 3)
    data, text = told(store)
    assert (
        "  prompt, skill: offered 120, followed 0 (0-3 %); needs 8.0 times the usual odds of fitting, 3 held back"
        in text
    )
    assert "  prompt, command: offered 4, followed 1 (5-70 %)\n" in text
    assert [(one["rate"]["type"], one["held_back"]) for one in data["hints"]] == [("command", 0), ("skill", 3)]


def test_hints_of_traces_are_told_beside_those_of_components(store):
    at = {"where": "failure", "type": "trace"}
    store.events.append([Event(now(), SHOWN, f"s{n}", "/here", node="trace:1", data=at) for n in range(24)])
    store.events.append([Event(now(), TAKEN, "s0", "/here", node="trace:1")])
    assert "  failure, trace: offered 24, followed 1 (" in told(store)[1]
    store.privacy.forget_requests()
    assert told(store)[0]["hints"] == ()


def test_selections_are_told_apart_by_use_and_by_installing_and_the_latter_only_where_there_are_any(store):
    store.events.append([Event(now(), SELECTED, "s", "/here", "r", SHIP)])
    assert "\nSelected 1 time. Outcomes: " in told(store)[1]
    store.events.append([Event(now(), SELECTED, "", "/here", "", FORMS, {"how": "installed"})])
    assert "\nSelected 2 times (1 of them by installing it). Outcomes: " in told(store)[1]


def test_how_much_of_what_is_offered_is_new_is_told(store):
    store.events.append(
        [Event(now(), OFFERED, f"s{n}", "/here", "", node, {}) for n, node in enumerate((FORMS, SHIP, SHIP))]
    )
    store.requests.record("request:1", now=now())
    data, text = told(store)
    assert data["explored"] == {"offers": 3, "first": 2}
    assert "Of the newest 3 offers, 2 were the first of their component." in text
    assert "1 past requests are kept, 5000 at most." in text


def test_what_is_not_wanted_is_told_with_where(store):
    store.events.append([Event(now(), SELECTED, "s", "/here", "r", SHIP)])
    store.preferences.mute(SOURCE.key, "source", now=now())
    give_feedback(store, FORMS, "dismissed", moment=Moment(now(), "s", "/here"))
    data, text = told(store)
    day = now()[:10]
    assert f"Muted or dismissed:\n  {SOURCE.key} (source), anywhere: muted {day}\n" in text
    assert f"  {FORMS} (component), in /here alone: dismissed {day}" in text
    assert [one["how"] for one in data["silenced"]] == ["muted", "dismissed"]
