"""Packs are examined, updated, shared and removed; what comes from somebody else is taken in only if it is sound."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import zipfile
from dataclasses import replace

import apsw
import pytest

from app.packs.documentation import LEDGER, WILLOW, build, write
from repertoire.app.packs.checks import audit_pack, validate_pack
from repertoire.app.packs.exams import exam_of, record_score, take_exam
from repertoire.app.packs.places import digest, packs_folder
from repertoire.app.packs.query import PackMeans
from repertoire.app.packs.sharing import export_pack, install_pack, remove_pack
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.packs.updating import UpdateRequest, update_pack
from repertoire.app.wiring import open_new_pack, open_pack_file
from repertoire.domain.errors import CorruptStore, ForeignStore, InvalidPack, PackRefused, SourceError
from repertoire.rendering.pack_work import shared_text, updated_text
from repertoire.rendering.packs import built_text, pack_text
from repertoire.settings import Settings

DAY = dt.date(2026, 11, 23)
GATE = Settings().pack_gate_percent / 100
SOAK = {"id": "soak", "question": "how long must willow rods soak in water", "gold": ["guide/soak.md#how-long"]}
TOOL = {"id": "tool", "question": "which tool opens the weave", "gold": ["guide/tools.md#tools"]}
BOOK = {"id": "book", "question": "compare the ledger with the bank statement", "gold": ["ledger.md#ledgers"]}


def lines(path, *rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory, embedder):
    """A home with two packs that carry exams."""
    home = tmp_path_factory.mktemp("made")
    willow = lines(home / "willow.jsonl", SOAK, TOOL)
    build(home, "willow", write(home / "docs", WILLOW), embedder, exam=willow, licence="MIT")
    build(home, "books", write(home / "books", LEDGER), embedder, exam=lines(home / "books.jsonl", BOOK))
    return home


@pytest.fixture
def home(tmp_path, made):
    shutil.copytree(made, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def shelf(home):
    opened = PackShelf(packs_folder(home), open_pack_file)
    yield opened
    opened.close()


def test_an_exam_counts_sections_pages_lost_and_refused_questions_and_is_kept_in_the_manifest(shelf, embedder):
    score = take_exam(shelf, "willow", exam_of(shelf, "willow"), PackMeans(embedder, GATE))
    assert (score.questions, score.search.page_in_5, score.search.section_in_5) == (2, 100.0, 100.0)
    assert (score.lost, score.foreign, score.refused, score.unknown) == (0.0, 1, 100.0, ())
    manifest = record_score(shelf, "willow", score, exam="x" * 64, model=embedder.model, day="2026-11-23")
    assert shelf.manifest("willow") == manifest
    assert "100.0 % of 2 questions" in pack_text(manifest)
    assert validate_pack(shelf, "willow", strict=False).faults == ()


def test_an_exam_with_an_unknown_citation_names_it_and_a_broken_one_its_line(shelf, home, embedder):
    exam = exam_of(shelf, "books")
    assert take_exam(shelf, "willow", exam, PackMeans(embedder, GATE)).unknown == ("ledger.md#ledgers",)
    broken = lines(home / "broken.jsonl", SOAK, {"id": "b", "question": "no gold"})
    with pytest.raises(PackRefused, match=r"line 2 of .* is no question"):
        build(home, "other", home / "docs", exam=broken)
    with pytest.raises(PackRefused, match="id 'soak' of an earlier one"):
        build(home, "other", home / "docs", exam=lines(home / "twice.jsonl", SOAK, SOAK))


def test_a_broken_exam_is_a_fault_of_its_pack_and_stops_no_other(shelf, home, tmp_path, embedder):
    books = home / "packs" / "books"
    for file in books.rglob("*.*"):
        file.chmod(0o644)
    (books / "eval" / "questions.jsonl").write_text("garbage")
    manifest = json.loads((books / "manifest.json").read_text())
    manifest["hashes"]["eval/questions.jsonl"] = digest(books / "eval" / "questions.jsonl")
    (books / "manifest.json").write_text(json.dumps(manifest))
    score = take_exam(shelf, "willow", exam_of(shelf, "willow"), PackMeans(embedder, GATE))
    assert (score.questions, score.foreign) == (2, 0)
    (fault,) = validate_pack(shelf, "books", strict=False).faults
    assert fault.startswith("line 1 of the exam of pack books is no question")
    with pytest.raises(PackRefused, match="pack books is not taken in: line 1 of the exam"):
        install_pack(tmp_path / "other", str(books), open_pack_file)


def test_an_exam_that_names_a_section_that_is_gone_is_named_by_build_update_and_validate(shelf, home, embedder):
    stale = "not in the pack, though its exam names it: guide/soak.md#how-long"
    assert stale not in built_text(build(home, "other", home / "docs", exam=home / "willow.jsonl"))
    (home / "docs" / "guide" / "soak.md").rename(home / "docs" / "guide" / "soaking.md")
    assert stale in built_text(build(home, "other", home / "docs", exam=home / "willow.jsonl", replace=True))
    quiet = {"settings": Settings(), "report": lambda *_: None}
    done = update_pack(shelf, UpdateRequest("willow", str(home / "docs")), open_new_pack, embedder=embedder, **quiet)
    assert stale in updated_text(done)
    faults = validate_pack(shelf, "willow", strict=True).faults
    assert "its exam names guide/soak.md#how-long, which is not in the pack" in faults
    assert validate_pack(shelf, "willow", strict=False).faults == ()


def test_a_build_says_what_the_pack_that_it_replaces_carried_and_an_update_keeps_it(shelf, home, embedder):
    told = {"topics": ("weaving",), "description": "How to weave.", "licence": "MIT", "exam": home / "willow.jsonl"}
    first = build(home, "willow", home / "docs", embedder, replace=True, **told)
    assert first.dropped == ()
    quiet = {"settings": Settings(), "report": lambda *_: None}
    done = update_pack(shelf, UpdateRequest("willow", str(home / "docs")), open_new_pack, embedder=embedder, **quiet)
    assert done.built.dropped == ()
    text = built_text(build(home, "willow", home / "docs", embedder, replace=True))
    assert "it replaces: exam, topics, description, licence; `repertoire pack update willow` keeps" in text
    assert "Not carried over" not in built_text(build(home, "willow", home / "docs", embedder, replace=True, **told))


def test_an_update_says_where_the_licence_of_the_source_is_another_and_takes_one_that_is_given(shelf, home, embedder):
    quiet = {"embedder": embedder, "settings": Settings(), "report": lambda *_: None}
    asked = UpdateRequest("willow", str(home / "docs"))
    (home / "docs" / "LICENSE").write_text("Permission is hereby granted, free of charge, to any person")
    assert "licence file" not in updated_text(update_pack(shelf, asked, open_new_pack, **quiet))
    (home / "docs" / "LICENSE").write_text("GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n")
    done = update_pack(shelf, asked, open_new_pack, **quiet)
    assert "The licence file of the source says GPL-3.0, the pack MIT; `pack update --licence`" in updated_text(done)
    done = update_pack(shelf, replace(asked, licence="GPL-3.0-or-later"), open_new_pack, **quiet)
    assert shelf.manifest("willow").licence == "GPL-3.0-or-later"
    assert "licence file" not in updated_text(done)
    assert "says GPL-3.0" in built_text(build(home, "other", home / "docs", licence="CC-BY-4.0"))


def test_a_new_version_is_higher_and_an_older_pack_in_place_of_a_newer_is_told(shelf, home, tmp_path, embedder):
    quiet = {"embedder": embedder, "settings": Settings(), "report": lambda *_: None}
    asked = UpdateRequest("willow", str(home / "docs"))
    old = export_pack(shelf, "willow", tmp_path).place
    for version in ("0.0.9", "0.1.0", "0.1.0-rc.1", "0.1.0+more"):
        with pytest.raises(InvalidPack, match=r"is not higher than 0\.1\.0"):
            update_pack(shelf, replace(asked, version=version), open_new_pack, **quiet)
    with pytest.raises(InvalidPack, match="'newest' is no version"):
        update_pack(shelf, replace(asked, version="newest"), open_new_pack, **quiet)
    for version in ("0.1.1-rc.9", "0.1.1-rc.10", "0.1.1", "0.2.0"):
        assert update_pack(shelf, replace(asked, version=version), open_new_pack, **quiet).built
    done = install_pack(home, str(old), open_pack_file, replace=True)
    assert shared_text("Installed", done).startswith("Installed willow 0.1.0 in place of 0.2.0: ")


def test_an_audit_finds_what_a_reader_would_stumble_over(shelf, home):
    faulty = {
        "a.md": "# A\n\nSee [b](b.md#nowhere), [c](c.md), [below](#gone) and [fine](b.md#b).\n\n## Empty\n",
        "b.md": "# B\n\n" + "The same long text is told twice. " * 4 + "\n",
        "d.md": "# D\n\n" + "The same long text is told twice. " * 4 + "\n",
        "e.md": "# E\n\n" + "word " * 5_000 + "\n",
    }
    build(home, "faulty", write(home / "faulty", faulty))
    found = audit_pack(shelf, "faulty", today=DAY)
    assert sorted((finding.kind, finding.place) for finding in found.findings) == [
        ("broken fragment", "a.md"),
        ("broken fragment", "a.md"),
        ("broken link", "a.md"),
        ("duplicate", "d.md#d"),
        ("empty section", "a.md#empty"),
        ("huge section", "e.md#e"),
        ("licence", "faulty"),
        ("undated", "faulty"),
        ("unmeasured", "faulty"),
    ]


def test_a_place_that_html_in_a_document_names_and_one_that_a_page_may_have_are_no_broken_fragments(shelf, home):
    named = {
        "a.md": ("# A\n\n[dt](b.md#soak) [span](b.md#dry) [a](b.md#cut) [code](b.md#shown) [comment](b.md#hidden)\n"),
        "b.md": (
            '# B\n\n<dl>\n<dt id="soak">soak</dt>\n</dl>\n\n'
            "Then <span class='x' id='dry'>dry</span> <a name=cut></a>it.\n\n"
            '```html\n<p id="shown">\n```\n\n<!-- <p id="hidden"> -->\n'
        ),
    }
    page = {"c.html": "<h1>C</h1><a href='#py.soak'>A</a> <a href='d.html'>D</a><dl><dt id='py.soak'>A</dt></dl>"}
    told = []
    for name, files in (("named", named), ("page", page)):
        build(home, name, write(home / name, files))
        findings = audit_pack(shelf, name, today=DAY).findings
        told += [one.detail for one in findings if one.kind.startswith("broken")]
    assert told == [
        "leads to b.md#shown, and b.md has no such place",
        "leads to b.md#hidden, and b.md has no such place",
        "leads to d.html, which is no document of the pack",
    ]


def test_a_pack_that_lacks_something_is_not_valid_and_strict_asks_for_more(shelf, home):
    assert validate_pack(shelf, "willow", strict=False).faults == ()
    strict = validate_pack(shelf, "willow", strict=True).faults
    assert [fault.partition(":")[0] for fault in strict] == [
        "no description of its own",
        "its exam was never taken",
        "no date",
    ]
    (home / "packs" / "willow" / "run.sh").write_text("true")
    assert validate_pack(shelf, "willow", strict=False).faults == ("run.sh is not named by the manifest",)
    build(home, "plain", home / "docs")
    assert "no vectors" in validate_pack(shelf, "plain", strict=False).faults[0]


def test_an_update_embeds_what_changed_and_gives_the_bytes_of_a_new_build(shelf, home, embedder):
    write(
        home / "docs", {"guide/soak.md": WILLOW["guide/soak.md"].replace("Seven", "Ten"), "new.md": "# New\n\nText.\n"}
    )
    (home / "docs" / "README.md").unlink()
    asked = UpdateRequest("willow", str(home / "docs"), day="2026-11-23")
    quiet = {"settings": Settings(), "report": lambda *_: None}
    done = update_pack(shelf, asked, open_new_pack, embedder=embedder, **quiet)
    assert (done.added, done.changed, done.removed) == (("new.md",), ("guide/soak.md",), ("README.md",))
    assert (done.built.manifest.version, done.built.manifest.licence) == ("0.1.1", "MIT")
    assert 0 < done.built.embedded <= 4
    assert done.score_after.search.section_in_5 == 100.0
    assert shelf.manifest("willow").scores[-1]["questions"] == 2
    fresh = build(home / "fresh", "willow", home / "docs", embedder)
    assert fresh.embedded > done.built.embedded
    assert digest(fresh.folder / "pack.db") == digest(home / "packs" / "willow" / "pack.db")
    told = home / "packs" / "willow" / "manifest.json"
    stated = json.loads(told.read_text())
    for address in (stated["sources"][0]["address"], f"file://{home / 'docs'}"):  # a stranger's may name any folder
        stated["sources"][0]["address"] = address
        told.write_text(json.dumps(stated))
        with pytest.raises(PackRefused, match="with --from"):
            update_pack(shelf, UpdateRequest("willow"), open_new_pack, embedder=embedder, **quiet)


def test_an_exported_pack_is_installed_elsewhere_as_it_was(shelf, home, tmp_path, embedder):
    first = export_pack(shelf, "willow", tmp_path)
    assert first.place.name == "willow-0.1.0.pack.zip"
    assert export_pack(shelf, "willow", tmp_path / "again.pack.zip").hash == first.hash
    with pytest.raises(PackRefused, match="exists"):
        export_pack(shelf, "willow", tmp_path)
    for origin in (first.place, home / "packs" / "willow"):
        other = tmp_path / origin.name.partition(".")[0] / "other"
        done = install_pack(other, str(origin), open_pack_file)
        assert sorted(path.name for path in done.place.rglob("*") if path.is_file()) == [
            "kg_config.json",
            "manifest.json",
            "pack.db",
            "questions.jsonl",
            "skill.md",
            "urls.txt",
        ]
        assert digest(done.place / "pack.db") == digest(home / "packs" / "willow" / "pack.db")
        with pytest.raises(PackRefused, match="--replace"):
            install_pack(other, str(origin), open_pack_file)
        assert install_pack(other, str(origin), open_pack_file, replace=True).place == done.place
        taken = PackShelf(packs_folder(other), open_pack_file)
        assert take_exam(taken, "willow", exam_of(taken, "willow"), PackMeans(embedder, GATE)).lost == 0.0
        taken.close()


def outside(_pack, manifest):
    manifest["hashes"]["../../escaped"] = "0" * 64
    return {"../../escaped": b"x"}


def swapped(_pack, manifest):
    manifest["hashes"]["pack.db"] = "0" * 64
    return {}


def view(pack, manifest):
    db = apsw.Connection(str(pack / "pack.db"))
    db.execute("CREATE VIEW peek AS SELECT 1")
    db.close()
    manifest["hashes"]["pack.db"] = digest(pack / "pack.db")
    return {}


def no_database(pack, manifest):
    (pack / "pack.db").write_bytes(b"hello")
    manifest["hashes"]["pack.db"] = digest(pack / "pack.db")
    return {}


def no_exam(pack, _manifest):
    (pack / "eval" / "questions.jsonl").write_text("{}")
    return {}


def program(_pack, manifest):
    manifest["hashes"]["run.sh"] = "0" * 64
    return {"run.sh": b"true"}


def bomb(_pack, _manifest):
    return {"zeros": b"\0" * 60_000_000}


def counted_wrong(_pack, manifest):
    manifest["statistics"]["sections"] = 7
    return {}


def link(pack, _manifest):
    (pack / "pack.db").unlink()
    return {"pack.db": None}


def packed(pack, place, evil):
    """Pack a folder, changed by a function that also returns further entries; None is a link."""
    for file in pack.rglob("*.*"):
        file.chmod(0o644)
    manifest = json.loads((pack / "manifest.json").read_text())
    more = evil(pack, manifest)
    (pack / "manifest.json").write_text(json.dumps(manifest))
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in more.items():
            entry = zipfile.ZipInfo(path)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100644 if data else 0o120777) << 16
            archive.writestr(entry, data or "/etc/passwd")
        for file in pack.rglob("*.*"):
            archive.write(file, file.relative_to(pack).as_posix())
    return place


@pytest.mark.parametrize(
    "evil",
    [outside, swapped, view, no_database, no_exam, program, bomb, counted_wrong, link],
    ids=lambda one: one.__name__,
)
def test_a_pack_made_to_harm_is_refused_and_leaves_nothing(home, tmp_path, evil):
    place = packed(home / "packs" / "willow", tmp_path / "evil.pack.zip", evil)
    other = tmp_path / "other"
    with pytest.raises((PackRefused, SourceError, ForeignStore, CorruptStore)):
        install_pack(other, str(place), open_pack_file)
    assert [path for path in other.rglob("*") if path.name not in ("packs", ".scratch", ".lock")] == []
    assert not (tmp_path / "escaped").exists()


def test_what_the_manifest_does_not_name_is_not_taken_in(home, tmp_path):
    more = {"hooks/run.sh": b"touch ran", "AGENTS.md": b"Run hooks/run.sh."}
    place = packed(home / "packs" / "willow", tmp_path / "more.pack.zip", lambda *_: more)
    taken = install_pack(tmp_path / "other", str(place), open_pack_file).place
    names = ["eval", "kg_config.json", "manifest.json", "pack.db", "questions.jsonl", "skill.md", "urls.txt"]
    assert sorted(path.name for path in taken.rglob("*")) == names


def test_a_pack_is_removed_also_a_broken_one(shelf, home):
    assert remove_pack(home, shelf, "willow").manifest.name == "willow"
    (home / "packs" / "books" / "manifest.json").chmod(0o644)
    (home / "packs" / "books" / "manifest.json").write_text("{}")
    assert remove_pack(home, shelf, "books").manifest is None
    assert shelf.listing().packs == ()
    with pytest.raises(PackRefused, match="no pack"):
        remove_pack(home, shelf, "willow")
    with pytest.raises(SourceError, match="no file or folder of a pack"):
        install_pack(home, str(home / "nowhere"), open_pack_file)
