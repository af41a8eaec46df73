"""A cross-encoder changes the order within bounds, and a broken one leaves the answer as it is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from repertoire.app.sources.embed import embed_pending
from repertoire.domain.answer import FAST, Query
from repertoire.domain.errors import ModelUnavailable
from repertoire.inference.embedder import load
from repertoire.inference.reranker import LocalReranker
from repertoire.inference.weights import BUNDLED, bundled
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH
from repertoire.retrieval.resources import Options
from repertoire.retrieval.stage_reports import TimeLimit
from repertoire.store.database import Store
from sample_home import fill

STAGE = "cross-encoder"


def cross_encoder(folder: Path, loved: str) -> Path:
    """Write a cross-encoder that counts how often a word stands in the pair: input_ids → number of its token."""
    folder.mkdir()
    vocabulary = json.loads((BUNDLED / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(BUNDLED / name, folder / name)
    (folder / "config.json").write_text('{"pad_token_id": 0}', encoding="utf-8")
    nodes = [
        helper.make_node("Equal", ["input_ids", "loved"], ["same"]),
        helper.make_node("Cast", ["same"], ["ones"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["ones", "axes"], ["logits"], keepdims=1),
    ]
    graph = helper.make_graph(
        nodes,
        "counting",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
        [
            numpy_helper.from_array(np.array([vocabulary[loved]], dtype=np.int64), "loved"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "axes"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


@pytest.fixture(scope="module")
def embedded(tmp_path_factory, embedder):
    with Store.open(tmp_path_factory.mktemp("shelf") / "repertoire.db") as store:
        fill(store)
        embed_pending(store, embedder)
        yield store


def ask(store, folder, text="release the repository", **more):
    options = Options(reranker=LocalReranker(folder) if folder else None, **more.pop("options", {}))
    pipeline = Pipeline(store.graph, store.vectors, embedder=load(bundled()), options=options)
    ranking = pipeline.rank(Query(text, **more), intent=SEARCH)
    return ranking, [hit.component.name for hit in pipeline.hits(ranking, ranking.rows)]


def test_it_scores_each_text_together_with_the_question(tmp_path):
    reranker = LocalReranker(cross_encoder(tmp_path / "model", "parcel"))
    assert reranker._model is None
    assert reranker.score("notes", ["a parcel", "nothing", "parcel, parcel"]).tolist() == [1.0, 0.0, 2.0]
    assert reranker.score("parcel", ["nothing"]).tolist() == [1.0]
    assert reranker.score("notes", []).tolist() == []
    assert reranker._model is not None


def test_answers_follow_the_configured_model(embedded, tmp_path):
    torn = "release the parcel repository"
    plain = ask(embedded, None, torn)[1]
    loved = "parcel" if plain.index("changelog") < plain.index("ship") else "repository"
    ranking, moved = ask(embedded, cross_encoder(tmp_path / "model", loved), torn)
    assert {plain.index("changelog"), plain.index("ship")} == {0, 1}
    assert moved[:2] == plain[1::-1]
    assert ranking.degraded == ()
    assert float(np.abs(ranking.parts[STAGE]).max()) <= 1.5


def test_another_model_gives_another_order(embedded, tmp_path):
    for_commits = ask(embedded, cross_encoder(tmp_path / "repository", "repository"))[0].parts[STAGE]
    for_parcels = ask(embedded, cross_encoder(tmp_path / "parcel", "parcel"))[0].parts[STAGE]
    assert np.argmax(for_commits) != np.argmax(for_parcels)


def test_none_is_loaded_unless_one_is_configured(embedded):
    ranking, _ = ask(embedded, None)
    assert STAGE not in [report.stage for report in ranking.report]


@pytest.mark.parametrize("broken", ["missing", "empty", "noise", "tokenizer", "shape"])
def test_a_broken_one_is_told_and_costs_nothing_else(embedded, tmp_path, broken):
    folder = tmp_path / "model"
    if broken == "empty":
        folder.mkdir()
    elif broken != "missing":
        cross_encoder(folder, "repository")
    if broken == "noise":
        (folder / "model.onnx").write_bytes(b"\xff" * 1000)
    elif broken == "tokenizer":
        (folder / "tokenizer.json").unlink()
    elif broken == "shape":
        shutil.copy(BUNDLED / "model.onnx", folder / "model.onnx")
    ranking, names = ask(embedded, folder)
    assert names == ask(embedded, None)[1]
    assert [note for note in ranking.degraded if note.startswith("no cross-encoder: ") and "rerank_model" in note]


def test_it_is_left_out_where_it_is_switched_off_not_worth_it_or_out_of_time(embedded, tmp_path):
    folder = cross_encoder(tmp_path / "model", "repository")
    for more in ({"without": frozenset({"rerank"})}, {"mode": FAST}, {"options": {"pace": TimeLimit(0.0)}}):
        ranking, _ = ask(embedded, folder, **more)
        assert STAGE not in ranking.parts
        assert any(report.stage == STAGE and "skipped" in report.detail for report in ranking.report)


def test_a_simple_question_with_a_clear_answer_is_not_asked_again(embedded, tmp_path):
    folder = cross_encoder(tmp_path / "model", "repository")
    assert STAGE not in ask(embedded, folder, "audit the accounting ledger postings")[0].parts


def test_importing_it_imports_no_model_library():
    code = (
        "import sys, repertoire.inference.reranker; print('fastembed' in sys.modules or 'onnxruntime' in sys.modules)"
    )
    server = str(Path(__file__).parents[2] / "server")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=server)
    assert done.stdout.strip() == "False"


def test_a_folder_without_a_model_says_what_to_do(tmp_path):
    with pytest.raises(ModelUnavailable, match="rerank_model"):
        LocalReranker(tmp_path).load()
