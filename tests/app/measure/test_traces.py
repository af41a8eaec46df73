"""The traces of a labelled set are imported and searched as users search, beside words, vectors, both and a blend."""

from __future__ import annotations

import json

import pytest

from labelled_files import write_labelled_set
from repertoire.app.measure.traces import TraceOptions, evaluate_traces
from repertoire.app.wiring import open_repertoire
from repertoire.domain.errors import InvalidRequest

OVEN = "The loaves come out flat although the dough rose overnight."
KILN = "ValueError: kiln 'north' is not lit"
ROWS = (
    {"id": "flat", "title": "Flat loaves", "text": f"{OVEN}\nHeat the stone first.", "solution_at": len(OVEN) + 1},
    {"id": "cold", "text": f"{KILN}\nLight it before it is loaded.", "solution_at": len(KILN) + 1, "tags": ["kiln"]},
    {"id": "rods", "title": "Brittle willow", "text": "Willow rods snap when bent.\nSoak them for a week."},
)
ASKED = (
    {"id": "bread", "text": "my bread is flat although it rose", "split": "dev"},
    {"id": "kiln", "text": "Traceback\nValueError: kiln 'south' is not lit", "split": "dev", "place": "stderr"},
    {"id": "kept", "text": "willow", "split": "test"},
)
GOLD = "query-id\tcorpus-id\tscore\nbread\tflat\t1\nkiln\tcold\t1\nkept\trods\t1\n"


@pytest.fixture
def labelled(tmp_path):
    return write_labelled_set(tmp_path / "set", ROWS, ASKED, GOLD)


def measured(folder, tmp_path, environment=None, **more):
    said = []
    (tmp_path / "home").mkdir(exist_ok=True)
    with open_repertoire(tmp_path / "home", environment=environment or {}) as opened:
        found = evaluate_traces(TraceOptions(folder, tmp_path / "run.tsv", **more), opened, report=said.append)
    return found, said


def test_every_way_to_answer_finds_a_trace_by_its_own_words_in_one_run(labelled, tmp_path):
    found, said = measured(labelled, tmp_path)
    assert said == ["3 traces, 0 lines left out"]
    assert found.queries == 2
    assert [*found.systems] == ["search", "fts5", "vectors", "rrf", "blend"]
    assert {name: figures.hit_at_1 for name, figures in found.systems.items()} == dict.fromkeys(found.systems, 100.0)
    run = [line.split("\t") for line in (tmp_path / "run.tsv").read_text().splitlines()]
    assert {row[0]: row[1] for row in run if row[2] == "1"} == {"bread": "flat", "kiln": "cold"}


def test_silence_is_measured_with_the_right_trace_taken_out(labelled, tmp_path):
    found, _ = measured(labelled, tmp_path)
    assert (found.held_back, found.false_fits) == (0.0, 0.0)
    (labelled / "qrels.tsv").write_text(GOLD.replace("bread\tflat", "bread\trods").replace("kiln\tcold", "kiln\trods"))
    found, _ = measured(labelled, tmp_path)
    assert found.systems["search"].hit_at_1 == 0.0
    assert found.false_fits == 100.0


def test_a_home_that_has_traces_is_asked_and_nothing_is_imported(labelled, tmp_path):
    measured(labelled, tmp_path)
    (labelled / "corpus.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in ROWS[:2]))
    found, said = measured(labelled, tmp_path, at_home=True)
    assert said == []
    assert found.systems["search"].hit_at_1 == 100.0


def test_without_a_model_only_the_search_and_full_text_are_measured(labelled, tmp_path):
    found, _ = measured(labelled, tmp_path, {"REPERTOIRE_MODEL": "none"})
    assert [*found.systems] == ["search", "fts5"]
    assert found.systems["fts5"].hit_at_1 == 100.0


def test_a_split_without_a_question_is_refused_with_the_reason(labelled, tmp_path):
    with pytest.raises(InvalidRequest, match="no split train; it has dev, test"):
        measured(labelled, tmp_path, split="train")
