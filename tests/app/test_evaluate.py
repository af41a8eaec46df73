"""The measurement from outside: a tiny labelled set, answered by the real pipeline with the real model."""

import json
import os
from pathlib import Path

import pytest

from repertoire.app.evaluate import PROMPT, SET, EvalOptions, Tools, evaluate
from repertoire.domain.errors import InvalidRequest
from repertoire.inference.embedder import load
from repertoire.inference.weights import bundled
from repertoire.store.database import Store

CORPUS = (
    ("ship-it", "skill", "Deploys a service to Kubernetes.\n# Ship it\nhelm upgrade", "acme/one", []),
    ("lint-charts", "skill", "Checks Helm charts for mistakes.\nhelm lint", "acme/one", []),
    ("read-mail", "agent", "Reads the inbox and sorts it.\nIMAP", "acme/two", []),
    ("tie-out", "agent", "Audits a ledger for postings that do not balance.\nbooks", "acme/two", []),
    ("fill-forms", "skill", "Fills PDF forms.\nfields", "acme/two", ["read-mail"]),
    *((f"filler-{i}", "command", f"Command number {i} about topic {i}.\n", "acme/two", []) for i in range(10)),
)
QUERIES = (
    ("q1", "roll out our service to the cluster", "dev", "acme/one", ["ship-it"]),
    ("q2", "the accounts do not balance", "dev", "acme/two", ["tie-out"]),
    *((f"t{i}", f"sort the mail of {who}", "train", "acme/two", ["read-mail"]) for i, who in enumerate("abcdefgh")),
    *((f"u{i}", f"fill in the form of {who}", "train", "acme/two", ["fill-forms"]) for i, who in enumerate("abcdefgh")),
)


@pytest.fixture(scope="module")
def tools():
    return Tools(load(bundled()))


@pytest.fixture
def labelled(tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    rows = [
        {"id": name, "type": kind, "name": name, "text": text, "repo": repo, "depends_on": needs}
        for name, kind, text, repo, needs in CORPUS
    ]
    queries = [{"id": key, "text": text, "split": split, "repo": repo} for key, text, split, repo, _ in QUERIES]
    for name, lines in (("corpus.jsonl", rows), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    gold = "".join(f"{key}\t{document}\t1\n" for key, *_, documents in QUERIES for document in documents)
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + gold)
    (folder / "edges.tsv").write_text(
        "source\ttarget\ttype\tcount\nship-it\tlint-charts\tfeeds\t3\ntie-out\te:books\tabout\n"
    )
    return folder


@pytest.fixture
def run(labelled, tools, tmp_path):
    def answer(**options):
        said = []
        path = tmp_path / "out" / "run.tsv"
        with Store.open(tmp_path / f"{len(list(tmp_path.iterdir()))}.db") as store:
            result = evaluate(EvalOptions(labelled, path, **options), store, tools=tools, report=said.append)
        rows = [line.split("\t") for line in path.read_text().splitlines()]
        assert result.rows == len(rows)
        return result, rows, said

    return answer


def documents(rows, query):
    return [document for key, document, _, _ in rows if key == query]


def test_every_query_of_the_split_is_answered_with_all_that_anything_speaks_for(run):
    result, rows, said = run()
    assert (result.queries, result.documents, result.learned) == (2, 15, 0)
    assert documents(rows, "q1")[0] == "ship-it"
    assert documents(rows, "q2")[0] == "tie-out"
    for query in ("q1", "q2"):
        ranks = [int(rank) for key, _, rank, _ in rows if key == query]
        assert ranks == list(range(1, len(ranks) + 1))
        assert len(ranks) >= 5
    assert result.p50_ms > 0
    assert result.documents_per_second > 0
    assert said[-1] == f"15 documents in {15 / result.documents_per_second:.1f} s, 0 requests learned, 2 queries"


def test_an_edge_end_that_is_not_in_the_corpus_is_never_returned(run):
    _, rows, _ = run()
    assert {document for _, document, _, _ in rows} <= {row[0] for row in CORPUS}


def test_edges_speak_unless_the_graph_is_switched_off(run):
    with_graph = documents(run()[1], "q1").index("lint-charts")
    without = documents(run(without=frozenset({"graph"}))[1], "q1").index("lint-charts")
    assert with_graph <= without
    assert with_graph == 1


def test_a_query_may_be_answered_from_its_own_repository_alone(run):
    _, rows, _ = run(scope_repo=True)
    assert set(documents(rows, "q1")) == {"ship-it", "lint-charts"}


def test_a_set_holds_what_would_be_recommended(run):
    _, rows, _ = run(mode=SET)
    assert 1 <= len(documents(rows, "q2")) <= 3
    assert documents(rows, "q2")[0] == "tie-out"


def test_a_prompt_is_answered_with_what_would_be_offered(run):
    _, rows, _ = run(mode=PROMPT)
    assert all(len(documents(rows, query)) <= 3 for query in ("q1", "q2"))


@pytest.mark.parametrize(("learn", "learned"), [("train", 16), ("train:3", 3)])
def test_past_requests_are_recorded_as_selections(run, learn, learned):
    assert run(learn=learn)[0].learned == learned


def test_kept_vectors_give_the_same_answers(run, tmp_path):
    _, fresh, _ = run()
    first, embedded, _ = run(cache=tmp_path / "cache")
    second, kept, _ = run(cache=tmp_path / "cache")
    assert (first.cached, second.cached) == (False, True)
    assert fresh == embedded == kept


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"split": "test"}, "has no split test; it has dev, train"),
        ({"mode": "poem"}, "choose search, set, prompt"),
        ({"without": frozenset({"luck"})}, "no such part: luck"),
        ({"learn": "train:many"}, "split:N with a whole number"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_what_can(run, options, said):
    with pytest.raises(InvalidRequest, match=said):
        run(**options)


def test_a_folder_that_is_no_set_is_refused(tmp_path, tools):
    with Store.open(tmp_path / "x.db") as store, pytest.raises(InvalidRequest, match=r"has no corpus\.jsonl"):
        evaluate(EvalOptions(tmp_path, tmp_path / "run.tsv"), store, tools=tools, report=print)


@pytest.mark.bench_data
def test_the_labelled_sets_are_answered_at_least_as_well_as_by_a_plain_search(tmp_path, tools):
    """One small set stands for all: `python bench/quality/run.py` measures the rest."""
    data = os.environ.get("REPERTOIRE_BENCH_DATA")
    if not data:
        pytest.skip("REPERTOIRE_BENCH_DATA is not set: the labelled sets are not here")
    folder = Path(data) / "metatool_multi"
    with Store.open(tmp_path / "x.db") as store:
        evaluate(EvalOptions(folder, tmp_path / "run.tsv"), store, tools=tools, report=print)
    ours = covered(folder, tmp_path / "run.tsv")
    plain = covered(folder, Path(data) / "plain_runs" / "metatool_multi.fused.tsv")
    assert ours > plain + 0.08


def covered(folder, run):
    gold, found = {}, {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, _ = line.split("\t")
        gold.setdefault(query, set()).add(document)
    for line in run.read_text().splitlines():
        query, document, rank, _ = line.split("\t")
        if query != "query-id" and int(rank) <= 5:
            found.setdefault(query, set()).add(document)
    dev = [json.loads(line)["id"] for line in (folder / "queries.jsonl").read_text().splitlines() if '"dev"' in line]
    return sum(gold[query] <= found.get(query, set()) for query in dev) / len(dev)
