"""Edges between sources are found at an ingest, for changed components only, and stay dismissed for good."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repertoire.app.ask.explain import _twins
from repertoire.app.ask.overlaps import EVERYWHERE, count_installed, dismiss, list_again, overlaps
from repertoire.app.clock import now
from repertoire.app.sources.relate import ACROSS, MEANING, TWINS, relate, relate_in_meaning
from repertoire.app.sources.settle import settle
from repertoire.domain.answer import DESCRIPTION_SPACE
from repertoire.domain.component import ALTERNATIVE_TO, CONFLICTS_WITH, MENTIONS, TWIN_OF, FileRecord, SourceInfo
from repertoire.domain.errors import InvalidRequest
from repertoire.store.database import Store

LINES = [f"Step {number}: look at the {word} before anything else is changed there." for number, word in enumerate(
    "schema index migration trigger query plan view table column key lock cache replica backup log".split()
)]  # fmt: skip
BODY = "\n".join(LINES)


def skill(name: str, description: str, body: str = BODY) -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"


def pairs(bench, relation: str) -> set[frozenset[str]]:
    ids = {outline.node_id: outline.id for outline in bench.store.graph.outlines()}
    return {frozenset((ids[row[0]], ids[row[1]])) for row in bench.store.graph.edges_of(relation)}


def ids(bench, name: str) -> list[str]:
    return sorted(outline.id for outline in bench.store.graph.outlines() if outline.name == name)


@pytest.fixture
def mirrored(bench):
    """Two sources with a copy, an edited copy, and what belongs to one alone."""
    files = {
        "skills/tune/SKILL.md": skill("tune", "Tunes PostgreSQL queries by their plans."),
        "skills/draw/SKILL.md": skill("draw", "Draws maps of harbours.", "Draw the quays first, then the water."),
    }
    bench.ingest(bench.write(files, under="one"))
    edited = skill("tune", "Tunes PostgreSQL queries by their plans.", "\n".join([*LINES[:-1], "## Locks", "New."]))
    bench.ingest(bench.write({"skills/tune/SKILL.md": edited, **dict(list(files.items())[1:])}, under="two"))
    return bench


def test_copies_in_two_sources_are_twins_and_say_how_alike_they_are(mirrored):
    assert pairs(mirrored, TWIN_OF) == {frozenset(ids(mirrored, "tune")), frozenset(ids(mirrored, "draw"))}
    evidence = sorted(row[4] for row in mirrored.store.graph.edges_of(TWIN_OF))
    assert evidence[0] == "same content"
    assert evidence[1] == "texts alike to 92%"
    assert pairs(mirrored, CONFLICTS_WITH) == set()


def test_reading_again_what_did_not_change_moves_nothing(mirrored):
    rows, revision = mirrored.rows(), mirrored.revision()
    mirrored.ingest(mirrored.root / "one")
    settle(mirrored.store)
    mirrored.store.similarities.note_compared(ACROSS, "")  # all is compared again, and found as it is
    relate(mirrored.store)
    assert (mirrored.rows(), mirrored.revision()) == (rows, revision)


def test_what_is_written_during_a_comparison_is_compared_the_next_time(mirrored, monkeypatch):
    store, draw = mirrored.store, ids(mirrored, "draw")[0]
    third = replace(store.graph.by_key(draw).component, id="three:draw.md", path="draw.md")
    begin = store.transaction

    def after_another_process_wrote():
        with Store.open(store.path) as other:
            record = FileRecord("draw.md", "any hash", (third,))
            other.sources.write(SourceInfo("three", "folder", "/three"), [record], [], derived=[], now=now())
        return begin()

    store.similarities.note_compared(ACROSS, "")
    with monkeypatch.context() as patched:
        patched.setattr(store, "transaction", after_another_process_wrote)
        relate(store)
    relate(store)

    assert frozenset((draw, third.id)) in pairs(mirrored, TWIN_OF)


def test_what_a_comparison_writes_is_no_reason_to_compare_again(mirrored, monkeypatch):
    store, read = mirrored.store, []
    store.sources.set_edges([], now=now(), file=TWINS)
    relate(store)
    assert pairs(mirrored, TWIN_OF)

    monkeypatch.setattr(store.similarities, "texts", lambda: read.append("again") or {})
    relate(store)

    assert read == []


def test_a_changed_file_is_the_only_one_whose_text_is_read_again(mirrored, monkeypatch):
    read: list[int] = []
    texts = mirrored.store.similarities.texts()
    original = mirrored.store.similarities.put
    monkeypatch.setattr(
        mirrored.store.similarities,
        "put",
        lambda carried, sketches: read.extend(c.node_id for c in carried) or original(carried, sketches),
    )
    mirrored.write({"skills/draw/SKILL.md": skill("draw", "Draws maps.", "Something else altogether.")}, under="two")
    mirrored.ingest(mirrored.root / "two")
    assert len(read) == 1
    assert pairs(mirrored, TWIN_OF) == {frozenset(ids(mirrored, "tune"))}
    after = mirrored.store.similarities.texts()
    assert [node for node in texts if texts[node] != after[node]] == read


def test_what_goes_takes_its_edges_and_its_sketch_along(mirrored):
    (mirrored.root / "two" / "skills" / "draw" / "SKILL.md").unlink()
    mirrored.ingest(mirrored.root / "two")
    assert pairs(mirrored, TWIN_OF) == {frozenset(ids(mirrored, "tune"))}
    mirrored.write({"skills/tune/SKILL.md": skill("tune", "Tunes.", "Short.")}, under="two")
    mirrored.ingest(mirrored.root / "two")
    assert pairs(mirrored, TWIN_OF) == set()
    assert len(mirrored.store.similarities.signatures()[0]) == len(set(mirrored.store.similarities.texts().values()))
    assert mirrored.store.similarities.known_pairs() == {}


def test_a_copy_differs_by_what_is_told_of_it(mirrored):
    first = ids(mirrored, "tune")[0]
    stored = mirrored.store.graph.by_key(first)
    (copy,) = _twins(mirrored.store, stored.component, mirrored.store.graph.links(first))
    assert copy.id == ids(mirrored, "tune")[1]
    assert copy.difference == "lines: 2 more, 1 less; only there: Locks"


def test_a_dismissed_finding_stays_away_until_one_of_the_two_changes(mirrored):
    def listed():
        return [(found.kind, found.first.name) for found in overlaps(mirrored.store, scope=EVERYWHERE).shown]

    before = listed()
    assert (TWIN_OF, "draw") in before
    (draw,) = [found for found in overlaps(mirrored.store, scope=EVERYWHERE).shown if found.first.name == "draw"]
    dismiss(mirrored.store, [draw.id], now=now())
    assert listed() == [found for found in before if found != (TWIN_OF, "draw")]
    assert overlaps(mirrored.store, scope=EVERYWHERE).dismissed == 1

    mirrored.write({"skills/tune/SKILL.md": skill("tune", "Tunes.", BODY + "\nOne more line.")}, under="one")
    mirrored.ingest(mirrored.root / "one")
    assert (TWIN_OF, "draw") not in listed()

    list_again(mirrored.store, [draw.id])
    assert (TWIN_OF, "draw") in listed()
    dismiss(mirrored.store, [draw.id.upper()], now=now())
    changed = skill("draw", "Draws maps of harbours.", "Draw the quays first, then the water, then the wind.")
    for under in ("one", "two"):
        mirrored.write({"skills/draw/SKILL.md": changed}, under=under)
        mirrored.ingest(mirrored.root / under)
    assert (TWIN_OF, "draw") in listed()


def test_dismissing_what_is_not_listed_changes_nothing(mirrored):
    (known, *_) = overlaps(mirrored.store, scope=EVERYWHERE).shown
    with pytest.raises(InvalidRequest, match="no overlap has the id 00000000"):
        dismiss(mirrored.store, [known.id, "00000000"], now=now())
    assert overlaps(mirrored.store, scope=EVERYWHERE).dismissed == 0


def test_what_touches_nothing_installed_is_only_counted(mirrored):
    found = overlaps(mirrored.store)
    assert found.shown == ()
    assert found.elsewhere == len(overlaps(mirrored.store, scope=EVERYWHERE).shown) > 0
    assert count_installed(mirrored.store) == 0


def beside_page_copy(bench, description: str) -> None:
    bench.ingest(
        bench.write(
            {
                "skills/popup-copy/SKILL.md": skill("popup-copy", description, "A."),
                "skills/page-copy/SKILL.md": skill("page-copy", "Writes the text of landing pages.", "B."),
            }
        )
    )


@pytest.mark.parametrize(("tools", "found"), [("Read", 1), ("codebase", 0)])
def test_what_another_client_reads_conflicts_with_nothing(bench, tools, found):
    ours = skill("tuner", "Tunes PostgreSQL queries.")
    other = skill(
        "tuner", f"Tunes the strings of pianos.\ntools: [{tools}]", "Turn each pin until its string is right."
    )
    bench.ingest(bench.write({"agents/tuner.md": ours}, under="one"))
    bench.ingest(bench.write({"agents/tuner.md": other}, under="two"))
    assert len(pairs(bench, CONFLICTS_WITH)) == found


def test_one_that_an_author_names_for_another_job_is_mentioned_and_overlaps_nothing(bench):
    beside_page_copy(bench, "Writes popups. For pages, use the page-copy skill.")
    ((_, _, _, _, evidence, _),) = bench.store.graph.edges_of(MENTIONS)
    assert evidence == "says: For pages, use the page-copy skill"
    assert overlaps(bench.store, scope=EVERYWHERE).shown == ()


def test_an_authors_word_tells_which_of_two_to_choose(bench):
    beside_page_copy(bench, "Writes popups. Use this skill instead of page-copy.")
    (found,) = overlaps(bench.store, scope=EVERYWHERE).shown
    assert found.evidence == "says: Use this skill instead of page-copy"
    assert (found.keep, found.advice) == ("", "choose as its author says; `repertoire mute ID` silences the other")


def test_alternatives_in_meaning_come_with_vectors_and_go_with_their_components(bench):
    import numpy as np

    tests = "Runs Playwright browser tests end to end."
    bench.ingest(bench.write({"skills/e2e/SKILL.md": skill("e2e", tests, "One.")}, under="one"))
    bench.ingest(
        bench.write(
            {"skills/browser/SKILL.md": skill("browser", "End-to-end testing with Playwright.", "Two.")}, under="two"
        )
    )
    rows = [(outline.node_id, outline.content_hash) for outline in bench.store.graph.outlines()]
    bench.store.vectors.put(DESCRIPTION_SPACE, "m", rows, np.array([[1.0, 0.0], [0.9, 0.436]], dtype=np.float32))

    relate_in_meaning(bench.store, "m")
    assert len(bench.store.graph.edges_of(ALTERNATIVE_TO)) == 1
    assert "descriptions alike to 0.90 in meaning" in bench.store.graph.edges_of(ALTERNATIVE_TO)[0][4]
    revision = bench.revision()
    for what in (ACROSS, MEANING):
        bench.store.similarities.note_compared(what, "")
    relate_in_meaning(bench.store, "m")
    relate(bench.store)
    assert bench.revision() == revision

    (bench.root / "two" / "skills" / "browser" / "SKILL.md").unlink()
    bench.ingest(bench.root / "two")
    assert bench.store.graph.edges_of(ALTERNATIVE_TO) == []
    assert not [key for key in bench.rows() if "browser" in key]
