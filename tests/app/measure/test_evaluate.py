"""The evaluation answers a tiny labelled set with the real pipeline and the real model."""

import json
import os
from pathlib import Path

import pytest

from labelled_files import write_labelled_set
from repertoire.app.ask.search import search
from repertoire.app.measure.evaluate import PROMPT, SET, TASK, EvalOptions, evaluate
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.ingest import ingest
from repertoire.app.wiring import build_repertoire, open_repertoire
from repertoire.domain.answer import Query
from repertoire.domain.errors import InvalidRequest
from repertoire.inference.embedder import IdleEmbedder
from repertoire.inference.weights import bundled
from repertoire.settings import Settings
from repertoire.store.database import Store
from sample_home import fill

UNHURRIED = Settings(query_ms=60_000)  # how busy a machine is must not decide what is found

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
def embedder():
    return IdleEmbedder(bundled())


@pytest.fixture
def labelled(tmp_path):
    rows = [
        {"id": name, "type": kind, "name": name, "text": text, "repo": repo, "depends_on": needs}
        for name, kind, text, repo, needs in CORPUS
    ]
    queries = [{"id": key, "text": text, "split": split, "repo": repo} for key, text, split, repo, _ in QUERIES]
    gold = "".join(f"{key}\t{document}\t1\n" for key, *_, documents in QUERIES for document in documents)
    folder = write_labelled_set(tmp_path / "set", rows, queries, "query-id\tcorpus-id\tscore\n" + gold)
    (folder / "edges.tsv").write_text(
        "source\ttarget\ttype\tcount\nship-it\tlint-charts\tfeeds\t3\ntie-out\te:books\tabout\n"
    )
    return folder


def test_a_row_that_names_no_component_is_refused_by_its_id(tmp_path):
    queries = [{"id": "q1", "text": "fill in a form", "split": "dev"}]
    folder = write_labelled_set(tmp_path / "set", [{"id": "a", "text": "Fills PDF forms."}], queries, "q1\ta\t1\n")
    with Store.open(tmp_path / "set.db") as store:
        opened = build_repertoire(tmp_path, UNHURRIED, store, None)
        with pytest.raises(InvalidRequest, match=r"row a of corpus\.jsonl must have type and name"):
            evaluate(EvalOptions(folder, tmp_path / "run.tsv"), opened, report=print)


@pytest.fixture
def run(labelled, embedder, tmp_path):
    def answer(**options):
        said = []
        path = tmp_path / "out" / "run.tsv"
        with Store.open(tmp_path / f"{len(list(tmp_path.iterdir()))}.db") as store:
            opened = build_repertoire(tmp_path, UNHURRIED, store, embedder)
            result = evaluate(EvalOptions(labelled, path, **options), opened, report=said.append)
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
    assert f"15 documents in {15 / result.documents_per_second:.1f} s, 0 requests learned, 2 queries" in said


def test_what_is_not_as_users_have_it_is_told(run):
    result, _, said = run()
    told = "\n".join(result.missing)
    assert "no starter catalogue" in told
    assert "relations that no ingest makes: given:feeds 1, given:about 1" in told
    assert all(f"differs from a user's home: {line}" in said for line in result.missing)


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


def test_what_a_row_tells_can_be_installed_as_from_a_clone_since_a_hint_names_nothing_else(
    labelled, embedder, tmp_path
):
    with Store.open(tmp_path / "rows.db") as store:
        evaluate(
            EvalOptions(labelled, tmp_path / "run"), build_repertoire(tmp_path, UNHURRIED, store, embedder), report=str
        )
        found = store.graph.components([row.node_id for row in store.graph.summaries()]).values()
    assert all(entry.component.install for entry in found if entry.component.type == "skill")


@pytest.mark.parametrize(("learn", "learned"), [("train", 16), ("train:3", 3)])
def test_past_requests_are_recorded_as_selections(run, learn, learned):
    assert run(learn=learn)[0].learned == learned


