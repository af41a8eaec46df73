"""What is said twice becomes one note, what a text names is linked, and what is linked or of the time is found."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from app.projects.small_project import write
from repertoire.app.clock import ago
from repertoire.app.projects.entries import delete_entries, save_entry
from repertoire.app.projects.entry_requests import DeleteRequest, SaveRequest, save_request
from repertoire.app.projects.index import index_project
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.show import show_item
from repertoire.domain.errors import InvalidRequest
from repertoire.rendering.projects import memory_answer_text

SAID = "Pots dry a full week in the yard before anybody fires them in the big kiln"


def note(project, title, **more):
    return save_entry(project, save_request({"kind": "note", "title": title, **more}), embedder=None)


def found(project, question, **more):
    return [hit.item for hit in search_memory(project, MemoryQuery(question, **more), embedder=None).hits]


def test_a_note_that_adds_a_word_to_another_becomes_one_with_it_and_no_word_is_lost(project):
    first = note(project, SAID, tags=["yard"], about=["kiln/clay.py"])
    again = note(project, f"{SAID} slowly", tags=["rule"], about=["kiln/heat.py"])
    assert (again.what, again.entries[0].key) == ("merged", first.entries[0].key)
    assert "apart" in again.remarks[0]
    kept = show_item(project, first.entries[0].key).entry
    assert (kept.title, kept.tags, kept.data["times_said"]) == (f"{SAID} slowly", ("yard", "rule"), 2)
    assert {link.target for link in project.store.entries.links(kept.key)} == {"file:kiln/clay.py", "file:kiln/heat.py"}
    third = note(project, f"{SAID} slowly today")
    assert (third.entries[0].key, third.entries[0].data["times_said"]) == (kept.key, 3)


def test_a_note_that_takes_a_word_away_is_a_correction_and_not_swallowed(project):
    first = note(project, f"{SAID} slowly").entries[0]
    shorter = note(project, SAID)
    assert (shorter.what, shorter.entries[0].title) == ("saved", SAID)
    assert f"{first.key} says nearly the same" in shorter.remarks[0]
    names = "Kundendaten werden im Testsystem nicht mit echten Namen und Adressen gespeichert"
    note(project, names)
    assert note(project, names.replace("nicht ", "")).what == "saved"


def test_a_note_stays_apart_if_it_is_asked_to_or_exchanges_a_word_or_has_another_category(project):
    first = note(project, SAID, category="decision")
    other = note(project, SAID.replace("big", "small"), category="decision")
    assert other.what == "saved"
    assert first.entries[0].key in other.remarks[0]
    assert "supersedes" in other.remarks[0]
    assert note(project, f"{SAID} slowly", category="fact").what == "saved"
    assert note(project, f"{SAID} gently", category="decision", apart=True).what == "saved"
    assert note(project, "Nothing like it").remarks == ()


def test_an_entry_is_linked_with_what_its_text_names_and_with_nothing_of_two_meanings(project):
    first = note(
        project, "The oven stays shut", body="See `Kiln.fire` in kiln/heat.py and draw(), not harden or App.x."
    )
    links = {(link.relation, link.target) for link in first.links}
    assert links == {
        *(
            ("about", "symbol:kiln/heat.py::Kiln.fire"),
            ("about", "file:kiln/heat.py"),
            ("about", "symbol:web/draw.ts::draw"),
        )
    }
    second = note(project, "More on that", body=f"As {first.entries[0].key} says, in README.md#cooling")
    assert {(link.relation, link.target) for link in second.links} == {
        *(("relates_to", first.entries[0].key), ("about", "section:README.md#cooling"))
    }
    assert save_entry(project, SaveRequest(key=first.entries[0].key, tags=("x",)), embedder=None).links == ()


def test_what_is_about_a_file_that_a_question_names_comes_before_what_fits_as_well(project):
    plain = note(project, "Warm it slowly, then wait").entries[0]
    about = note(project, "Warm it slowly, and look", about=["kiln/heat.py"]).entries[0]
    assert found(project, "warm it slowly in kiln/heat.py", kinds=("note",))[0].key == about.key
    other = save_entry(project, SaveRequest(key=plain.key, links=(("about", "web/app.ts"),)), embedder=None).entries[0]
    assert found(project, "warm it slowly in web/app.ts", kinds=("note",))[0].key == other.key


def test_a_time_in_a_question_prefers_what_was_saved_then_and_alone_asks_for_all_of_it(project):
    old, new = (
        note(project, f"Clay comes from the {where} pit", category="decision").entries[0] for where in ("old", "new")
    )
    at = ago(timedelta(days=40))
    project.store.entries.put(replace(old, changed=at), [old.title], now=at)
    assert found(project, "what clay did we decide on since yesterday", kinds=("note",))[0].key == new.key
    assert found(project, "what clay did we decide on before yesterday", kinds=("note",))[0].key == old.key
    assert [item.key for item in found(project, "what did we decide since yesterday?")] == [new.key]


def test_a_question_of_nothing_but_what_was_decided_asks_for_all_decisions(project):
    made = [note(project, f"Clay comes from pit {n}", category="decision").entries[0].key for n in range(2)]
    note(project, "Decided on clay")
    save_entry(project, SaveRequest("task", title="Begin"), embedder=None)
    assert {item.key for item in found(project, "what did we decide?")} == {*made}


def test_what_a_saved_or_deleted_entry_leaves_unsound_is_said(project, tmp_path):
    first = note(project, "On heat", about=["kiln/heat.py"]).entries[0]
    second = save_entry(project, SaveRequest("task", title="Heat", links=(("relates_to", first.key),)), embedder=None)
    (tmp_path / "kiln-project" / "kiln" / "heat.py").unlink()
    index_project(project.store, most_files=1_000)
    changed = save_entry(project, SaveRequest(key=first.key, body="More."), embedder=None)
    assert changed.remarks == ("file:kiln/heat.py is not in the project now; the link waits for it",)
    gone = delete_entries(project, DeleteRequest((first.key,)))
    assert gone.remarks == (f"{second.entries[0].key} is linked with nothing any more",)
    assert project.store.entries.links() == []


def test_where_all_is_searched_no_source_has_more_than_twenty_results(project):
    for number in range(30):
        note(project, f"Clay lot {number} of the {'abcdefghijklmnopqrstuvwxyzäöüß'[number] * 5}", apart=True)
    assert len(found(project, "clay lot", limit=50, kinds=("note",))) == 30
    assert sum(item.kind == "note" for item in found(project, "clay lot", limit=50)) == 20


def test_two_notes_that_became_one_are_taken_apart_with_their_texts_tags_and_links(project):
    first = note(project, SAID, tags=["yard"], about=["kiln/clay.py"]).entries[0]
    note(project, f"{SAID} slowly", tags=["rule"], about=["kiln/heat.py", "kiln/clay.py"])
    shown = show_item(project, first.key)
    assert shown.related["merged with"] == (f"{SAID} slowly",)
    undone = save_entry(project, save_request({"apart": True}, key=first.key), embedder=None)
    kept, taken = undone.entries
    assert (undone.what, kept.title, kept.tags) == ("split", SAID, ("yard",))
    assert (taken.title, taken.tags) == (f"{SAID} slowly", ("rule",))
    assert "times_said" not in kept.data
    links = project.store.entries.links
    assert {link.target for link in links(kept.key)} == {"file:kiln/clay.py"}
    assert {link.target for link in links(taken.key)} == {"file:kiln/heat.py", "file:kiln/clay.py"}
    assert "merged with" not in show_item(project, kept.key).related
    with pytest.raises(InvalidRequest, match="merged with nothing"):
        save_entry(project, save_request({"apart": True}, key=kept.key), embedder=None)


def test_merges_are_undone_one_by_one_the_last_first_and_what_was_changed_since_stays(project):
    first = note(project, SAID, category="decision").entries[0]
    note(project, f"{SAID} slowly", category="decision")
    note(project, f"{SAID} slowly today", category="decision", tags=["long"])
    apart = save_request({"apart": True}, key=first.key)
    kept, long = save_entry(project, apart, embedder=None).entries
    assert (kept.title, kept.data["times_said"], long.tags) == (f"{SAID} slowly", 2, ("long",))
    save_entry(project, save_request({"title": "Pots dry"}, key=first.key), embedder=None)
    with pytest.raises(InvalidRequest, match="version"):
        save_entry(project, replace(apart, expected_version=1), embedder=None)
    with pytest.raises(InvalidRequest, match="afterwards"):
        save_entry(project, replace(apart, title="Other"), embedder=None)
    kept, slow = save_entry(project, apart, embedder=None).entries
    assert (kept.title, slow.title, slow.data["category"]) == ("Pots dry", f"{SAID} slowly", "decision")


def test_a_note_that_is_taken_out_again_is_linked_with_what_its_own_text_names(project):
    first = note(project, SAID, body="See `weigh`.").entries[0]
    note(project, f"{SAID} slowly", body="See `weigh`.")
    _, taken = save_entry(project, save_request({"apart": True}, key=first.key), embedder=None).entries
    links = project.store.entries.links(taken.key)
    assert [link.target for link in links] == ["symbol:kiln/clay.py::weigh"]


def test_what_a_note_says_of_two_things_is_kept_as_an_edge_and_shown_and_goes_with_the_note(project):
    saved = note(
        project, "Heating", body="The kiln log uses Redis. `weigh` requires a scale. Does it use steam?"
    ).entries[0]
    assert show_item(project, saved.key).related["says"] == ("kiln log uses Redis", "weigh requires scale")
    assert show_item(project, "symbol:kiln/clay.py::weigh").related["notes say"] == (
        f"weigh requires scale ({saved.key})",
    )
    other = note(project, "The oven log uses redis").entries[0]
    shown = show_item(project, "entity:redis")
    assert (shown.item.title, shown.body.splitlines()) == (
        "Redis",
        [f"kiln log uses Redis ({saved.key})", f"oven log uses Redis ({other.key})"],
    )
    assert "says: kiln log uses Redis" in next(one for one in found(project, "heating") if one.key == saved.key).doc
    save_entry(project, save_request({"body": "The kiln log uses SQLite."}, key=saved.key), embedder=None)
    assert show_item(project, saved.key).related["says"] == ("kiln log uses SQLite",)
    delete_entries(project, DeleteRequest((other.key,)))
    with pytest.raises(InvalidRequest, match="nothing has the id"):
        show_item(project, "entity:redis")


def test_a_procedure_for_a_file_is_shown_with_it_and_comes_first_where_a_question_names_it(project):
    def procedure(title, *files):
        asked = save_request({"kind": "procedure", "title": title, "steps": ["wait"], "files": list(files)})
        return save_entry(project, asked, embedder=None).entries[0].key

    other, meant = procedure("Change a shape of pots", "w*b/a*"), procedure("Change a shape of jars", "k*n/c*")
    assert show_item(project, "file:kiln/clay.py").related["procedures for it"] == (meant,)
    assert "procedures for it" not in show_item(project, "file:kiln/heat.py").related
    kinds = ("procedure",)
    assert [one.key for one in found(project, "change the shape in web/app.ts", kinds=kinds)] == [other, meant]
    assert [one.key for one in found(project, "change the shape in kiln/clay.py", kinds=kinds)] == [meant, other]


def test_what_is_found_says_by_what(project):
    first = note(project, "Ovens cool overnight", body="Nobody opens the hatch.")
    second = note(project, "Ovens have glass doors now", supersedes=[first.entries[0].key])
    hits = search_memory(project, MemoryQuery("hatch", ("note",)), embedder=None).hits
    assert {hit.item.key: hit.why for hit in hits} == {first.entries[0].key: "words", second.entries[0].key: "links"}
    assert "(by words)" in memory_answer_text(search_memory(project, MemoryQuery("hatch"), embedder=None))
    assert search_memory(project, MemoryQuery(""), embedder=None).hits[0].why == ""


@pytest.mark.parametrize(
    ("note", "other", "question"),
    [
        ("我们决定使用缓慢冷却的窑炉", "今天天气很好", "窑炉冷却"),
        ("窯はゆっくり冷却することに決定しました", "天気がとても良いです", "冷却の決定"),
        ("가마는 천천히식히기로 결정했습니다", "오늘은 날씨가 좋습니다", "가마 결정"),
    ],
)
def test_a_note_in_a_script_that_parts_no_words_is_found_by_a_part_of_it(project, note, other, question):
    for title in (note, other):
        save_entry(project, SaveRequest("note", title=title), embedder=None)
    found = search_memory(project, MemoryQuery(question, ("note",)), embedder=None)
    assert [hit.item.title for hit in found.hits] == [note]


@pytest.mark.parametrize("question", ["what did we decide about the cache", "what was agreed on cache cooling"])
def test_a_question_for_a_decision_has_it_before_what_repeats_the_words(project, embedder, question):
    write(Path(project.root), {"docs/cache.md": "# Cache\n\n## Cache cooling\n\nWe explain what the cache does.\n"})
    index_project(project.store, most_files=1_000, embedder=embedder)
    for kind, title, category in (
        ("note", "Redis holds the cache, not Memcached", "decision"),
        ("note", "The cache is flushed at midnight", "fact"),
        ("task", "Add metrics to the cache", ""),
    ):
        said = {"kind": kind, "title": title, **({"category": category} if category else {})}
        save_entry(project, save_request(said), embedder=embedder)
    first = search_memory(project, MemoryQuery(question), embedder=embedder).hits[0].item
    assert first.title == "Redis holds the cache, not Memcached"
    first = search_memory(project, MemoryQuery("metrics of the cache"), embedder=embedder).hits[0].item
    assert first.kind == "task"
