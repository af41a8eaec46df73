"""Notes, tasks and procedures: saved once, changed by version, linked without circles, found by meaning."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from app.projects.small_project import read, write
from repertoire.app.clock import ago, local_today
from repertoire.app.projects import index
from repertoire.app.projects.entries import (
    THERE,
    delete_entries,
    link_entries,
    list_entries,
    move_entries,
    save_entry,
)
from repertoire.app.projects.entry_requests import (
    DeleteRequest,
    LinkRequest,
    ListQuery,
    MoveRequest,
    SaveRequest,
    save_request,
)
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.show import show_item
from repertoire.domain.errors import InvalidRequest
from repertoire.rendering.entries import listing_data, listing_text
from repertoire.retrieval import sections

SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def task(project, title, **more):
    return save_entry(project, save_request({"kind": "task", "title": title, **more}), embedder=None).entries[0]


def titles(project, **query):
    return [one.title for one in list_entries(project, ListQuery(**query)).entries]


def test_the_same_words_are_saved_once_and_a_stale_change_is_refused(project):
    first = save_entry(project, SaveRequest("note", title="Glaze is lead-free"), embedder=None)
    again = save_entry(project, SaveRequest("note", title="Glaze is  lead-free"), embedder=None)
    assert (first.what, again.what) == ("saved", "was there already")
    key = first.entries[0].key
    assert save_entry(project, SaveRequest(key=key, body="By law."), embedder=None).entries[0].version == 2
    with pytest.raises(InvalidRequest, match="at version 2, not 1"):
        save_entry(project, SaveRequest(key=key, body="No.", expected_version=1), embedder=None)
    assert show_item(project, key).body == "By law."


def test_an_entry_is_shown_for_the_beginning_of_its_id_if_no_other_begins_so(project):
    key = save_entry(project, SaveRequest("note", title="Glaze is lead-free"), embedder=None).entries[0].key
    save_entry(project, SaveRequest("note", title="The kiln cools slowly"), embedder=None)
    for beginning in (key[:9], key.partition(":")[2][:6]):
        assert show_item(project, beginning).item.key == key
    with pytest.raises(InvalidRequest, match=f"nothing has the id 'note:'; it may be .*{key}"):
        show_item(project, "note:")


def test_what_cannot_be_linked_is_not_taken_for_an_entry_alone(project):
    with pytest.raises(InvalidRequest, match="no symbol, file, section, note, task or procedure has the id 'gone"):
        save_entry(project, save_request({"kind": "note", "title": "Glaze", "about": ["gone.py"]}), embedder=None)


def test_an_entry_stays_of_its_kind_and_lies_in_no_folder(project):
    noted = save_entry(project, SaveRequest("note", title="The kiln cools slowly"), embedder=None).entries[0]
    with pytest.raises(InvalidRequest, match="is a note and stays one"):
        save_entry(project, SaveRequest("task", noted.key, "Cool the kiln"), embedder=None)
    assert project.store.entries.get(noted.key).title == "The kiln cools slowly"
    found = search_memory(project, MemoryQuery("the kiln cools slowly"), embedder=None)
    assert noted.key in {hit.item.key for hit in found.hits}
    narrowed = search_memory(project, MemoryQuery("the kiln cools slowly", below="README.md"), embedder=None)
    assert {hit.item.key for hit in narrowed.hits} == {"section:README.md#kiln", "section:README.md#cooling"}


def test_a_task_is_ready_when_all_that_blocks_it_is_done_and_no_circle_is_made(project):
    clay = task(project, "Dig clay")
    pot = task(project, "Turn a pot", depends_on=(clay.key,))
    fire = task(project, "Fire it", depends_on=(pot.key,), priority=0)
    assert titles(project, ready=True) == ["Dig clay"]
    with pytest.raises(InvalidRequest, match="circle"):
        link_entries(project, LinkRequest(clay.key, "depends_on", fire.key))
    with pytest.raises(InvalidRequest, match="itself"):
        link_entries(project, LinkRequest(clay.key, "blocks", clay.key))
    move_entries(project, MoveRequest((clay.key,), "done"))
    assert titles(project, ready=True) == ["Turn a pot"]
    assert list_entries(project, ListQuery()).waiting == {fire.key: (pot.key,)}
    assert list_entries(project, ListQuery(offset=1)).waiting == {}
    assert titles(project, kind="task")[0] == "Fire it"


def test_a_task_that_recurs_and_a_decision_that_is_taken_again_are_saved_anew(project):
    done = task(project, "Clean the kiln")
    move_entries(project, MoveRequest((done.key,), "done"))
    saved = save_entry(
        project, SaveRequest("task", title="Clean the kiln", priority=0, tags=("monthly",)), embedder=None
    )
    assert saved.remarks == ()  # it is no twin of what is done
    (again,) = saved.entries
    assert again.key != done.key
    assert (again.status, again.priority, again.tags) == ("todo", 0, ("monthly",))
    sooner = task(project, "Clean the kiln", priority=1, tags=["yard"])
    assert (sooner.key, sooner.priority, sooner.tags) == (again.key, 1, ("monthly", "yard"))
    assert save_entry(project, SaveRequest("task", title="Clean the kiln"), embedder=None).what == THERE

    first = save_entry(project, SaveRequest("note", title="We fire with gas"), embedder=None).entries[0]
    second = save_entry(
        project, SaveRequest("note", title="We fire with wood", links=(("supersedes", first.key),)), embedder=None
    ).entries[0]
    third = save_entry(
        project, SaveRequest("note", title="We fire with gas", links=(("supersedes", second.key),)), embedder=None
    )
    assert [one.key for one in third.superseded] == [second.key]
    assert titles(project, status="active") == ["We fire with gas"]


@pytest.mark.parametrize("wrong", [{"title": "x" * 201}, {"title": "x", "body": "clay " * 4_001}])
def test_what_is_too_long_is_refused_and_not_cut(project, wrong):
    with pytest.raises(InvalidRequest, match="at most"):
        save_entry(project, SaveRequest("note", **wrong), embedder=None)


def test_a_bulk_move_is_done_whole_or_not_at_all(project):
    pot = task(project, "Turn a pot")
    with pytest.raises(InvalidRequest, match="no note, task or procedure"):
        move_entries(project, MoveRequest((pot.key, "task:unknown"), "done"))
    assert list_entries(project, ListQuery(status="done")).total == 0
    delete_entries(project, DeleteRequest((pot.key,)))
    assert titles(project) == []


def test_a_note_about_a_symbol_outlives_it_and_finds_it_again(project):
    link = ("about", "kiln/clay.py")
    note = save_entry(project, SaveRequest("note", title="Weigh wet", links=(link, ("about", "weigh"))), embedder=None)
    key = note.entries[0].key
    assert show_item(project, "symbol:kiln/clay.py::weigh").related["noted in"] == (key,)
    project.store.remove(["kiln/clay.py"], now="2026-01-01T00:00:00Z")
    targets = {link.target for link in project.store.entries.links(key)}
    assert targets == {"file:kiln/clay.py", "symbol:kiln/clay.py::weigh"}
    read(project.store)
    assert show_item(project, "symbol:kiln/clay.py::weigh").related["noted in"] == (key,)


def test_no_word_of_a_deleted_note_stays_in_the_index(project):
    kept, gone = (
        save_entry(project, SaveRequest("note", title=title, body=text), embedder=None).entries[0]
        for title, text in (("Glaze", "Celadon is fired at 1280 degrees."), ("Rent", "The landlord is Zebulon."))
    )
    delete_entries(project, DeleteRequest((gone.key,)))
    with closing(sqlite3.connect(f"{project.store.path.as_uri()}?mode=ro", uri=True)) as database:
        index = b"".join(block for (block,) in database.execute("SELECT block FROM knowledge_text_data"))
    assert b"celadon" in index
    assert b"zebulon" not in index
    assert kept.key in {entry.key for entry in list_entries(project, ListQuery(kind="note")).entries}


def test_a_note_about_a_deleted_file_is_about_the_one_that_is_renamed_to_its_name(project):
    root, links = Path(project.root), (("about", "kiln/clay.py"), ("about", "weigh"))
    key = save_entry(project, SaveRequest("note", title="Weigh wet", links=links), embedder=None).entries[0].key
    write(root, {"mud.py": "def weigh(mud):\n    return 2\n"})
    (root / "kiln/clay.py").unlink()
    read(project.store)
    (root / "mud.py").rename(root / "kiln/clay.py")
    assert read(project.store).moved == 1
    assert read(project.store).read == 0
    assert show_item(project, "file:kiln/clay.py").related["noted in"] == (key,)
    assert show_item(project, "symbol:kiln/clay.py::weigh").related["noted in"] == (key,)


def test_a_newer_decision_supersedes_an_older_one(project):
    old = save_entry(project, SaveRequest("note", title="Fire with wood"), embedder=None).entries[0]
    links = (("supersedes", old.key),)
    new = save_entry(project, SaveRequest("note", title="Fire with gas", links=links), embedder=None)
    assert [one.key for one in new.superseded] == [old.key]
    assert titles(project, status="active") == ["Fire with gas"]
    assert ("supersedes", old.key) in [
        (link.relation, link.target) for link in show_item(project, new.entries[0].key).links
    ]


def test_a_title_is_changed_but_never_to_nothing(project):
    key = task(project, "Fire it").key
    with pytest.raises(InvalidRequest, match="the task has no title"):
        save_entry(project, save_request({"title": "  "}, key=key), embedder=None)
    save_entry(project, save_request({"title": " Fire it\nslowly "}, key=key), embedder=None)
    assert titles(project) == ["Fire it slowly"]


def test_a_secret_is_not_saved(project):
    said = f"the key is {SECRET}"
    note = save_entry(project, SaveRequest("note", title="Key", body=said), embedder=None).entries[0]
    assert SECRET not in show_item(project, note.key).body


def test_a_search_finds_code_documents_and_notes_by_what_they_mean(project, embedder):
    read(project.store, embedder)
    save_entry(project, SaveRequest("note", title="Pots dry for a week before they are fired"), embedder=embedder)

    def first(question, **more):
        return search_memory(project, MemoryQuery(question, **more), embedder=embedder).hits[0].item

    assert first("how long must pottery rest").kind == "note"
    assert first("heat a vessel until it becomes solid", kinds=("code",)).title == "Kiln.fire"
    assert first("avoid broken enamel", kinds=("docs",)).title == "Cooling"
    assert first("clay.py", kinds=("file",)).path == "kiln/clay.py"
    assert search_memory(project, MemoryQuery("weigh", below="kiln"), embedder=None).hits[0].item.title == "weigh"
    with pytest.raises(InvalidRequest):
        search_memory(project, MemoryQuery(" ", ("docs",)), embedder=None)


def test_by_words_alone_code_documents_and_notes_stand_beside_each_other(project):
    save_entry(project, SaveRequest("note", title="The kiln cools for two days"), embedder=None)
    found = search_memory(project, MemoryQuery("kiln cools"), embedder=None).hits
    assert {hit.item.kind for hit in found[:4]} >= {"note", "section", "class"}


def test_of_many_rows_the_headings_of_the_best_alone_decide_the_same(project, embedder, monkeypatch):
    read(project.store, embedder)

    def found():
        hits = search_memory(project, MemoryQuery("heat a vessel until it is hard", ("code",)), embedder=embedder).hits
        return [(hit.item.key, round(hit.score, 4)) for hit in hits[:3]]

    whole = found()
    monkeypatch.setattr(sections, "_FEW", 3)
    monkeypatch.setattr(sections, "_BEST", 5)
    assert found() == whole


def test_of_fifty_notes_that_contradict_each_other_the_newest_is_first_and_says_so(project, embedder):
    for week in range(50):
        title = f"We fire the big kiln on {'Monday Tuesday Wednesday Thursday Friday'.split()[week % 5]}, week {week}"
        save_entry(project, SaveRequest("note", title=title, data={"category": "decision"}), embedder=embedder)
    save_entry(project, SaveRequest("note", title="Glaze is lead-free"), embedder=embedder)
    found = search_memory(project, MemoryQuery("when is the big kiln fired, week 17?"), embedder=embedder).hits
    assert found[0].item.title.endswith("week 49")
    assert "newer than" in found[0].item.doc


def test_what_was_superseded_brings_the_newest_in_its_stead(project, embedder):
    key = ""
    for title in ("Pots dry in the yard", "Pots dry beside the oven", "Clay rests in the cellar, wrapped in cloth"):
        links = (("supersedes", key),) if key else ()
        key = save_entry(project, SaveRequest("note", title=title, links=links), embedder=embedder).entries[0].key
    found = search_memory(project, MemoryQuery("do pots dry in the yard?", ("note",)), embedder=embedder).hits
    assert found[0].item.key == key
    assert "newer than 2 others" in found[0].item.doc
    assert "superseded" in found[1].item.doc


def test_without_a_question_the_newest_entries_are_returned(project):
    for title in ("one", "two", "three"):
        save_entry(project, SaveRequest("note", title=title), embedder=None)
    kept = save_entry(project, SaveRequest("task", title="four"), embedder=None).entries[0]
    assert {hit.item.title for hit in search_memory(project, MemoryQuery(""), embedder=None).hits} == {
        *("one", "two", "three", "four")
    }
    assert [hit.item.key for hit in search_memory(project, MemoryQuery("", ("task",)), embedder=None).hits] == [
        kept.key
    ]
    with pytest.raises(InvalidRequest, match="nothing is asked"):
        search_memory(project, MemoryQuery(" ", ("code",)), embedder=None)


@pytest.mark.parametrize(
    ("category", "days", "stale"),
    [
        *(("decision", 91, True), ("decision", 90, False), ("technology", 119, False), ("technology", 121, True)),
        *(("pattern", 181, True), ("preference", 364, False), ("preference", 366, True), ("fact", 4000, False)),
        *(("", 91, True), ("blocker", 91, True)),
    ],
)
def test_a_note_that_nobody_confirmed_for_long_is_told_as_that_until_it_is_saved_again(project, category, days, stale):
    data = {"category": category} if category else {}
    note = save_entry(project, SaveRequest("note", title="Fire with gas", data=data), embedder=None).entries[0]
    at = ago(timedelta(days=days))
    project.store.entries.put(replace(note, changed=at), [note.title], now=at)
    assert list_entries(project, ListQuery()).unconfirmed == ({note.key: days} if stale else {})
    assert titles(project, stale=True) == ([note.title] if stale else [])
    [hit] = search_memory(project, MemoryQuery("gas", ("note",)), embedder=None).hits
    assert (f"not confirmed for {days} days" in hit.item.doc) == stale
    save_entry(project, SaveRequest(key=note.key), embedder=None)
    assert titles(project, stale=True) == []


def test_what_an_entry_is_about_lies_in_the_project_and_no_path_or_link_leads_out_of_it(project, tmp_path):
    outside = write(tmp_path / "elsewhere", {"secret.md": "# Secret\n\nThe word is willow.\n"})
    root = Path(project.root)
    (root / "out.md").symlink_to(outside / "secret.md")
    (root / "linked").symlink_to(outside)
    read(project.store)
    noted = task(project, "Read it")
    ways = (
        "../elsewhere/secret.md",
        "file:../elsewhere/secret.md",
        str(outside / "secret.md"),
        f"file:{outside}/secret.md",
        "out.md",
        "linked/secret.md",
        "kiln/../../elsewhere/secret.md",
    )
    for way in ways:
        with pytest.raises(InvalidRequest):
            link_entries(project, LinkRequest(noted.key, "about", way))
        with pytest.raises(InvalidRequest):
            show_item(project, way)
    link_entries(project, LinkRequest(noted.key, "about", "README.md"))
    (root / "README.md").unlink()
    (root / "README.md").symlink_to(outside / "secret.md")
    assert "willow" not in show_item(project, "section:README.md#cooling").body
    (root / "kiln").rename(root / "oven")
    (root / "kiln").symlink_to(outside)
    (outside / "heat.py").write_text("willow = 1\n")
    assert "willow" not in show_item(project, "file:kiln/heat.py").body


def test_a_link_with_what_is_gone_waits_for_it_and_goes_by_itself_after_thirty_days(project, monkeypatch):
    clay = Path(project.root) / "kiln" / "clay.py"
    noted = task(project, "Weigh the pot", about=["weigh"])
    text = clay.read_text()
    clay.write_text("x = 1\n")
    assert read(project.store).unlinked == 0
    moved = move_entries(project, MoveRequest((noted.key,), "doing"))
    assert moved.remarks == ("symbol:kiln/clay.py::weigh is not in the project now; the link waits for it",)
    clay.write_text(text)
    read(project.store)
    assert move_entries(project, MoveRequest((noted.key,), "todo")).remarks == ()
    clay.write_text("x = 2\n")
    read(project.store)
    monkeypatch.setattr(index, "ago", lambda _: "9999-01-01T00:00:00Z")
    assert read(project.store).unlinked == 1
    assert project.store.entries.links(noted.key) == []
    assert project.store.items.node_id("symbol:kiln/clay.py::weigh") is None
    assert titles(project) == ["Weigh the pot"]


def test_what_is_due_comes_first_by_its_day_and_a_day_is_a_date(project):
    today = local_today()
    task(project, "Urgent", priority=0)
    late, soon = ((today + timedelta(days)).isoformat() for days in (-3, 1))
    task(project, "Soon", due="Tomorrow", priority=4)
    task(project, "Late", due=late, priority=3)
    task(project, "Done long ago", due=late, status="done")
    task(project, "In a year", due=(today + timedelta(365)).isoformat(), priority=3)
    assert titles(project, kind="task") == ["Late", "Soon", "Urgent", "Done long ago", "In a year"]
    listed = list_entries(project, ListQuery(kind="task"))
    assert [one["overdue"] for one in listing_data(listed)["entries"]] == [True, False, False, False, False]
    told = listing_text(listed)
    assert f"overdue since {late}" in told
    assert f"due {soon}" in told
    for wrong in ("next week", "31.12.2026", "2026-02-30", "20260101"):
        with pytest.raises(InvalidRequest, match="is no day; send a date"):
            task(project, "Unknown", due=wrong)