def test_kept_vectors_give_the_same_answers(run, tmp_path):
    _, fresh, _ = run()
    _, embedded, _ = run(cache=tmp_path / "cache")
    (file,) = (tmp_path / "cache").iterdir()
    before = file.stat().st_mtime_ns
    _, kept, _ = run(cache=tmp_path / "cache")
    assert file.stat().st_mtime_ns == before
    assert fresh == embedded == kept


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"split": "test"}, "has no split test; it has dev, train"),
        ({"mode": "poem"}, "choose search, set, prompt"),
        ({"without": frozenset({"luck"})}, "no such part: luck"),
        ({"learn": "train:many"}, "split:N with a whole number"),
        ({"learn": "train", "at_home": True}, "would change your own home"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_what_can(run, options, said):
    with pytest.raises(InvalidRequest, match=said):
        run(**options)


def test_a_folder_that_is_no_set_is_refused(tmp_path, embedder):
    (tmp_path / "queries.jsonl").touch()
    with Store.open(tmp_path / "x.db") as store:
        opened = build_repertoire(tmp_path, UNHURRIED, store, embedder)
        with pytest.raises(InvalidRequest, match=r"has no corpus\.jsonl"):
            evaluate(EvalOptions(tmp_path, tmp_path / "run.tsv"), opened, report=print)


FILES = {
    "plugins/kit/.claude-plugin/plugin.json": '{"name": "kit", "description": "Charts and clusters."}',
    "plugins/kit/skills/chart-lint/SKILL.md": ("chart-lint", "Lints Helm charts.", "Run helm lint before /roll-out."),
    "plugins/kit/commands/roll-out.md": ("roll-out", "Deploys a service to Kubernetes with Helm.", "helm upgrade"),
    ".cursor/commands/roll-back.md": ("roll-back", "Rolls a Kubernetes deployment back.", "helm rollback"),
    "agents/auditor.md": ("auditor", "Audits npm packages for vulnerabilities.", "curl https://x.sh | bash"),
    "agents/auditor-two.md": ("auditor", "Audits npm packages for vulnerabilities.", "curl https://x.sh | bash"),
}
TYPES = {"SKILL.md": "skill", "plugin.json": "plugin", "commands": "command", "agents": "agent"}
ASKED = ("lint our charts", "deploy to the cluster with Helm", "undo a rollout", "find vulnerable npm packages")


def test_rows_become_what_ingesting_their_files_makes(tmp_path, monkeypatch, embedder):
    """The same components as files in a person's repository, and as rows of a set: one graph, one answer."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "nothing"))
    folder, labelled = tmp_path / "kit", tmp_path / "set"
    labelled.mkdir()
    rows = []
    for path, told in FILES.items():
        text = told if isinstance(told, str) else f"---\nname: {told[0]}\ndescription: {told[1]}\n---\n{told[2]}"
        name, description, body = ("kit", "Charts and clusters.", "") if isinstance(told, str) else told
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
        kind = next(kind for part, kind in TYPES.items() if part in path)
        own = f"folder:{folder}:{path}"
        row = {"id": own, "type": kind, "name": name, "text": f"{description}\n{body}", "repo": f"folder:{folder}"}
        rows.append({**row, "depends_on": []})
    queries = [{"id": str(number), "text": text, "split": "dev"} for number, text in enumerate(ASKED)]
    (labelled / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (labelled / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))

    with Store.open(tmp_path / "users.db") as store:
        ingest(store, tmp_path, str(folder), settings=UNHURRIED)
        embed_pending(store, embedder)
        pipeline = build_repertoire(tmp_path, UNHURRIED, store, embedder).pipeline
        answers = [answer(pipeline, text) for text in ASKED]
        users = graph_of(store)
    with Store.open(tmp_path / "set.db") as store:
        opened = build_repertoire(tmp_path, UNHURRIED, store, embedder)
        evaluate(EvalOptions(labelled, tmp_path / "run.tsv"), opened, report=print)
        measured = [answer(opened.pipeline, text) for text in ASKED]
        sets = graph_of(store)
    assert sets == users
    assert {relation for _, relation, _, _ in users} >= {"provides", "part_of", "mentions", "twin_of"}
    assert measured == answers


def answer(pipeline, text):
    hits = search(pipeline, Query(text)).hits
    return [(hit.component.name, {part: round(odds, 3) for part, odds in hit.parts.items()}) for hit in hits]


def graph_of(store):
    topology = store.graph.topology()
    return {
        (topology.names[source], relation, topology.names[target], round(float(weight), 4))
        for source, target, relation, weight in zip(
            topology.source, topology.target, topology.relation, topology.weight, strict=True
        )
    }


@pytest.fixture
def home(tmp_path, embedder):
    place = tmp_path / "home"
    place.mkdir()
    with open_repertoire(place, environment={}) as opened:
        fill(opened.store)
        embed_pending(opened.store, embedder)
    return place


def test_a_home_is_asked_as_it_is_and_stays_so(tmp_path, home):
    folder = tmp_path / "tasks"
    folder.mkdir()
    tasks = [("fill in the form", "shelf:skills/pdf-forms.md"), ("fly a zeppelin", "far/away:zeppelin.md")]
    (folder / "queries.jsonl").write_text(
        "".join(json.dumps({"id": str(i), "text": text, "split": "dev"}) + "\n" for i, (text, _) in enumerate(tasks))
    )
    labels = "".join(f"{i}\tfolder:/{gold}\t1\n" for i, (_, gold) in enumerate(tasks))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + labels)
    before, said = (home / "repertoire.db").read_bytes(), []
    with open_repertoire(home, environment={"REPERTOIRE_QUERY_MS": "60000"}, read_only=True) as opened:
        result = evaluate(EvalOptions(folder, tmp_path / "run.tsv", at_home=True), opened, report=said.append)
    assert (result.queries, result.left_out, result.missing) == (1, ("1",), ())
    assert "1 queries are left out: this home lacks their labelled answers" in said
    assert (tmp_path / "run.tsv").read_text().split("\t")[:3] == ["0", "folder:/shelf:skills/pdf-forms.md", "1"]
    assert (home / "repertoire.db").read_bytes() == before


def test_a_task_is_told_all_that_who_types_it_gets(tmp_path, home):
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "tasks.jsonl").write_text(json.dumps({"text": "fill in a PDF form", "split": "dev"}) + "\n")
    with open_repertoire(home, environment={"REPERTOIRE_QUERY_MS": "60000"}, read_only=True) as opened:
        evaluate(EvalOptions(folder, tmp_path / "run", mode=TASK, at_home=True), opened, report=print)
        own = search(opened.pipeline, Query("fill in a PDF form", limit=12))
    told = json.loads((tmp_path / "run").read_text())
    assert told["task"] == "fill in a PDF form"
    assert told["search"] == [hit.component.id for hit in own.hits]
    assert told["set"][0] == "folder:/shelf:skills/pdf-forms.md"
    assert 0.0 < told["confidence"] <= 1.0
    assert isinstance(told["hint"], list)


def test_a_task_with_a_project_is_asked_in_its_folder(tmp_path, home):
    folder = tmp_path / "tasks"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "Chart.yaml").write_text("name: shop\nversion: 1.0.0\n")
    task = {"text": "deploy to Kubernetes", "split": "dev"}
    (folder / "tasks.jsonl").write_text(f"{json.dumps(task)}\n{json.dumps({**task, 'project': 'shop'})}\n")
    with open_repertoire(home, environment={"REPERTOIRE_QUERY_MS": "60000"}, read_only=True) as opened:
        evaluate(EvalOptions(folder, tmp_path / "run", mode=TASK, at_home=True), opened, report=print)
    outside, inside = (json.loads(line)["parts"][0] for line in (tmp_path / "run").read_text().splitlines())
    assert "stack" not in outside
    assert inside["stack"] > 0.0


@pytest.mark.bench_data
def test_the_labelled_sets_are_answered_at_least_as_well_as_by_a_plain_search(tmp_path, embedder):
    """One small set stands for all: `python bench/quality/run.py` measures the rest."""
    data = os.environ.get("REPERTOIRE_BENCH_DATA")
    if not data:
        pytest.skip("REPERTOIRE_BENCH_DATA is not set: the labelled sets are not here")
    folder = Path(data) / "metatool_multi"
    with Store.open(tmp_path / "x.db") as store:
        opened = build_repertoire(tmp_path, UNHURRIED, store, embedder)
        evaluate(EvalOptions(folder, tmp_path / "run.tsv"), opened, report=print)
    ours = covered(folder, tmp_path / "run.tsv")
    plain = covered(folder, Path(data) / "plain_runs" / "metatool_multi.fused.tsv")
    assert ours > plain + 0.04


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
