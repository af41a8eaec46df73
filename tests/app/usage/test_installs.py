"""Installations are learned from: what was named, not what came along, and not what was undone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repertoire.app.clock import now
from repertoire.app.person.feedback import give_feedback
from repertoire.app.session.hook_events import Moment
from repertoire.app.usage.installs import note_installs
from repertoire.app.usage.usage_cache import known_trials, usage
from repertoire.domain.event import OFFERED, Event
from repertoire.installing.journal import DONE, UNDONE, Journal, JournalEntry
from repertoire.store.database import Store
from sample_home import SOURCE, component, fill

WEAVE, PLAIT, LOOM = (f"{SOURCE.key}:skills/{name}.md" for name in ("weave", "plait", "loom"))


@pytest.fixture
def store(tmp_path):
    names = {"weave": "kit", "plait": "kit", "loom": ""}
    made = [component("skill", name, f"Shows how to {name} willow.") for name in names]
    with Store.open(tmp_path / "a.db") as opened:
        fill(opened, *(replace(one, plugin=names[one.name], installed=True) for one in made))
        for node in (WEAVE, PLAIT, LOOM):
            data = {"name": node[len(SOURCE.key) + 8 : -3], "type": "skill", "rank": 1, "installed": False}
            opened.events.append([Event(now(), OFFERED, "", "/p", "", node, data)])
        yield opened


@pytest.fixture
def install(store):
    journal = Journal(store.path.parent)

    def write(*ids, state=DONE):
        entry = journal.begin(JournalEntry("", now(), ids, "/p"), {})
        journal.keep(replace(entry, state=state))
        return lambda: journal.keep(replace(entry, state=UNDONE))

    return write


def selected(store):
    return {trial.node for trial in known_trials(store) if trial.used}


def test_what_was_named_is_selected_and_what_came_along_with_it_is_not(store, install):
    install(WEAVE)
    assert note_installs(store) == 2
    assert selected(store) == {WEAVE, LOOM}, "who installed the loom, nobody knows"
    assert all(trial.offered_at for trial in known_trials(store))
    assert note_installs(store) == 0


def test_what_was_named_is_selected_though_nothing_offered_it(store, install):
    other = f"{SOURCE.key}:skills/pdf-forms.md"
    install(other)
    note_installs(store)
    assert other in selected(store)


def test_an_undone_installation_selects_nothing(store, install):
    undo = install(WEAVE)
    note_installs(store)
    undo()
    store.sources.remove(SOURCE.key)
    assert note_installs(store) == 0
    assert selected(store) == {LOOM}
    assert usage(store, half_life=90.0).records[WEAVE].taken == 0
    assert note_installs(store) == 0


def test_what_a_person_said_of_it_outlives_the_installation(store, install):
    undo = install(WEAVE)
    note_installs(store)
    give_feedback(store, WEAVE, "failed", moment=Moment(now(), "", "/p"))
    undo()
    note_installs(store)
    record = usage(store, half_life=90.0).records[WEAVE]
    assert (record.selected, record.failed, record.refused) == (0, 1, 1.0)


def test_feedback_after_an_undo_takes_the_installation_for_no_use(store, install):
    undo = install(WEAVE)
    note_installs(store)
    undo()
    note_installs(store)
    assert not give_feedback(store, "weave", "failed", moment=Moment(now(), "", "/p")).used


def test_an_installation_that_was_stopped_half_way_selects_nothing(store, install):
    install(f"{SOURCE.key}:skills/pdf-forms.md", state="begun")
    note_installs(store)
    assert f"{SOURCE.key}:skills/pdf-forms.md" not in selected(store)
