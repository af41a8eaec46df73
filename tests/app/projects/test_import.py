"""Notes and tasks of other programs come once, come again where they changed, and leave a reason where they cannot."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from app.projects.small_project import FILES, begin, read, write
from repertoire.app.projects import import_entries as importing
from repertoire.app.projects.entries import list_entries, move_entries
from repertoire.app.projects.entry_requests import ListQuery, MoveRequest
from repertoire.app.projects.import_entries import import_entries
from repertoire.app.projects.mirror import begin_mirror, compare_mirror
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.wiring import open_project
from repertoire.domain.errors import InvalidRequest
from repertoire.rendering.project_exchange import import_data, import_text
from repertoire.sources.crawl import CrawlLimits

CLAUDE = "# Kiln\n\nFires pots.\n\n## Tests\n\nRun `make test` first.\n\n## Style\n\n### Names\n\nShort ones.\n"
TODO = "# Soon\n\n- [ ] Order clay\n  from the pit\n- [x] Sweep the floor\n* Paint the door\n\nNot an item.\n"


def bead(name: str, title: str, **more: object) -> str:
    return json.dumps({"id": name, "title": title, **more})


BEADS = "\n".join(
    [
        bead("kl-1", "Build a shed", issue_type="epic", status="open"),
        bead("kl-2", "Lay bricks", status="in_progress", priority=1, labels=["walls"], description="Red ones."),
        bead(
            "kl-3",
            "Put up the roof",
            issue_type="bug",
            status="blocked",
            dependencies=[
                {"issue_id": "kl-3", "depends_on_id": "kl-2", "type": "blocks"},
                {"issue_id": "kl-3", "depends_on_id": "kl-1", "type": "parent-child"},
                {"issue_id": "kl-3", "depends_on_id": "kl-9", "type": "related"},
            ],
        ),
        "{not json",
        json.dumps(["no issue"]),
    ]
)


@pytest.fixture
def project(tmp_path):
    more = {"CLAUDE.md": CLAUDE, "TODO.md": TODO, ".beads/issues.jsonl": BEADS}
    root = write(tmp_path / "kiln-project", {**FILES, **more})
    with begin(tmp_path / "home", root) as memory:
        read(memory)
    with closing(ProjectShelf(tmp_path / "home", open_project)) as shelf:
        yield shelf.open(str(root))


@pytest.fixture
def root(tmp_path):
    return tmp_path / "kiln-project"


def entries(project, **query):
    return {one.title: one for one in list_entries(project, ListQuery(**query, limit=100)).entries}


def test_what_a_project_usually_has_comes_as_notes_and_tasks_with_their_links(project):
    report = import_entries(project, ())
    found = entries(project)
    assert len(report.added) == len(found) == 9
    assert found["Kiln - Tests"].body == "Run `make test` first."
    assert (found["Style - Names"].kind, found["Order clay"].body) == ("note", "from the pit")
    assert [found[title].status for title in ("Order clay", "Sweep the floor", "Paint the door")] == [
        *("todo", "done", "todo")
    ]
    roof, bricks, shed = (found[title] for title in ("Put up the roof", "Lay bricks", "Build a shed"))
    assert (bricks.status, bricks.priority, bricks.tags, bricks.body) == ("doing", 1, ("walls",), "Red ones.")
    assert (shed.kind, roof.tags) == ("epic", ("bug",))
    links = {(one.source, one.relation, one.target) for one in project.store.entries.links()}
    assert links == {(bricks.key, "blocks", roof.key), (roof.key, "part_of", shed.key)}
    assert "line 5" in report.skipped[".beads/issues.jsonl"]
    assert "kl-9" in report.skipped[".beads/issues.jsonl#kl-3"]


def test_a_second_import_changes_only_what_changed_there(project, root):
    import_entries(project, ())
    move_entries(project, MoveRequest((entries(project)["Order clay"].key,), "doing"))
    again = import_entries(project, ())
    assert (again.added, again.changed, again.same) == ([], [], 9)
    assert entries(project)["Order clay"].status == "doing", "what was done here since is kept"
    (root / "CLAUDE.md").write_text(CLAUDE.replace("make test", "make check"), encoding="utf-8")
    (root / "TODO.md").write_text(TODO.replace("* Paint", "- [x] Paint"), encoding="utf-8")
    third = import_entries(project, ())
    assert (third.added, sorted(third.changed)) == ([], ["Kiln - Tests", "Paint the door"])
    assert entries(project)["Kiln - Tests"].body == "Run `make check` first."


def test_items_of_one_title_and_sections_of_one_heading_each_come_and_come_once(project, root):
    items = "- [ ] Write docs\n  for users\n- [ ] Write docs\n  for developers\n"
    write(root, {"TODO.md": items, "AGENTS.md": "# Pots\n\n## Tests\n\nDry.\n\n## Tests\n\nFired.\n"})
    asked = ("TODO.md", "AGENTS.md")
    assert len(import_entries(project, asked).added) == 4
    bodies = {one.body for one in list_entries(project, ListQuery()).entries}
    assert bodies == {"for users", "for developers", "Dry.", "Fired."}
    again = import_entries(project, asked)
    assert (again.added, again.changed, again.same) == ([], [], 4)
    write(root, {"TODO.md": items.replace("users", "everybody")})
    third = import_entries(project, asked)
    assert (third.added, third.changed, third.same) == ([], ["Write docs"], 3)


def test_what_two_files_say_alike_is_added_once_and_there_from_then_on(project, root):
    write(root, {"TODO.txt": "- [ ] Sweep the floor\n"})
    first = import_entries(project, ("TODO.md", "TODO.txt"))
    assert (len(first.added), first.same) == (3, 1)
    again = import_entries(project, ("TODO.md", "TODO.txt"))
    assert (again.added, again.changed, again.same) == ([], [], 4)


def test_notes_of_basic_memory_are_linked_by_their_titles(project, tmp_path):
    write(
        tmp_path / "basic",
        {
            "glaze.md": "---\ntitle: Glaze\ntype: note\npermalink: glaze\ntags: [colour]\n---\n\n"
            "- [decision] Lead-free\n"
            "- belongs to [[Kiln]]\n- see [[Nowhere]]\n",
            "deep/kiln.md": "---\ntitle: Kiln\npermalink: deep/kiln\n---\nThe big one.\n",
            "other.md": "# No front matter\n",
        },
    )
    report = import_entries(project, (str(tmp_path / "basic"),))
    found = entries(project)
    assert sorted(found) == ["Glaze", "Kiln"]
    assert (found["Glaze"].data["category"], found["Glaze"].tags) == ("decision", ("colour",))
    [link] = project.store.entries.links()
    assert (link.source, link.relation, link.target) == (found["Glaze"].key, "relates_to", found["Kiln"].key)
    assert sorted(report.skipped) == ["basic/glaze.md", "basic/other.md"]


def test_what_was_imported_is_mirrored_and_not_imported_twice_after_that(project):
    begin_mirror(project)
    import_entries(project, ("TODO.md",))
    assert len(compare_mirror(project).written) == 3
    assert import_entries(project, ("TODO.md",)).same == 3


def test_what_cannot_be_read_says_why_and_the_rest_comes(project, root):
    (root / "AGENTS.md").write_bytes(b"\xff\xfe\x00")
    (root / "TODO.txt").symlink_to("/etc/passwd")
    report = import_entries(project, ("AGENTS.md", "TODO.txt", "TODO.md"))
    assert len(report.added) == 3
    assert report.skipped["AGENTS.md"] == "it is no text in UTF-8"
    with pytest.raises(InvalidRequest, match=r"nowhere\.md does not exist"):
        import_entries(project, ("nowhere.md",))


def test_a_secret_is_not_imported(project, root):
    write(root, {"AGENTS.md": "# Keys\n\nUse ghp_abcdefghijklmnopqrstuvwxyz0123456789 for it.\n"})
    import_entries(project, ("AGENTS.md",))
    assert "ghp_" not in entries(project)["Keys"].body


def test_an_item_in_other_words_is_the_task_that_it_was_and_one_that_is_gone_is_told(project, root):
    write(root, {"TODO.md": "- [ ] Order the new burner\n- [ ] Sweep the yard\n- [x] Weigh all the clay\n"})
    import_entries(project, ("TODO.md",))
    key = entries(project)["Order the new burner"].key
    write(root, {"TODO.md": "- [ ] Order the new gas burner\n- [ ] Weigh all the clay again\n"})
    report = import_entries(project, ("TODO.md",))
    assert (report.changed, report.added) == (["Order the new gas burner"], ["Weigh all the clay again"])
    assert entries(project)["Order the new gas burner"].key == key
    assert report.reworded == {key: ("Order the new burner", "Order the new gas burner")}
    assert "reworded: Order the new burner → Order the new gas burner\n" in import_text(report)
    assert import_data(report)["reworded"] == {key: "Order the new burner"}
    assert "Order the new burner" not in entries(project)
    [why] = report.skipped.values()
    assert "its item is gone from TODO.md" in why
    assert import_entries(project, ("TODO.md",)).same == 2


def test_an_item_that_is_only_spelt_alike_or_is_not_the_only_one_alike_is_another_task(project, root):
    write(root, {"TODO.md": "- [ ] fix the crash of the parser\n- [ ] Fire red pots\n- [ ] Fire red cups\n"})
    import_entries(project, ("TODO.md",))
    write(root, {"TODO.md": "- [ ] fix the colour of the banner\n- [ ] Fire big red pots and cups\n"})
    report = import_entries(project, ("TODO.md",))
    assert (report.changed, report.reworded, len(report.added), len(report.skipped)) == ([], {}, 2, 3)
    assert {"fix the crash of the parser", "Fire red pots", "Fire red cups"} <= {*entries(project)}


def test_of_a_list_with_very_many_other_items_none_is_taken_for_another(project, root):
    write(root, {"TODO.md": "".join(f"- [ ] Fire pot {number} in the kiln\n" for number in range(60))})
    import_entries(project, ("TODO.md",))
    write(root, {"TODO.md": "".join(f"- [ ] Fire the big pot {number} in the kiln\n" for number in range(60))})
    report = import_entries(project, ("TODO.md",))
    assert (len(report.added), len(report.skipped), report.reworded) == (60, 60, {})


def test_a_file_with_a_conflict_that_git_left_is_not_read(project, root):
    conflict = "- [ ] Sweep the yard\n<<<<<<< HEAD\n- [ ] Buy clay\n=======\n- [ ] Buy glaze\n>>>>>>> other\n"
    write(root, {"TODO.md": conflict, "AGENTS.md": f"# Rules\n\n{conflict}"})
    report = import_entries(project, ("TODO.md", "AGENTS.md"))
    assert (report.added, sorted(report.skipped)) == ([], ["AGENTS.md", "TODO.md"])
    write(root, {"AGENTS.md": "# Rules\n=======\n\nDry all pots.\n"})
    assert import_entries(project, ("AGENTS.md",)).added == ["Rules"]


def test_a_folder_of_more_files_than_are_read_is_told_with_where_the_reading_ended(project, monkeypatch):
    monkeypatch.setattr(importing, "_LIMITS", CrawlLimits(files=2))
    write(Path(project.root), {f"notes/n{n}.md": f"# Note {n}\n\nSaid.\n" for n in range(3)})
    told = import_entries(project, ("notes",), form="basic-memory").skipped
    assert told["notes"] == "more than 2 files: reading ended at notes/n2.md"
