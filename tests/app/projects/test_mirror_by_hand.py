"""What a person writes into the file of an entry comes back as it was written."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.projects.small_project import write
from repertoire.app.clock import now
from repertoire.app.projects import mirror_folder, mirror_text
from repertoire.app.projects.entries import link_entries, list_entries, save_entry
from repertoire.app.projects.entry_requests import LinkRequest, ListQuery, SaveRequest
from repertoire.app.projects.entry_texts import texts_of_entry
from repertoire.app.projects.mirror import begin_mirror, compare_mirror, end_mirror, follow_mirror, mark_of
from repertoire.app.projects.mirror_folder import digest_of
from repertoire.domain.project import ENTRIES, EntryLink
from repertoire.sources.crawl import CrawlLimits


@pytest.fixture
def project(project):
    begin_mirror(project)
    return project


def only(project):
    [entry] = list_entries(project, ListQuery()).entries
    return entry


def test_a_secret_in_a_field_that_only_a_person_knows_is_not_kept(project, folder):
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    write(folder, {"notes/key.md": f"---\ntitle: Key\nby: ada@kiln.example and others\ntoken: {secret}\n---\n"})
    compare_mirror(project)
    assert only(project).data["fields"] == ["by: [email] and others", "token: [secret]"]
    text = (folder / "notes/key.md").read_text(encoding="utf-8")
    assert secret not in text
    assert "by: '[email] and others'\n" in text
    write(folder, {"notes/key.md": f"{text}\nMore.\n"})
    assert compare_mirror(project).skipped == {}
    assert only(project).body == "More."


def test_what_an_earlier_version_passed_over_in_a_file_is_kept_at_the_next_change(project, folder):
    key = save_entry(project, SaveRequest("task", title="Glaze"), embedder=None).entries[0].key
    compare_mirror(project)
    [file] = folder.glob("tasks/*.md")
    text = file.read_text(encoding="utf-8").replace("kind: task", "kind: task\nseen: by ada")
    file.write_text(text, encoding="utf-8")
    [known] = project.store.entries.mirrored().values()
    project.store.entries.set_mirrored({key: replace(known, file=digest_of(text))})
    mark_of(project.store.path).write_text("", encoding="utf-8")
    assert follow_mirror(project, write=False).conflicts == []
    save_entry(project, SaveRequest(key=key, body="No lead."), embedder=None)
    follow_mirror(project)
    assert "seen: by ada" in file.read_text(encoding="utf-8")
    assert "No lead." in file.read_text(encoding="utf-8")


def test_more_fields_than_can_be_kept_whole_are_refused(project, folder):
    write(folder, {"notes/long.md": f"---\ntitle: Long\nstory: {'word ' * 5_000}\n---\n"})
    assert "its other fields have 20," in compare_mirror(project).skipped["notes/long.md"]
    assert "story" in (folder / "notes/long.md").read_text(encoding="utf-8")


def test_a_mirror_that_begins_anew_finds_waiting_links_and_own_fields_as_they_were(project, folder):
    header = "title: Glaze\nseen: by ada\nlinks: {blocks: [task:nosuch], about: [README.md], relates_to: [nowhere]}\n"
    write(folder, {"tasks/glaze.md": f"---\n{header}---\nNo lead.\n"})
    compare_mirror(project)
    assert only(project).data["waiting"] == ["blocks task:nosuch", "relates_to nowhere"]
    before = (folder / "tasks/glaze.md").read_text(encoding="utf-8")
    end_mirror(project)
    begin_mirror(project)
    report = compare_mirror(project)
    assert (report.read, report.written, report.conflicts) == ([], [], [])
    assert (folder / "tasks/glaze.md").read_text(encoding="utf-8") == before
    assert len(project.store.entries.all(ENTRIES)) == 1


def test_a_note_that_quotes_the_marks_of_a_conflict_comes_back_and_a_conflict_is_still_seen(shelf, project, folder):
    body = "<<<<<<< HEAD\na\n=======\n\\<<<<<<< b\n\\\\>>>>>>> c\n>>>>>>> x\n>>>>>>>"
    save_entry(project, SaveRequest("note", title="Git marks", body=body), embedder=None)
    compare_mirror(project)
    [file] = folder.glob("notes/*.md")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("title: Git marks", "title: Marks of git"), encoding="utf-8")
    assert compare_mirror(project).skipped == {}
    assert (only(project).title, only(project).body) == ("Marks of git", body)
    project.store.entries.set_mirrored({})
    project.store.entries.delete([only(project).key], now=now())
    assert len(compare_mirror(project).read) == 1
    assert only(project).body == body
    file.write_text(f"{text}\n<<<<<<< HEAD\n=======\n>>>>>>> other\n", encoding="utf-8")
    assert "put a \\ before those" in compare_mirror(project).skipped[f"notes/{file.name}"]


def test_a_day_that_is_none_is_refused_with_the_reason_and_stays_in_the_file(project, folder):
    wrong = ("2026-13-45", "next week", "tomorrow", "20260131")
    write(folder, {f"tasks/{place}.md": f"---\ntitle: Task\ndue: {due}\n---\n" for place, due in enumerate(wrong)})
    write(folder, {"tasks/right.md": "---\ntitle: Fire it\ndue: 2026-01-31\n---\n"})
    skipped = compare_mirror(project).skipped
    assert list(skipped.values()) == [f"due {due!r} is no day; write a date such as 2026-01-31" for due in wrong]
    assert (only(project).title, only(project).data) == ("Fire it", {"due": "2026-01-31"})
    assert "next week" in (folder / "tasks/1.md").read_text(encoding="utf-8")


def test_a_question_that_keeps_both_sides_writes_nothing_and_the_next_change_logs_it(project, folder):
    glaze = save_entry(project, SaveRequest("note", title="Glaze", body="Lead-free."), embedder=None).entries[0]
    compare_mirror(project)
    [file] = folder.glob("notes/*.md")
    log = (folder / "log.jsonl").read_text(encoding="utf-8")
    file.write_text(file.read_text(encoding="utf-8").replace("Lead", "Zinc"), encoding="utf-8")
    save_entry(project, SaveRequest(key=glaze.key, body="No lead."), embedder=None)
    [kept] = follow_mirror(project, write=False).conflicts
    assert (folder / "log.jsonl").read_text(encoding="utf-8") == log
    assert [one.name for one in folder.glob("notes/*.md")] == [file.name]
    compare_mirror(project)
    last = json.loads((folder / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert (last["did"], last["entry"]) == ("kept beside a changed file", kept)


def test_a_link_waits_for_an_entry_that_comes_later_and_a_question_leaves_it_waiting(project, folder):
    write(folder, {"tasks/fire.md": "---\ntitle: Fire it\ndepends_on: [task:01234567]\n---\n"})
    compare_mirror(project)
    write(folder, {"tasks/dig.md": "---\ntitle: Dig clay\nid: task:0123456789ab\n---\n"})
    follow_mirror(project, write=False)
    assert project.store.entries.links() == []
    compare_mirror(project)
    [link] = project.store.entries.links()
    assert (link.source, link.relation) == ("task:0123456789ab", "blocks")
    assert "depends_on:\n  - task:0123456789ab\n" in (folder / "tasks/fire.md").read_text(encoding="utf-8")


def test_a_link_that_a_file_tells_otherwise_as_after_a_rename_is_no_news_of_the_note(project, folder):
    glaze, kiln = (
        save_entry(project, SaveRequest("note", title=title), embedder=None).entries[0]
        for title in ("Glaze it twice", "Fire the kiln")
    )
    long_ago = replace(glaze, changed="2026-01-01T00:00:00Z")
    project.store.entries.put(long_ago, texts_of_entry(long_ago).values(), now=now())
    compare_mirror(project)
    [file] = folder.glob("notes/glaze*.md")
    file.write_text(
        file.read_text(encoding="utf-8").replace("created:", f"links: {{relates_to: [{kiln.key}]}}\ncreated:"),
        encoding="utf-8",
    )
    follow_mirror(project, write=False)
    assert project.store.entries.links() == [EntryLink(glaze.key, "relates_to", kiln.key)]
    again = project.store.entries.get(glaze.key)
    assert (again.version, again.changed) == (1, long_ago.changed)


def test_links_to_an_entry_whose_file_was_away_on_a_branch_are_there_again_when_it_is_back(project, folder):
    dig, fire = (
        save_entry(project, SaveRequest("task", title=title), embedder=None).entries[0]
        for title in ("Dig clay", "Fire it")
    )
    link_entries(project, LinkRequest(fire.key, "depends_on", dig.key))
    compare_mirror(project)
    [file] = folder.glob("tasks/dig*.md")
    told = file.read_text(encoding="utf-8")
    for change in (lambda: None, lambda: save_entry(project, SaveRequest("note", title="Glaze"), embedder=None)):
        file.unlink()
        follow_mirror(project, write=False)
        assert project.store.entries.links() == []
        change()
        compare_mirror(project)
        assert f"depends_on:\n  - {dig.key}\n" in next(folder.glob("tasks/fire*.md")).read_text(encoding="utf-8")
        file.write_text(told, encoding="utf-8")
        follow_mirror(project, write=False)
        assert project.store.entries.links() == [EntryLink(dig.key, "blocks", fire.key)], "known to a question too"


def test_what_is_not_read_is_still_known_where_nothing_changed_since(project, folder):
    write(
        folder, {"notes/bad.md": "no front matter\n", "notes/good.md": "---\ntitle: Good\nlinks: {about: [x]}\n---\n"}
    )
    assert sorted(follow_mirror(project).skipped) == ["notes/bad.md", "notes/good.md"]
    assert follow_mirror(project) is None
    assert [*project.unread] == ["notes/bad.md"]
    (folder / "notes/bad.md").unlink()
    assert follow_mirror(project) is not None
    assert project.unread == {}


def test_where_there_are_more_files_than_are_read_none_that_was_not_read_is_written_over(project, folder, monkeypatch):
    for title in ("Apron", "Brush", "Clay"):
        save_entry(project, SaveRequest("note", title=title), embedder=None)
    compare_mirror(project)
    monkeypatch.setattr(mirror_folder, "_LIMITS", CrawlLimits(files=5))  # two notes beside three files that are none
    [clay] = folder.glob("notes/clay*.md")
    clay.write_text(clay.read_text(encoding="utf-8") + "\nSaid by hand.\n", encoding="utf-8")
    save_entry(project, SaveRequest("note", title="Zinc"), embedder=None)
    report = compare_mirror(project)
    assert [path[:10] for path in report.written] == ["notes/zinc"]
    assert report.deleted == []
    assert "more than 5 files" in report.skipped["."]
    assert "Said by hand." in clay.read_text(encoding="utf-8")
    monkeypatch.undo()
    assert compare_mirror(project).read == [f"notes/{clay.name}"]


def test_a_change_writes_the_text_of_no_entry_anew_that_stayed_as_it_was(project, folder, monkeypatch):
    for title in ("Apron", "Brush", "Clay"):
        save_entry(project, SaveRequest("note", title=title), embedder=None)
    compare_mirror(project)
    made = []
    told = mirror_text.file_of_entry
    monkeypatch.setattr(
        mirror_text, "file_of_entry", lambda entry, links: made.append(entry.title) or told(entry, links)
    )
    save_entry(project, SaveRequest("note", title="Dust"), embedder=None)
    compare_mirror(project)
    assert {*made} == {"Dust"}
