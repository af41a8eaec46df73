"""The rows of a labelled set are saved and searched as notes of projects, beside FTS5, vectors and both fused."""

from __future__ import annotations

import pytest

from labelled_files import write_labelled_set
from repertoire.app.measure.notes import NoteOptions, evaluate_notes
from repertoire.app.wiring import open_project
from repertoire.domain.errors import InvalidRequest

ROWS = (
    {"id": "a1", "text": "Ann: what became of the willow rods?", "repo": "a", "session": "one"},
    {"id": "a2", "text": "Bob: soaked them for a week", "repo": "a", "session": "one"},
    {"id": "a3", "text": "Bob: the kiln is cold", "repo": "a", "session": "two"},
    {"id": "b1", "name": "The bank", "text": "It keeps the ledger.\nIt opens at nine.", "repo": "b"},
)
ASKED = (
    {"id": "w", "text": "the willow rods", "split": "dev", "repo": "a", "kind": "plain"},
    {"id": "l", "text": "ledger", "split": "dev", "repo": "b", "kind": "plain"},
    {"id": "n", "text": "when is the harbour closed", "split": "dev", "repo": "a", "answerable": False},
    {"id": "t", "text": "kiln", "split": "test", "repo": "a"},
)
GOLD = "query-id\tcorpus-id\tscore\nw\ta1\t1\nw\ta2\t1\nl\tb1\t1\nn\ta3\t1\n"


@pytest.fixture
def labelled(tmp_path):
    return write_labelled_set(tmp_path / "set", ROWS, ASKED, GOLD)


def measured(folder, tmp_path, embedder, **more):
    options = NoteOptions(folder, tmp_path / "run.tsv", **more)
    return evaluate_notes(options, open_project, embedder, report=lambda _: None)


def test_every_way_to_answer_is_measured_in_one_run_and_each_project_answers_from_its_own_notes(
    labelled, tmp_path, embedder
):
    found = measured(labelled, tmp_path, embedder)
    assert (found.queries, found.notes) == (3, 4)
    assert {*found.figures} == {"all", "answerable", "plain"}
    assert [*found.figures["all"]] == ["search", "fts5", "vectors", "rrf"]
    assert found.figures["answerable"]["search"].hit_at_1 == 100.0
    run = [line.split("\t") for line in (tmp_path / "run.tsv").read_text().splitlines()]
    assert ["w", "a1", "1", "1.000000"] in run
    assert {row[1] for row in run if row[0] == "l"} == {"b1"}


def test_a_row_that_follows_a_right_one_in_its_session_is_found_by_words_that_it_lacks(labelled, tmp_path, embedder):
    found = measured(labelled, tmp_path, embedder)
    assert found.figures["plain"]["search"].recall_at_5 == 100.0
    run = [line.split("\t") for line in (tmp_path / "run.tsv").read_text().splitlines()]
    assert ["w", "a2", "2", "0.500000"] in run


def test_what_is_no_labelled_set_of_notes_is_refused_with_the_reason(labelled, tmp_path):
    with pytest.raises(InvalidRequest, match="has no split train"):
        measured(labelled, tmp_path, None, split="train")
    with pytest.raises(InvalidRequest, match=r"has no queries\.jsonl"):
        measured(tmp_path, tmp_path, None)
