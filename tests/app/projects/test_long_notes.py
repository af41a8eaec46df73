"""A long note is found by any of its lines, whoever all notes tell of, and however it was cut when it was saved."""

from __future__ import annotations

from pathlib import Path

from repertoire.app.projects.embed import embed_pending
from repertoire.app.projects.entries import save_entry
from repertoire.app.projects.entry_requests import save_request
from repertoire.app.projects.knowledge import meaning
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.domain.project_questions import VECTOR

DAYS = ("wove a basket", "baked bread", "swam in a lake", "repaired a bicycle", "read a novel", "planted tulips")
TALK = "\n".join(f"Ada: on day {number} I walked to work and answered letters until noon." for number in range(28))


def save(project, days, embedder=None):
    for number, done in enumerate(days):
        lines = TALK.split("\n")
        lines[7 + number] = f"Ada: in the evening I {done} {number}."
        request = {"kind": "note", "title": f"Talk {number}", "body": "\n".join(lines), "apart": True}
        save_entry(project, save_request(request), embedder=embedder)


def test_the_line_that_answers_brings_its_note_by_meaning_alone(project, embedder):
    save(project, DAYS * 2, embedder)
    assert meaning(project, "Who fixed Ada's two-wheeler?", len(DAYS) * 2) == "Who fixed two-wheeler?"
    asked = MemoryQuery("Which vehicle did Ada mend?", ("note",), VECTOR, limit=2)
    hits = search_memory(project, asked, embedder=embedder).hits
    assert {hit.item.title for hit in hits} == {"Talk 3", "Talk 9"}
    assert {"meaning" in hit.why for hit in hits} == {True}


def test_notes_that_wait_for_vectors_and_were_cut_otherwise_are_cut_anew(project, embedder):
    save(project, DAYS[:3])
    entries = project.store.entries.all(["note"])
    for entry in entries:  # as they were cut before: in two
        texts = (entry.title, *(f"{entry.title}\n{entry.body[begin : begin + 900]}" for begin in (0, 900)))
        project.store.entries.put(entry, texts, now=entry.changed)
    done, missing = embed_pending(project.store, Path(project.root), embedder)
    assert missing == 0
    assert done > 8 * len(entries)
    assert project.missing_vectors(embedder.model)[0] == 0
    assert embed_pending(project.store, Path(project.root), embedder) == (0, 0)
    assert project.store.entries.all(["note"]) == entries
