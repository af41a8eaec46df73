"""All stages of ranking together, over a real store with the real model."""

from dataclasses import replace

import pytest

from repertoire.app.sources.embed import embed_pending
from repertoire.domain.answer import FAST, PARTS, THOROUGH, Query
from repertoire.domain.component import CO_OCCURS_WITH, PART_OF, Edge
from repertoire.domain.errors import ModelUnavailable
from repertoire.retrieval.component_reader import ComponentReader
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import EXPLAIN, SEARCH
from repertoire.retrieval.resources import Options
from repertoire.retrieval.stage_reports import TimeLimit
from repertoire.store.database import Store
from sample_home import NOW, component, fill


class Unavailable:
    """An embedder whose files are damaged."""

    model = query_encoder = "damaged"
    dimensions = 384
    loaded = False

    def load(self, _texts=()):
        message = "the model does not load"
        raise ModelUnavailable(message)

    embed_passages = embed_queries = load

    def embed_question(self, _text, _parts):
        self.load()


class Slow:
    """The real model on a machine where loading it and embedding take so many milliseconds, by a clock of its own."""

    def __init__(self, embedder, *, loading, embedding):
        self.now, self.model, self.dimensions, self.loaded = 0.0, embedder.model, embedder.dimensions, False
        self.query_encoder = embedder.query_encoder
        self._embedder, self._loading, self._embedding = embedder, loading, embedding

    def load(self):
        self.now += self._loading / 1000.0

    def embed_queries(self, texts):
        self.now += self._embedding / 1000.0
        return self._embedder.embed_queries(texts)

    def embed_question(self, text, parts):
        return self.embed_queries([text, *parts])

    embed_passages = embed_queries

    def clock(self):
        return self.now


class Watched:
    """The real model, and how it was asked to read what."""

    def __init__(self, embedder):
        self._embedder, self.read = embedder, []

    def __getattr__(self, name):
        return getattr(self._embedder, name)

    def embed_passages(self, texts):
        self.read.append(("plainly", *texts))
        return self._embedder.embed_passages(texts)

    def embed_queries(self, texts):
        self.read.append(("turned", *texts))
        return self._embedder.embed_queries(texts)

    def embed_question(self, text, parts):
        self.read.append(("whole", text, *parts))
        return self._embedder.embed_question(text, parts)


@pytest.fixture
def pipeline(embedded, embedder):
    return Pipeline(
        embedded.graph, embedded.vectors, embedder=embedder, capabilities=lambda text: ["helm"] * ("helm" in text)
    )


def ask(pipeline, text, *, muted=frozenset(), **more):
    ranking = pipeline.rank(Query(text, **more), intent=SEARCH, muted=muted)
    return ranking, pipeline.hits(ranking, ranking.rows)


def names(hits):
    return [hit.component.name for hit in hits]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("fill in the form fields of a PDF", "pdf-forms"),
        ("why is this SQL query slow", "postgres"),
        ("the books do not balance, check the accounts", "ledger-auditor"),
        ("roll back the helm release on our cluster", "kubernetes-deploy"),
        ("click through the web page and take screenshots", "browser-kit"),
    ],
)
def test_a_request_finds_what_serves_it(pipeline, text, name):
    ranking, hits = ask(pipeline, text)
    assert names(hits)[0] == name
    assert ranking.fits


@pytest.mark.parametrize("text", ["what will the weather be in Oslo on Sunday", "recommend a romantic comedy"])
def test_a_request_that_nothing_serves_is_answered_honestly(pipeline, text):
    ranking, hits = ask(pipeline, text)
    assert not ranking.fits
    assert all(hit.score <= 1.0 for hit in hits)


@pytest.mark.parametrize(
    ("before", "readings"), [(0, ["plainly", "turned", "turned", "turned"]), (9, ["plainly", "whole"]), (30, ["whole"])]
)
def test_the_longer_a_question_the_fewer_readings_it_takes_and_all_it_asks_for_is_found(
    embedded, embedder, before, readings
):
    watched = Watched(embedder)
    first, second = "audit our ledger for what does not balance", "roll back the helm release"
    text = f"{'dear colleague, ' * before}{first}, then {second}."
    hits = ask(Pipeline(embedded.graph, embedded.vectors, embedder=watched), text)[1]
    assert set(names(hits)[:2]) == {"ledger-auditor", "kubernetes-deploy"}
    assert sorted(how for how, *_ in watched.read) == readings


