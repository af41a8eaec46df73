"""Profiles and switches decide which stages a question to packs passes, and each stage does what its name says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from app.packs.documentation import build, write
from repertoire.app.packs.asking import chosen_stages
from repertoire.app.packs.exams import exam_of, take_exam
from repertoire.app.packs.places import packs_folder
from repertoire.app.packs.query import PackMeans, PackQuestion, bounded_gate, query_packs
from repertoire.app.packs.shelf import PackShelf
from repertoire.domain.errors import InvalidRequest, ModelUnavailable
from repertoire.domain.pack_stages import BASELINE, MAXIMUM, PROFILES, STAGES, stages_of
from repertoire.settings import Settings
from repertoire.store.pack_file import PackStore

DOCS = {
    "README.md": "# Weaving\n\nHow to weave a basket of willow. See [soaking](soak.md) and [tools](tools.md).\n",
    "soak.md": "# Soaking\n\nWillow rods lie in water for a week.\n\n## Before weaving\n\n### Rods\n\nTake them out.\n",
    "tools.md": "# Tools\n\nA bodkin opens the weave of a basket. Back to [weaving](README.md).\n",
    "copy.md": "# Soaking\n\nWillow rods lie in water for a week.\n",
}
EXAM = [
    {"id": "1", "question": "how does one open the weave", "gold": ["tools.md#tools"], "split": "dev"},
    {
        "id": "2",
        "question": "where do rods lie",
        "gold": ["copy.md#soaking"],
        "answer": "Rods lie in water",
        "split": "test",
    },
]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory, embedder):
    home = tmp_path_factory.mktemp("home")
    exam = home / "exam.jsonl"
    exam.write_text("\n".join(map(json.dumps, EXAM)))
    build(home, "willow", write(home / "docs", DOCS), embedder, exam=exam)
    opened = PackShelf(packs_folder(home), PackStore.open)
    yield opened
    opened.close()


class Reader:
    """A cross-encoder that prefers texts with one word, or is missing."""

    def __init__(self, word: str = "") -> None:
        self.word = word

    def load(self) -> None:
        if not self.word:
            message = "the folder holds no model"
            raise ModelUnavailable(message)

    def score(self, _question, texts):
        return np.array([float(self.word in text) for text in texts])


def ask(shelf, question, embedder, *on, off=(), profile=BASELINE, **more):
    means = PackMeans(embedder, 0.2, stages=stages_of(profile, on=on, off=off), reranker=more.pop("reranker", None))
    return query_packs(shelf, PackQuestion(question, **more), means)


def test_a_profile_is_changed_by_settings_and_then_by_the_asker():
    settings = Settings(pack_profile=BASELINE, pack_with="fewshot, graph", pack_without="dedupe")
    chosen = chosen_stages(settings, on=("dedupe",), off=("graph",))
    assert chosen == PROFILES[BASELINE] | {"fewshot"}
    assert chosen_stages(Settings(), MAXIMUM) == PROFILES[MAXIMUM]
    with pytest.raises(InvalidRequest, match="there is no 'guess'"):
        chosen_stages(Settings(), on=("guess",))
    with pytest.raises(InvalidRequest, match="setting pack_with names 'guess'"):
        chosen_stages(Settings(pack_with="guess"))


def test_of_sections_with_the_same_text_one_answers(shelf, embedder):
    question = "how long do willow rods lie in water"
    twice = [hit.passage.title for hit in ask(shelf, question, embedder, off=("dedupe",)).hits]
    once = [hit.passage.title for hit in ask(shelf, question, embedder).hits]
    assert (twice.count("Soaking"), once.count("Soaking")) == (2, 1)


def test_a_heading_without_text_is_no_answer(shelf, embedder):
    question = "before weaving"
    assert "Before weaving" in [hit.passage.title for hit in ask(shelf, question, embedder).hits]
    assert "Before weaving" not in [hit.passage.title for hit in ask(shelf, question, embedder, "quality").hits]


def test_documents_that_are_linked_with_the_best_follow_the_answer(shelf, embedder):
    found = ask(shelf, "what does a bodkin open", embedder, "multidoc", limit=1)
    assert [hit.passage.citation for hit in found.hits] == ["tools.md#tools"]
    assert [hit.passage.article for hit in found.linked] == ["README.md"]
    assert not ask(shelf, "what does a bodkin open", embedder, limit=1).linked


def test_a_question_of_the_exam_speaks_for_its_sections_unless_it_is_held_back_or_kept_for_a_test(shelf, embedder):
    def score(question, *on, **more):
        hits = ask(shelf, question, embedder, *on, limit=9, **more).hits
        return {hit.passage.citation: hit.score for hit in hits}

    plain, told = (score(EXAM[0]["question"], *on) for on in ((), ("fewshot",)))
    assert told["tools.md#tools"] > plain["tools.md#tools"] + 0.2
    assert score(EXAM[0]["question"], "fewshot", held_back=EXAM[0]["question"]) == plain
    assert score(EXAM[1]["question"], "fewshot") == score(EXAM[1]["question"])


def test_a_cross_encoder_orders_the_answer_and_one_that_is_missing_is_told(shelf, embedder):
    read = ask(shelf, "how long do rods lie in water", embedder, "cross_encoder", reranker=Reader("Take"))
    assert read.hits[0].passage.citation == "soak.md#rods"
    missing = ask(shelf, "how long do rods lie in water", embedder, "cross_encoder", reranker=Reader())
    assert missing.hits[0].passage.title == "Soaking"
    assert missing.degraded == ("no cross_encoder: the folder holds no model",)
    none = ask(shelf, "how long do rods lie in water", embedder, profile=MAXIMUM)
    assert not none.degraded


@pytest.mark.parametrize("stage", ["multi_query", "graph", "reranker"])
def test_each_further_stage_leaves_a_report_and_an_answer(shelf, embedder, stage):
    found = ask(shelf, "what is a bodkin and how long do rods lie", embedder, stage)
    assert found.hits
    told = {report.stage: report.detail for report in found.reports["willow"]}
    assert not told[stage].startswith("skipped")
    assert all(
        told[other].startswith("skipped")
        for other in STAGES
        if other in told and other not in {*PROFILES[BASELINE], stage}
    )


def test_without_the_gate_every_pack_answers(shelf, embedder):
    asked = "configure a kubernetes ingress with tls"
    assert not query_packs(shelf, PackQuestion(asked), PackMeans(embedder, 0.6)).covered
    assert query_packs(
        shelf, PackQuestion(asked), PackMeans(embedder, 0.6, stages=PROFILES[BASELINE] - {"gate"})
    ).covered


def test_an_exam_counts_copies_as_one_answer_reads_splits_and_measures_reference_answers(shelf, embedder):
    score = take_exam(shelf, "willow", exam_of(shelf, "willow"), PackMeans(embedder, 0.2), split="test")
    assert (score.questions, score.search.section_in_5) == (1, 100.0)
    assert (score.nuggets, score.words_nuggets) == (100.0, 100.0)
    assert score.gate is None  # too few questions tell no gate
    with pytest.raises(InvalidRequest, match="it has dev, test"):
        take_exam(shelf, "willow", exam_of(shelf, "willow"), PackMeans(embedder, 0.2), split="other")


def test_the_manifest_of_a_stranger_can_neither_open_nor_raise_the_gate():
    assert (bounded_gate(0.0, 0.42), bounded_gate(0.3, 0.42), bounded_gate(0.9, 0.42)) == (0.25, 0.3, 0.42)
