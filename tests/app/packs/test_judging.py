"""A judged run goes from tasks over blind pairs to paired figures; a pack that does not help says so."""

from __future__ import annotations

import json
import shutil

import pytest

from app.packs.documentation import WILLOW, build, write
from repertoire.app.packs.judging import JudgedRun, next_step
from repertoire.app.packs.places import packs_folder
from repertoire.app.packs.query import PackMeans, gate_of
from repertoire.app.packs.shelf import PackShelf
from repertoire.documentation.judging import ORDERS, WITH, WITHOUT, judged, pairs_of
from repertoire.domain.errors import InvalidRequest
from repertoire.rendering.pack_work import judge_step_text
from repertoire.rendering.packs import pack_text
from repertoire.store.pack_file import PackStore

EXAM = [
    {
        "id": f"q{n}",
        "question": f"how long do {n} willow rods lie in water",
        "gold": ["guide/soak.md#soaking"],
        "answer": "a week",
    }
    for n in range(12)
]
GOOD, POOR = "For a week.", "I do not know."


@pytest.fixture
def shelf(tmp_path):
    exam = tmp_path / "exam.jsonl"
    exam.write_text("\n".join(map(json.dumps, EXAM)))
    build(tmp_path, "willow", write(tmp_path / "docs", WILLOW), exam=exam)
    opened = PackShelf(packs_folder(tmp_path), PackStore.open)
    yield opened
    opened.close()


def rows(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def put(file, values):
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(map(json.dumps, values)))


def judge(shelf, folder, taste, **more):
    """Take all steps of a judged run; `taste` gives the points of an answer."""
    run = JudgedRun("willow", folder, **more)
    means = PackMeans(None, 0.4)
    tasks = next_step(shelf, run, means, day="2026-11-24")
    assert [file.name for file in tasks.written] == ["with.jsonl", "without.jsonl"]
    for arm, answer in ((WITH, GOOD), (WITHOUT, POOR)):
        put(
            folder / "answers" / f"{arm}.jsonl",
            [{"id": row["id"], "answer": answer} for row in rows(folder / "tasks" / f"{arm}.jsonl")],
        )
    next_step(shelf, run, means, day="2026-11-24")
    for order in ORDERS:
        pairs = rows(folder / "pairs" / f"{order}.jsonl")
        put(
            folder / "judged" / f"{order}.jsonl",
            [{"id": one["id"], "A": taste(one["A"]), "B": taste(one["B"])} for one in pairs],
        )
    return next_step(shelf, run, means, day="2026-11-24")


def test_tasks_with_the_pack_hold_passages_and_pairs_are_blind_and_swapped(shelf, tmp_path):
    folder = tmp_path / "run"
    done = judge(shelf, folder, lambda text: 9 if text == GOOD else 3, answerer="one", judge="two")
    assert rows(folder / "tasks" / "with.jsonl")[0]["passages"][0]["citation"].startswith("guide/soak.md")
    assert set(rows(folder / "tasks" / "without.jsonl")[0]) == {"id", "question"}
    first, second = (rows(folder / "pairs" / f"{order}.jsonl") for order in ORDERS)
    assert not {one["id"] for one in first} & {one["id"] for one in second}
    swapped = {one["question"]: (one["B"], one["A"]) for one in second}
    assert {one["question"]: (one["A"], one["B"]) for one in first} == swapped
    assert len({one["A"] for one in first}) == 2, "either arm stands first"
    found = done.judgement
    assert (found.points_with, found.points_without, found.gain, found.position) == (9.0, 3.0, 6.0, 0.0)
    assert found.beats
    assert "better with the pack" in judge_step_text(done)
    assert "difference 6.0 (6.0 to 6.0, 12 questions, judge two)" in pack_text(shelf.manifest("willow"))
    assert "not better" not in pack_text(shelf.manifest("willow"))
    assert gate_of(shelf.manifest("willow"), 0.4) == 0.4


