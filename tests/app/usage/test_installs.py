"""Installations are learned from, for what was asked: what was named, not what came along, not what was undone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repertoire.app.clock import now
from repertoire.app.person.feedback import give_feedback
from repertoire.app.session.hook_events import Moment, recommended
from repertoire.app.usage.installs import note_installs
from repertoire.app.usage.lessons import learn, lesson, open_request
from repertoire.app.usage.usage_cache import known_trials, usage
from repertoire.domain.answer import Hit, Item, Recommendation
from repertoire.domain.component import SourceInfo
from repertoire.domain.event import ASKED, OFFERED, Event
from repertoire.installing.journal import DONE, UNDONE, Journal, JournalEntry
from repertoire.settings import Settings
from repertoire.store.database import Store
from sample_home import SOURCE, component, fill, record_of

WEAVE, PLAIT, LOOM = (f"{SOURCE.key}:skills/{name}.md" for name in ("weave", "plait", "loom"))


@pytest.fixture
def store(tmp_path):
    names = {"weave": "kit", "plait": "kit", "loom": ""}
    made = [component("skill", name, f"Shows how to {name} willow.") for name in names]
    with Store.open(tmp_path / "a.db") as opened:
        there = [replace(one, plugin=names[one.name], installed=True) for one in made]
        fill(opened, *there, component("skill", "frame", "Shows how to frame willow."))
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
    assert note_installs(store, Settings()) == 2
    assert selected(store) == {WEAVE, LOOM}, "who installed the loom, nobody knows"
    assert all(trial.offered_at for trial in known_trials(store))
    assert note_installs(store, Settings()) == 0


def test_what_was_named_is_selected_though_nothing_offered_it(store, install):
    other = f"{SOURCE.key}:skills/pdf-forms.md"
    install(other)
    note_installs(store, Settings())
    assert other in selected(store)


def test_an_undone_installation_selects_nothing(store, install):
    undo = install(WEAVE)
    note_installs(store, Settings())
    undo()
    store.sources.remove(SOURCE.key)
    assert note_installs(store, Settings()) == 0
    assert selected(store) == {LOOM}
    assert usage(store, half_life=90.0).records[WEAVE].taken == 0
    assert note_installs(store, Settings()) == 0


def test_what_a_person_said_of_it_outlives_the_installation(store, install):
    undo = install(WEAVE)
    note_installs(store, Settings())
    give_feedback(store, WEAVE, "failed", moment=Moment(now(), "", "/p"))
    undo()
    note_installs(store, Settings())
    record = usage(store, half_life=90.0).records[WEAVE]
    assert (record.selected, record.failed, record.refused) == (0, 1, 1.0)


def test_feedback_after_an_undo_takes_the_installation_for_no_use(store, install):
    undo = install(WEAVE)
    note_installs(store, Settings())
    undo()
    note_installs(store, Settings())
    assert not give_feedback(store, "weave", "failed", moment=Moment(now(), "", "/p")).used


def test_an_installation_that_was_stopped_half_way_selects_nothing(store, install):
    install(f"{SOURCE.key}:skills/pdf-forms.md", state="begun")
    note_installs(store, Settings())
    assert f"{SOURCE.key}:skills/pdf-forms.md" not in selected(store)


ASKED_FOR = "weave a basket out of willow"
PDF, FRAME = (f"{SOURCE.key}:skills/{name}.md" for name in ("pdf-forms", "frame"))  # neither is installed


@pytest.fixture
def recommend(store):
    """Records the offers of a set of these components, as the answer to a task; some are installed, some beside it."""

    def record(*held, beside=(), there=(), kept=True):
        def hit(node):
            return Hit(replace(store.graph.by_key(node).component, installed=node in there), 1.0)

        items = tuple(Item(hit(node), "weaving", 0) for node in held)
        found = Recommendation(items, near=tuple(map(hit, beside)))
        request = open_request(ASKED_FOR, Settings()) if kept else None
        store.events.append(recommended(found, Moment(now(), "", "/p"), request))

    return record


def requests(store):
    """Return the texts of the past requests, each with the number of its selections."""
    texts = {node: text for node, _, text in store.requests.pending("no model", limit=9)}
    return {texts[one.node_id]: one.selected for one in store.requests.uses()}


def experienced(store):
    """Return for each component whether a request accepted it, and whether one refused it."""
    [of_request] = usage(store, half_life=90.0).experiences.values()
    return {node: (one.accepted > 0, one.refused > 0) for node, one in of_request.items()}


def test_what_is_installed_out_of_a_set_is_learned_for_the_task_until_the_installation_is_undone(
    store, install, recommend
):
    recommend(FRAME, PDF)
    undo = install(PDF)
    note_installs(store, Settings())
    assert requests(store) == {ASKED_FOR: 1}
    assert experienced(store) == {PDF: (True, False), FRAME: (False, True)}, (
        "who takes the second passes over the first"
    )
    undo()
    note_installs(store, Settings())
    assert requests(store) == {}


def test_another_use_for_the_same_task_outlives_the_undo(store, install, recommend):
    recommend(PDF)
    undo = install(PDF)
    note_installs(store, Settings())
    asked = open_request(ASKED_FOR, Settings())
    learn(store, lesson(asked, PDF, Moment(now(), "s", "/p"), None), Settings())
    assert requests(store) == {ASKED_FOR: 2}
    undo()
    note_installs(store, Settings())
    assert requests(store) == {ASKED_FOR: 1}


def test_what_was_shown_beside_the_set_is_learned_for_the_task_too(store, install, recommend):
    recommend(FRAME, beside=(WEAVE, PDF))
    install(PDF)
    note_installs(store, Settings())
    assert requests(store) == {ASKED_FOR: 1}
    assert experienced(store) == {PDF: (True, False), FRAME: (False, True)}


def test_nobody_passes_over_what_is_there_already(store, install, recommend):
    recommend(PLAIT, WEAVE, there=(PLAIT,))
    install(WEAVE)
    note_installs(store, Settings())
    assert experienced(store) == {WEAVE: (True, False)}


def test_the_task_is_learned_only_where_its_text_may_be_kept(store, install, recommend):
    recommend(WEAVE, kept=False)
    install(WEAVE)
    note_installs(store, Settings(store_prompts="vectors"))
    assert WEAVE in selected(store)
    assert requests(store) == {}
    assert not any("prompt" in event.data for event in store.events.recent())


def test_what_a_hint_named_is_learned_for_its_prompt(store, install):
    asked = open_request(ASKED_FOR, Settings())
    data = {"name": "weave", "type": "skill", "rank": 1, "installed": False, "where": "prompt"}
    store.events.append([Event(now(), ASKED, "s", "/p", asked.key, data={"prompt": asked.text})])
    store.events.append([Event(now(), OFFERED, "s", "/p", asked.key, WEAVE, data)])
    install(WEAVE)
    note_installs(store, Settings())
    assert requests(store) == {ASKED_FOR: 1}


def test_who_asks_again_and_then_installs_passes_over_nothing(store, install, recommend):
    for _ in range(3):
        recommend(FRAME, PDF)
    install(FRAME, PDF)
    note_installs(store, Settings())
    assert experienced(store) == {FRAME: (True, False), PDF: (True, False)}


def test_a_component_of_another_project_is_no_installation_of_its_namesake(store):
    data = {"name": "pdf-forms", "type": "skill", "rank": 1, "installed": False}
    store.events.append([Event(now(), OFFERED, "", "/p", "", PDF, data)])
    own = component("skill", "pdf-forms", "Fills the forms of this project.", installed=True)
    own = replace(own, id="project:/other:skills/pdf-forms.md")
    there = SourceInfo("project:/other", "project", "/other")
    store.sources.write(there, [record_of(own)], [], derived=[], now=now())
    note_installs(store, Settings())
    assert PDF not in selected(store)


@pytest.mark.parametrize("forget", ["forget_requests", "forget_all", "forget_project"])
def test_an_installation_that_was_forgotten_does_not_come_back(store, install, forget):
    install(PDF)
    note_installs(store, Settings())
    getattr(store.privacy, forget)(*(["/p"] if forget == "forget_project" else []))
    note_installs(store, Settings())
    assert not store.events.size()


def test_an_undo_takes_back_nothing_that_the_installation_did_not_teach(store, install, recommend):
    recommend(PDF, kept=False)
    undo = install(PDF)
    note_installs(store, Settings())
    asked = open_request(ASKED_FOR, Settings())
    learn(store, lesson(asked, PDF, Moment(now(), "s", "/p"), None), Settings())
    undo()
    note_installs(store, Settings())
    assert requests(store) == {ASKED_FOR: 1}
