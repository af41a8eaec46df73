"""The files of a labelled set are read and searched as a project is, beside FTS5, vectors and both fused."""

from __future__ import annotations

import io
import json
import tarfile

import pytest

from repertoire.app.measure.projects import CodeOptions, evaluate_code
from repertoire.app.wiring import open_project
from repertoire.domain.errors import InvalidRequest

TREE = {
    "src/willow.py": "def soak(rods):\n    return rods\n\n\ndef peel(rods):\n    return rods\n",
    "src/bank.py": "def compare_ledger(bank):\n    return bank\n",
    "README.md": "# Baskets\n\n## Soaking\n\nWillow lies in water.\n\n## Ledgers\n\nKept by the bank.\n",
}
ASKED = (
    {"id": "c", "text": "compare the ledger with the bank", "split": "dev", "mode": "code"},
    {"id": "d", "text": "willow in water", "split": "dev", "mode": "docs"},
    {"id": "n", "text": "peel", "split": "dev", "mode": "code"},
    {"id": "t", "text": "compare", "split": "test", "mode": "code"},
)
GOLD = "query-id\tcorpus-id\tscore\nc\tsrc/bank.py:1-2\t1\nd\tREADME.md:3-5\t1\nn\tsrc/willow.py:1-1\t1\n"


@pytest.fixture
def labelled(tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    with tarfile.open(folder / "tree.tar.xz", "w:xz") as packed:
        for path, text in TREE.items():
            row = tarfile.TarInfo(path)
            row.size = len(text)
            packed.addfile(row, io.BytesIO(text.encode()))
    (folder / "queries.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in ASKED))
    (folder / "qrels.tsv").write_text(GOLD)
    return folder


def measured(folder, tmp_path, embedder, **more):
    options = CodeOptions(folder, tmp_path / "run.tsv", **more)
    return evaluate_code(options, open_project, embedder, report=lambda _: None)


def test_every_way_to_answer_is_measured_in_one_run_and_a_result_is_right_that_shares_a_line(
    labelled, tmp_path, embedder
):
    found = measured(labelled, tmp_path, embedder)
    assert found.queries == 3
    assert {view: [*systems] for view, systems in found.figures.items()} == {
        "code": ["search", "fts5", "vectors", "rrf"],
        "docs": ["search", "fts5", "vectors", "rrf"],
    }
    assert found.figures["docs"]["search"].hit_at_1 == 100.0
    # `peel` is found first, and stands below the line that is labelled
    assert (found.figures["code"]["fts5"].hit_at_1, found.figures["code"]["fts5"].recall_at_10) == (50.0, 50.0)
    run = [line.split("\t") for line in (tmp_path / "run.tsv").read_text().splitlines()]
    assert ["c", "src/bank.py:1-2", "1", "1.000000"] in run
    assert {row[0] for row in run} == {"c", "d", "n"}


def test_a_row_that_is_a_file_itself_is_right_as_a_whole_and_without_a_model_only_words_are_measured(tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    rows = [{"id": "one", "text": "def soak():\n    pass\n"}, {"id": "two", "text": "def weave():\n    pass\n"}]
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "queries.jsonl").write_text(json.dumps({"id": "q", "text": "weave", "split": "dev"}))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\ttwo\t1\n")
    figures = measured(folder, tmp_path, None).figures["code"]
    assert {name: one.mrr for name, one in figures.items()} == {"search": 100.0, "fts5": 100.0}


def test_what_is_no_labelled_set_is_refused_with_the_reason(labelled, tmp_path):
    with pytest.raises(InvalidRequest, match="has no split train"):
        measured(labelled, tmp_path, None, split="train")
    with pytest.raises(InvalidRequest, match=r"has no queries\.jsonl"):
        measured(tmp_path, tmp_path, None)
