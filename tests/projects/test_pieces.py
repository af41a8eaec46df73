"""What is embedded of a text and of a question: pieces that say one thing each, and no name that all entries have."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from repertoire.app.projects.entry_texts import texts_of_entry
from repertoire.domain.project import Entry
from repertoire.projects.common_names import names_in, without_common_names
from repertoire.projects.pieces import SMALL_CHARACTERS, small_pieces


def told(body):
    return [*texts_of_entry(Entry("note:a", "note", "Kiln", body=body)).values()][1:]


def test_a_short_note_stays_whole_and_a_long_one_is_cut_into_pieces_that_overlap_by_a_line():
    lines = [f"{number:03} the kiln cools slowly so that no glaze cracks" for number in range(40)]
    assert told("\n".join(lines[:15])) == ["\n".join(["Kiln", *lines[:15]])]
    cut = [piece.split("\n") for piece in told("\n".join(lines))]
    assert all(piece[0] == "Kiln" and len("\n".join(piece[1:])) <= SMALL_CHARACTERS for piece in cut)
    assert all(after[1] == before[-1] for before, after in itertools.pairwise(cut))
    assert list(dict.fromkeys(line for piece in cut for line in piece[1:])) == lines


@given(st.lists(st.text("ab .", max_size=400), max_size=20))
def test_small_pieces_hold_every_line_that_says_something_and_each_adds_one(lines):
    covered = [(piece.start, piece.end) for piece in small_pieces(lines, "title")]
    saying = [number for number, line in enumerate(lines, 1) if any(map(str.isalnum, line))]
    assert {number for start, end in covered for number in range(start, end + 1)} >= {*saying}
    assert all(after[1] > before[1] for before, after in itertools.pairwise(covered))


def test_names_that_most_entries_have_are_left_out_of_what_is_compared_by_meaning():
    question = "What did Ada's kiln cost Robin in Rome?"
    assert names_in(question) == ["ada", "robin", "rome"]
    frequency = {"ada": 70, "robin": 69, "rome": 2, "kiln": 100}
    assert without_common_names(question, frequency, 100) == "What did kiln cost Robin in Rome?"
    assert without_common_names("What about Ada?", frequency, 100) == "What about Ada?"
    assert without_common_names(question, {"ada": 9}, 9) == question
