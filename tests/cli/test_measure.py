"""Labels that no one could measure with: the command names the file and the line."""

from __future__ import annotations

import pytest

QUERY = b'{"text": "fill a form", "split": "test"}\n'


@pytest.mark.parametrize(
    ("queries", "corpus", "named"),
    [
        (QUERY + b"not json\n", b"", "queries.jsonl:2"),
        (b"[]\n", b"", "queries.jsonl:1"),
        (b'{"split": "test"}\n', b"", "queries.jsonl:1"),
        (b"[" * 100_000, b"", "queries.jsonl:1"),
        (QUERY, b'\n{"id": "a", "text": "\xff"}\n', "corpus.jsonl:2"),
        (QUERY, b'{"text": "a"}\n', "corpus.jsonl:1"),
    ],
)
def test_a_line_of_a_set_that_is_none_is_named(run, tmp_path, queries, corpus, named):
    (tmp_path / "project/queries.jsonl").write_bytes(queries)
    (tmp_path / "project/corpus.jsonl").write_bytes(corpus)
    done = run("eval", ".", "--run", "run.tsv", "--split", "test")
    assert done.returncode == 2
    assert f"{named} must be a JSON object" in done.stderr


@pytest.mark.parametrize("label", [b"\xff", b"[]", b'{"id": "a", "expected": [], "text": ""}'])
def test_a_line_that_is_no_label_is_named(run, tmp_path, label):
    (tmp_path / "project/labels.jsonl").write_bytes(label)
    done = run("trust", "eval", ".")
    assert done.returncode == 2
    assert "labels.jsonl:1 is no label" in done.stderr
