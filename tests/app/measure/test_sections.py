"""The sections of a labelled set are searched as a pack is, beside FTS5, vectors and both fused."""

from __future__ import annotations

import pytest

from labelled_files import write_labelled_set
from repertoire.app.measure.sections import SectionOptions, evaluate_sections
from repertoire.app.wiring import open_new_pack
from repertoire.domain.errors import InvalidRequest

ROWS = [
    {"id": "soak#soaking", "page": "soak", "text": "# Soaking\n\nWillow rods lie in water."},
    {"id": "soak#how-long", "page": "soak", "text": "## How long\n\nFor seven days."},
    {"id": "bank#ledgers", "page": "bank", "text": "# Ledgers\n\nCompare the ledger with the bank."},
]
QUERY = {"id": "q", "text": "compare a ledger with the bank", "split": "dev"}
GOLD = "query-id\tcorpus-id\tscore\nq\tbank#ledgers\t1\n"


def measured(tmp_path, rows, embedder):
    options = SectionOptions(write_labelled_set(tmp_path / "set", rows, [QUERY], GOLD), tmp_path / "run.tsv", gate=0.48)
    return evaluate_sections(options, open_new_pack, embedder, report=lambda _: None)


def test_every_way_to_answer_is_measured_in_one_run(tmp_path, embedder):
    found = measured(tmp_path, ROWS, embedder)
    assert [*found.systems] == ["search", "fts5", "vectors", "rrf"]
    assert (found.queries, found.sections, found.refused) == (1, 3, 0.0)
    assert {one.section_hit_at_1 for one in found.systems.values()} == {100.0}
    assert {one.page_hit_at_1 for one in found.systems.values()} == {100.0}
    assert (tmp_path / "run.tsv").read_text().startswith("q\tbank#ledgers\t1\t")


def test_without_a_model_only_words_are_measured(tmp_path):
    assert [*measured(tmp_path, ROWS, None).systems] == ["search", "fts5"]


@pytest.mark.parametrize("row", [{"id": "x", "text": "a"}, {"id": "x", "page": "p", "text": "# a\n\nb\n\n# c\n\nd"}])
def test_rows_that_are_no_sections_are_refused(tmp_path, row):
    with pytest.raises(InvalidRequest, match="section"):
        measured(tmp_path, [row], None)