def test_code_is_read_plainly_however_long_it_is(embedded, embedder):
    watched = Watched(embedder)
    ask(Pipeline(embedded.graph, embedded.vectors, embedder=watched), "ledger.audit(rows)[0];\n" * 20)
    assert {how for how, *_ in watched.read} == {"plainly", "whole"}


def test_every_hit_says_why_in_short_facts(pipeline):
    _, hits = ask(pipeline, "deploy with helm to kubernetes")
    whys = {why.kind: why.text for why in hits[0].whys}
    assert whys["capability"] == "provides helm"
    assert whys["words"] == "words: deploy, helm, kubernetes"
    assert whys["similarity"].startswith("similar in meaning (0.")
    assert all(len(why.text) <= 100 and "\n" not in why.text for hit in hits for why in hit.whys)


def test_scores_fall_from_one_and_each_is_made_of_parts(pipeline):
    _, hits = ask(pipeline, "audit the ledger")
    assert hits[0].score == 1.0
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert sum(hits[0].parts.values()) > sum(hits[-1].parts.values())


def test_every_stage_reports_what_it_did(pipeline):
    ranking, _ = ask(pipeline, "audit the ledger")
    stages = [report.stage for report in ranking.report]
    assert stages[:6] == ["plan", "words", "embed", "vectors", "fuse", "capabilities"]
    assert stages[6:] == ["meant", "need", "priors", "requests", "ppr", "patterns", "rerank", "relevance", "gate"]
    assert all(report.ms >= 0 and report.detail for report in ranking.report)


def test_an_id_is_an_answer_of_its_own(pipeline):
    ranking, hits = ask(pipeline, "folder:/shelf:skills/pdf-forms.md")
    assert names(hits) == ["pdf-forms"]
    assert ranking.confidence == 1.0
    assert [report.stage for report in ranking.report] == ["plan"]


def test_a_name_that_can_only_be_a_name_leaves_early(pipeline):
    _, hits = ask(pipeline, "/ledger-auditor")
    assert names(hits) == ["ledger-auditor"]
    assert [why.kind for why in hits[0].whys] == ["name"]


def test_a_name_that_is_also_a_word_comes_first_with_others_after_it(pipeline):
    ranking, hits = ask(pipeline, "changelog")
    assert names(hits)[0] == "changelog"
    assert len(hits) > 1
    assert ranking.fits


@pytest.mark.parametrize(
    "silenced",
    ["folder:/shelf:mcp_servers/postgres.md", "folder:/shelf", "github.com/acme/shelf"],
    ids=["id", "source", "repo"],
)
def test_what_is_muted_is_never_found_not_even_by_name(pipeline, silenced):
    for text in ("why is this SQL query slow", "postgres", "folder:/shelf:mcp_servers/postgres.md"):
        _, hits = ask(pipeline, text, muted=frozenset({silenced}))
        assert "postgres" not in names(hits)


def test_filters_choose_before_ranking(pipeline):
    assert {hit.component.type for hit in ask(pipeline, "release notes", types=("command", "hook"))[1]} <= {
        "command",
        "hook",
    }
    assert names(ask(pipeline, "release notes", installed=True)[1]) == ["changelog"]
    assert "changelog" not in names(ask(pipeline, "release notes", installed=False)[1])
    assert ask(pipeline, "release notes", repository="github.com/other/repo")[1] == []


def test_a_type_that_the_words_ask_for_ranks_higher(pipeline):
    assert names(ask(pipeline, "a command that writes release notes")[1])[0] == "ship"
    assert names(ask(pipeline, "a skill that writes release notes")[1])[0] == "changelog"


def test_what_goes_with_what_is_in_use_ranks_higher(embedded, embedder):
    edges = [
        Edge("folder:/shelf:skills/kubernetes-deploy.md", "folder:/shelf:hooks/format-on-save.md", CO_OCCURS_WITH, 5.0)
    ]
    embedded.sources.set_edges(edges, now=NOW, file="seen")
    pipeline = Pipeline(embedded.graph, embedded.vectors, embedder=embedder)
    alone = names(ask(pipeline, "tidy up")[1])
    beside = names(ask(pipeline, "tidy up", using=("kubernetes-deploy",))[1])
    assert beside.index("format-on-save") <= alone.index("format-on-save")
    _, hits = ask(pipeline, "deploy to kubernetes")
    companion = next(hit for hit in hits if hit.component.name == "format-on-save")
    assert "path: kubernetes-deploy → this" in [why.text for why in companion.whys]


