"""Texts of any labelled set are ranked by words, by parts and by vectors, fused with weights that a person may set."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelled_files import write_labelled_set
from repertoire.app.measure.texts import TextOptions, evaluate_texts
from repertoire.app.wiring import open_texts
from repertoire.domain.errors import ForeignStore, InvalidRequest
from repertoire.domain.texts import DOCUMENT, PART, TextDocument, parts_of
from repertoire.retrieval.texts import WEIGHTS, TextRun, rank_texts, read_index
from repertoire.retrieval.walk import walk
from repertoire.store.database import Store
from repertoire.store.graph_file import open_graph_file
from repertoire.store.text_file import TEXT_FILE, add_documents

LONG = "\n".join(["Nothing of note happens in this line of a long page."] * 60)
CORPUS = [
    {
        "id": "pdf",
        "title": "Forms",
        "text": f"{LONG}\nFill a PDF from a spreadsheet.\n{LONG}",
        "repo": "a",
    },
    {"id": "sea", "text": "Reserve a berth for your yacht overnight.", "repo": "b"},
    {"id": "bread", "text": "Knead the dough and let it rest.", "repo": "b"},
]
QUERIES = [
    {"id": "q1", "text": "fill a PDF", "split": "dev", "repo": "a"},
    {"id": "q2", "text": "mooring for sailing boats", "split": "dev", "repo": "b"},
]


@pytest.fixture
def labelled(tmp_path):
    gold = "query-id\tcorpus-id\tscore\nq1\tpdf\t1\nq2\tsea\t1\n"
    return write_labelled_set(tmp_path / "set", CORPUS, QUERIES, gold)


def answered(folder, tmp_path, embedder=None, **more):
    run = tmp_path / "run.tsv"
    evaluate_texts(TextOptions(folder, run, **more), open_texts, embedder, report=lambda _: None)
    found = {}
    for line in run.read_text().splitlines():
        query, key, _, _ = line.split("\t")
        found.setdefault(query, []).append(key)
    return found


def test_words_and_vectors_find_what_each_alone_would_miss(labelled, tmp_path, embedder):
    assert answered(labelled, tmp_path) == {"q1": ["pdf"]}
    both = answered(labelled, tmp_path, embedder)
    assert [both["q1"][0], both["q2"][0]] == ["pdf", "sea"]


def test_a_repository_may_be_asked_alone(labelled, tmp_path, embedder):
    found = answered(labelled, tmp_path, embedder, scope_repo=True)
    assert found == {"q1": ["pdf"], "q2": ["sea", "bread"]}


def test_rankings_have_the_weights_that_a_person_gives(labelled, tmp_path):
    weights = {"words": 0.0, "parts": 1.0, "vectors": 0.0}
    assert answered(labelled, tmp_path, weights=weights) == {"q1": ["pdf"]}
    assert answered(labelled, tmp_path, weights=dict.fromkeys(WEIGHTS, 0.0)) == {}
    with pytest.raises(InvalidRequest, match="no such ranking: luck; the rankings are words, parts, vectors"):
        answered(labelled, tmp_path, weights={"luck": 1.0})


def test_stages_that_are_switched_off_or_weigh_nothing_say_so(tmp_path):
    with Store.open(tmp_path / "texts.db", file=TEXT_FILE) as store:
        add_documents(store, [TextDocument("a", "a berth"), TextDocument("b", "a loaf")], size=900, now="2026-01-01")
        index = read_index(store.graph, store.vectors, "m")
        run = TextRun("berth", store.graph, index, None, WEIGHTS, frozenset({"vectors"}))
        assert [key for key, _ in rank_texts(run, limit=9)] == ["a"]
    assert {report.stage: report.detail for report in run.stage_log.reports} == {
        "words": "1 ranked",
        "parts": "skipped: weighs nothing",
        "vectors": "skipped: switched off",
        "fuse": "1 fused",
    }


def test_a_text_index_is_a_graph_that_can_be_walked(tmp_path):
    with Store.open(tmp_path / "texts.db", file=TEXT_FILE) as store:
        add_documents(store, [TextDocument("a", LONG), TextDocument("b", "alone")], size=900, now="2026-01-01")
        index = read_index(store.graph, store.vectors, "m")
        assert index.keys == ("a", "b")
        assert set(index.topology.types) == {DOCUMENT, PART}
        walked = walk(index, np.array([0.0, -np.inf]))
        assert walked.ranks[0] > walked.ranks[1] == 0.0


def test_a_text_index_is_no_home(tmp_path):
    path = tmp_path / "texts.db"
    open_graph_file(path, TEXT_FILE).close()
    with closing(open_graph_file(path, TEXT_FILE)) as again:
        assert again.value("SELECT value FROM meta WHERE key = 'sort'") == "texts"
    with pytest.raises(ForeignStore, match="is a texts database, not a home database"):
        Store.open(path)


@given(st.text("a \n#", max_size=300), st.integers(1, 50))
def test_parts_are_short_and_lose_no_letter(text, size):
    parts = parts_of(text, size)
    assert all(0 < len(part) <= size for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
