"""A search ranks components with reasons and a confidence, through the verb that every door calls."""

import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.sources.settle import write_catalogue
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import BODY_SPACE, Query, Task
from repertoire.domain.component import PART_OF, Edge
from repertoire.domain.errors import InvalidRequest
from repertoire.rendering.answers import answer_text
from repertoire.retrieval.pipeline import Pipeline
from repertoire.store.database import Store
from repertoire.store.graph import Graph
from sample_home import NOW, component, fill


@pytest.fixture
def pipeline(tmp_path):
    with Store.open(tmp_path / "repertoire.db") as store:
        fill(store, installed=("changelog",))
        yield Pipeline(store.graph, store.vectors, embedder=None)


def test_a_search_ranks_what_serves_the_query_and_tells_how_sure_it_is(pipeline):
    answer = search(pipeline, Query("fill PDF forms"))
    assert answer.hits[0].component.name == "pdf-forms"
    assert answer.fits
    assert answer.confidence > 0.5
    assert answer.degraded == ("no embedding model: words and graph alone",)
    assert answer.report[0].stage == "plan"


def test_nothing_fits_and_the_nearest_misses_are_named(pipeline):
    answer = search(pipeline, Query("book a flight to Rome and a hotel with a database of reviews"))
    assert not answer.fits
    assert [hit.component.name for hit in answer.hits] == ["postgres"]


def test_a_question_is_answered_while_another_process_has_embedded_bodies_and_no_description_yet(tmp_path):
    with open_repertoire(tmp_path, environment={"REPERTOIRE_QUERY_MS": "60000"}) as opened:
        store, embedder = opened.store, opened.embedder
        assert embedder is not None
        write_catalogue(store)
        rows = store.vectors.pending(BODY_SPACE, embedder.model, limit=20)
        bodies = embedder.embed_passages(
            [entry.component.body for entry in store.graph.components(dict(rows)).values()]
        )
        store.vectors.put(BODY_SPACE, embedder.model, rows, bodies)
        assert search(opened.pipeline, Query("review a pull request")).hits
        assert recommend(opened.pipeline, Task("review a pull request")).items


@pytest.mark.parametrize(("asked", "times"), [("fill a café's PDF forms", 0), ("pdf", 1)])
def test_what_is_started_by_a_name_is_looked_for_among_all_ids_once_for_one_word_and_never_for_several(
    pipeline, monkeypatch, asked, times
):
    looked_for = []
    monkeypatch.setattr(Graph, "skills_in", lambda _, folder: looked_for.append(folder) or [])
    assert search(pipeline, Query(asked)).hits
    assert len(looked_for) == times


def test_the_limit_is_kept(pipeline):
    assert len(search(pipeline, Query("release notes", limit=1)).hits) == 1


@pytest.mark.parametrize("muted", ["folder:/shelf:skills/pdf-forms.md", "folder:/shelf", "github.com/acme/shelf"])
def test_what_is_muted_is_found_and_marked(pipeline, muted):
    found = search(pipeline, Query("fill PDF forms"), muted=frozenset({muted}))
    marked = [hit.component.name for hit in found.hits if hit.muted]
    assert found.hits[0].component.name == "pdf-forms" == marked[0]
    assert len(marked) == (1 if muted.endswith(".md") else len(found.hits))
    assert answer_text(found).count("muted: not suggested here") == len(marked)


@pytest.mark.parametrize(
    ("query", "said"),
    [(Query("  "), "say what the component should do"), (Query("x", limit=0), "ask for 1 result or more")],
)
def test_a_question_that_asks_nothing_is_told_what_to_send(pipeline, query, said):
    with pytest.raises(InvalidRequest, match=said):
        search(pipeline, query)


def test_of_many_words_a_reason_tells_those_of_the_name_and_description(tmp_path):
    ordinary = "Every morning the team opens the old laptop and waits for the slow printer."
    churn = component("skill", "churn-report", "Explains why customers leave.", body=ordinary)
    question = f"{ordinary} Now explain to us which customers leave and what the churn costs"
    with Store.open(tmp_path / "repertoire.db") as store:
        fill(store, churn)
        first = search(Pipeline(store.graph, store.vectors, embedder=None), Query(question)).hits[0]
    [told] = [why.text for why in first.whys if why.kind == "words"]
    assert {"explain", "customers", "leave", "churn"} < set(told.removeprefix("words: ").split(", "))


def test_a_tool_inside_a_server_is_found_by_its_exact_name_though_the_server_is_ranked_for_it(tmp_path):
    server = component("mcp_server", "tunnels", "Makes GRE tunnels.")
    tool = component("tool", "create_gre_tunnel", "Makes a GRE tunnel.", path="tools.json")
    with Store.open(tmp_path / "repertoire.db") as store:
        fill(store, server, tool)
        store.sources.set_edges([Edge(tool.id, server.id, PART_OF, 1.0, "tools.json")], now=NOW, file="tools.json")
        pipeline = Pipeline(store.graph, store.vectors, embedder=None)
        found = search(pipeline, Query("create_gre_tunnel"))
        described = search(pipeline, Query("create a GRE tunnel"))
        of_type = search(pipeline, Query("create_gre_tunnel", types=("skill",)))
        recommended = recommend(pipeline, Task("create_gre_tunnel"))
    assert [hit.component.id for hit in found.hits] == [tool.id]
    assert described.hits[0].component.id == server.id
    assert tool.id not in {hit.component.id for hit in (*described.hits, *of_type.hits)}
    assert tool.id not in {item.hit.component.id for item in recommended.items}


@pytest.mark.parametrize("name", ["createTunnel", "tunnel"])
def test_a_tool_whose_name_may_be_a_word_comes_first_where_it_is_all_that_is_asked(tmp_path, name):
    server = component("mcp_server", "gre", "Makes GRE tunnels.")
    tool = component("tool", name, "Makes a GRE tunnel.", path="tools.json")
    with Store.open(tmp_path / "repertoire.db") as store:
        fill(store, server, tool, component("skill", "vpn", "Opens a tunnel."))
        store.sources.set_edges([Edge(tool.id, server.id, PART_OF, 1.0, "tools.json")], now=NOW, file="tools.json")
        pipeline = Pipeline(store.graph, store.vectors, embedder=None)
        found, *others = (search(pipeline, Query(text)) for text in (name, name.upper(), f"open a {name}"))
        of_type = search(pipeline, Query(name, types=("skill",)))
    assert found.hits[0].component.id == tool.id
    assert name != "tunnel" or "vpn" in {hit.component.name for hit in found.hits}
    assert all(tool.id not in {hit.component.id for hit in other.hits} for other in (*others, of_type))


def test_a_misspelt_name_and_a_filter_that_nothing_passes_are_pointed_out(tmp_path):
    with Store.open(tmp_path / "repertoire.db") as store:
        fill(store)
        pipeline = Pipeline(store.graph, store.vectors, embedder=None)
        misspelt = search(pipeline, Query("postgers"))
        other = search(pipeline, Query("origami"))
        installed = search(pipeline, Query("release notes", installed=True))
        available = search(pipeline, Query("release notes", installed=False))
    assert "did you mean postgres?" in misspelt.degraded
    assert not any("did you mean" in note for note in (*other.degraded, *installed.degraded))
    assert "nothing known here is installed: ask without that filter" in installed.degraded
    assert not any("filter" in note for note in (*misspelt.degraded, *available.degraded))