def test_without_a_model_words_and_graph_answer_and_say_so(embedded):
    for embedder in (None, Unavailable()):
        pipeline = Pipeline(embedded.graph, embedded.vectors, embedder=embedder)
        ranking, hits = ask(pipeline, "fill PDF forms from a spreadsheet")
        assert names(hits)[0] == "pdf-forms"
        assert ranking.fits
        assert ranking.degraded[0].startswith("no embedding model") or ranking.degraded[0].startswith(
            "8 of 8 components"
        )


def test_vectors_still_to_come_are_counted(store, embedder):
    pipeline = Pipeline(store.graph, store.vectors, embedder=embedder)
    ranking, hits = ask(pipeline, "fill PDF forms")
    assert names(hits)[0] == "pdf-forms"
    assert ranking.degraded == ("8 of 8 components are found by words alone until they are embedded",)


def test_a_snippet_finds_the_component_whose_code_is_like_it(tmp_path, embedder):
    with Store.open(tmp_path / "code.db") as store:
        fill(
            store,
            component("skill", "vectors", "Keeps documents.", code="index = faiss.IndexFlatL2(d)\nindex.add(vectors)"),
            component("skill", "molecules", "Keeps documents.", code='mol = Chem.MolFromSmiles("CCO")\nmol.GetAtoms()'),
            component("skill", "charts", "Keeps documents.", code="plt.plot(x, y)\nplt.savefig(path)"),
        )
        embed_pending(store, embedder)
        pipeline = Pipeline(store.graph, store.vectors, embedder=embedder)
        for snippet, name in (
            ("faiss.IndexFlatIP(dim).add(x)", "vectors"),
            ('Chem.MolFromSmiles("C1CC1").GetNumAtoms()', "molecules"),
            ("plt.plot(a); plt.show()", "charts"),
        ):
            ranking, hits = ask(pipeline, snippet)
            assert names(hits)[0] == name
            assert 0.0 < hits[0].parts["code"] <= 3.0
            assert "code" in [report.stage for report in ranking.report]
        assert "code" not in ask(pipeline, "keep my documents")[0].parts
        assert "code" not in ask(pipeline, "plt.plot(a); plt.show()", without=frozenset({"vectors"}))[0].parts


def test_a_server_is_as_near_to_a_question_as_the_nearest_of_its_tools(store, embedder):
    server = component("mcp_server", "office-link", "Connects to an office.")
    tool = component("tool", "moor", "Books a berth for a sailing boat.", path="mcp_servers/office-link.md#moor")
    fill(store, server, tool)
    store.sources.set_edges([Edge(tool.id, server.id, PART_OF)], now=NOW, file="test")
    embed_pending(store, embedder)
    pipeline = Pipeline(store.graph, store.vectors, embedder=embedder)
    asked = Query("reserve a place to moor my yacht overnight", without=frozenset({"text", "graph"}))
    ranking = pipeline.rank(asked, intent=SEARCH)
    assert [hit.component.name for hit in pipeline.hits(ranking, ranking.rows)][:1] == ["office-link"]
    tools = pipeline.rank(replace(asked, types=("tool",)), intent=SEARCH)
    assert [hit.component.name for hit in pipeline.hits(tools, tools.rows)] == ["moor"]


def test_what_has_not_begun_when_the_time_is_spent_is_skipped_and_the_answer_says_so(embedded, embedder):
    slow = Slow(embedder, loading=0, embedding=250)
    pipeline = Pipeline(embedded.graph, embedded.vectors, embedder=slow, options=Options(TimeLimit(500, slow.clock)))
    ranking, hits = ask(pipeline, "audit the ledger")
    assert names(hits)[0] == "ledger-auditor"
    assert ranking.degraded == ("no time left after 500 ms for vectors, ppr, patterns, rerank",)
    details = {report.stage: report.detail for report in ranking.report}
    assert details["vectors"] == details["ppr"] == "skipped: the 500 ms for this answer were spent"
    assert details["words"] == "1 hold a word"


def test_time_in_which_the_model_is_loaded_is_no_answers_time(embedded, embedder):
    slow = Slow(embedder, loading=2000, embedding=249)
    pipeline = Pipeline(embedded.graph, embedded.vectors, embedder=slow, options=Options(TimeLimit(500, slow.clock)))
    ranking, _ = ask(pipeline, "audit the ledger")
    assert ranking.degraded == ()
    assert not [report.stage for report in ranking.report if "were spent" in report.detail]