def test_a_task_quotes_a_long_section_from_the_part_that_answers(tmp_path, embedder):
    exam = tmp_path / "exam.jsonl"
    exam.write_text(
        json.dumps({"id": "q", "question": "how long do willow rods soak in water", "gold": ["a.md#notes"]})
    )
    text = "# Notes\n\n" + "The harbour was quiet. " * 300 + "\n\nWillow rods soak in water for seven days.\n"
    build(tmp_path, "long", write(tmp_path / "docs", {"a.md": text}), embedder, exam=exam)
    shelf = PackShelf(packs_folder(tmp_path), PackStore.open)
    next_step(shelf, JudgedRun("long", tmp_path / "run"), PackMeans(embedder, 0.4), day="2026-11-24")
    shelf.close()
    (task,) = rows(tmp_path / "run" / "tasks" / "with.jsonl")
    assert "seven days" in task["passages"][0]["text"]


def test_a_pack_that_does_not_beat_answers_without_it_says_so(shelf, tmp_path):
    done = judge(shelf, tmp_path / "run", lambda _: 5, answerer="one", judge="two")
    assert not done.judgement.beats
    assert "does not beat" in judge_step_text(done)
    assert "not better than without the pack" in pack_text(shelf.manifest("willow"))


@pytest.mark.parametrize(("answerer", "judge_"), [("", ""), ("one", ""), ("One", "one ")])
def test_nobody_judges_its_own_answers(shelf, tmp_path, answerer, judge_):
    with pytest.raises(InvalidRequest, match="nobody judges its own answers"):
        judge(shelf, tmp_path / "run", lambda _: 5, answerer=answerer, judge=judge_)


def test_points_that_are_none_and_pairs_that_were_left_out_are_told(shelf, tmp_path):
    with pytest.raises(InvalidRequest, match="has no points"):
        judge(shelf, tmp_path / "run", lambda _: 11, answerer="one", judge="two")
    file = tmp_path / "run" / "judged" / "first.jsonl"
    put(file, [{**row, "A": 5, "B": 5} for row in rows(file)][1:])
    put(
        tmp_path / "run" / "judged" / "second.jsonl",
        [{**row, "A": 5, "B": 5} for row in rows(tmp_path / "run" / "judged" / "second.jsonl")],
    )
    with pytest.raises(InvalidRequest, match="was not judged in both orders"):
        next_step(shelf, JudgedRun("willow", tmp_path / "run", "one", "two"), PackMeans(None, 0.4), day="")


def test_answers_that_changed_after_the_pairs_were_written_are_told(shelf, tmp_path):
    folder = tmp_path / "run"
    judge(shelf, folder, lambda _: 5, answerer="one", judge="two")
    answers = folder / "answers" / "without.jsonl"
    put(answers, [{**row, "answer": "Seven days."} for row in rows(answers)])
    run = JudgedRun("willow", folder, "one", "two")
    with pytest.raises(InvalidRequest, match="changed after the pairs were written"):
        next_step(shelf, run, PackMeans(None, 0.4), day="")
    for part in ("pairs", "judged"):
        shutil.rmtree(folder / part)
    assert [file.parent.name for file in next_step(shelf, run, PackMeans(None, 0.4), day="").written] == ["pairs"] * 2


def test_a_judge_who_prefers_what_stands_first_moves_no_figure_but_the_position():
    asked = {f"q{n}": (f"question {n}", "") for n in range(20)}
    answers = {WITH: dict.fromkeys(asked, "a"), WITHOUT: dict.fromkeys(asked, "b")}
    pairs = pairs_of(asked, answers, "secret")
    given = {order: {pair.id: (7.0, 5.0) for pair in pairs[order]} for order in ORDERS}
    found = judged(asked, given, "secret")
    assert (found.gain, found.low, found.high, found.position) == (0.0, 0.0, 0.0, 2.0)