def test_without_any_time_words_alone_answer(embedded, embedder):
    pipeline = Pipeline(embedded.graph, embedded.vectors, embedder=embedder, options=Options(TimeLimit(0.0)))
    ranking, hits = ask(pipeline, "audit the ledger")
    assert names(hits) == ["ledger-auditor"]
    assert ranking.degraded == ("no time left after 0 ms for embed, ppr, patterns, rerank",)


def test_a_fast_answer_takes_no_steps_that_a_thorough_one_takes(pipeline):
    fast, hits = ask(pipeline, "deploy with helm, then write release notes", mode=FAST)
    details = {report.stage: report.detail for report in fast.report}
    assert details["embed"] == "1 texts"
    assert details["ppr"].startswith("skipped: fast")
    assert fast.degraded == ()
    assert names(hits)[0] == "kubernetes-deploy"
    thorough = {report.stage: report.detail for report in ask(pipeline, "deploy, then notes", mode=THOROUGH)[0].report}
    assert "skipped" not in thorough["ppr"]


def test_a_fast_answer_never_waits_for_the_model_to_be_loaded(embedded, embedder):
    slow = Slow(embedder, loading=2000, embedding=10)
    ranking, hits = ask(Pipeline(embedded.graph, embedded.vectors, embedder=slow), "audit the ledger", mode=FAST)
    assert slow.now == 0.0
    assert names(hits) == ["ledger-auditor"]
    assert "embed" in [report.stage for report in ranking.report if "not in memory" in report.detail]


def test_a_component_that_is_asked_about_by_name_is_the_answer(pipeline):
    for text in ("what does pdf-forms do?", "Explain the changelog skill", "why was /ledger-auditor suggested?"):
        ranking, hits = ask(pipeline, text)
        assert len(hits) == 1
        assert hits[0].component.name in text
        assert ranking.plan.intent == EXPLAIN
    assert len(ask(pipeline, "what is a changelog")[1]) > 1


@pytest.mark.parametrize("part", PARTS)
def test_every_part_can_be_switched_off(pipeline, part):
    _, hits = ask(pipeline, "deploy with helm to kubernetes", without=frozenset({part}))
    assert names(hits)[0] == "kubernetes-deploy"
    silent = {"text": "words", "vectors": "similarity", "graph": "graph"}.get(part)
    if silent:
        assert hits[0].parts.get(silent, 0.0) == 0.0


def test_with_nothing_to_go_by_nothing_is_found(pipeline):
    _, hits = ask(pipeline, "the of and", without=frozenset({"vectors"}))
    assert hits == []


def test_an_empty_store_answers_with_nothing(tmp_path, embedder):
    with Store.open(tmp_path / "empty.db") as empty:
        ranking, hits = ask(Pipeline(empty.graph, empty.vectors, embedder=embedder), "anything at all")
    assert hits == []
    assert not ranking.fits


@pytest.mark.parametrize("text", ['"', "NEAR(a b)", "a* OR b", "' --", "\x00", "ünïcödé", "🙂 🙂", "-", "()" * 50])
def test_no_question_can_break_the_search(pipeline, text):
    ask(pipeline, text)


def test_the_same_question_has_the_same_answer(pipeline):
    first, again = (ask(pipeline, "write tests and deploy the service")[1] for _ in range(2))
    assert [(hit.component.id, hit.score) for hit in first] == [(hit.component.id, hit.score) for hit in again]


def test_a_component_removed_meanwhile_is_left_out(embedded, embedder, pipeline):
    ranking = pipeline.rank(Query("release notes"), intent=SEARCH)
    from sample_home import SOURCE

    embedded.sources.write(SOURCE, [], ["skills/changelog.md"], derived=[], now=NOW)
    unread = replace(ranking, reader=ComponentReader(embedded.graph, ranking.snapshot))
    assert "changelog" not in names(pipeline.hits(unread, ranking.rows))


def test_long_prompts_are_cut_to_their_rarest_words(embedded, embedder):
    noise = [component("skill", f"noise-{i}", "common " * 5 + f"unusual{i}") for i in range(30)]
    fill(embedded, *noise)
    pipeline = Pipeline(embedded.graph, embedded.vectors, embedder=None)
    prompt = "common " * 10 + " ".join(f"filler{i}" for i in range(120)) + " helm"
    assert names(ask(pipeline, prompt)[1])[0] == "kubernetes-deploy"
