"""Past requests: heard where they prove themselves, silent where they do not."""

import numpy as np
import pytest

from repertoire.domain.answer import REQUEST_SPACE, Query
from repertoire.retrieval.history import History, with_past
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH
from repertoire.retrieval.snapshot import Snapshots
from repertoire.store.requests import Request, Selection
from shelf import NOW

LEDGER, CHANGELOG = "folder:/shelf:agents/ledger-auditor.md", "folder:/shelf:skills/changelog.md"
PAST = {
    LEDGER: [
        f"{verb} the {period} {end}"
        for verb in ("tie out", "close")
        for period in ("month", "quarter")
        for end in ("end", "end today", "end again", "end for head office")
    ],
    CHANGELOG: [f"tell {who} what is new {when}" for who in ("customers", "users") for when in ("today", "this week")],
}


def remember(store, embedder, past):
    rows = [(text, selected) for selected, texts in past.items() for text in texts]
    requests = [
        Request(f"request:{i}", text, selected=(Selection(selected),)) for i, (text, selected) in enumerate(rows)
    ]
    ids = store.requests.record_many(requests, now=NOW)
    vectors = embedder.embed_queries([text for text, _ in rows])
    store.vectors.put(REQUEST_SPACE, embedder.reading, [(node, "") for node in ids], vectors)


def first(store, embedder, text, **more):
    pipeline = Pipeline(store.graph, store.vectors, embedder=embedder)
    ranking = pipeline.rank(Query(text, **more), intent=SEARCH)
    return ranking, pipeline.hits(ranking, ranking.rows[:1])[0]


def test_what_served_like_requests_comes_first_and_says_so(embedded, embedder):
    remember(embedded, embedder, PAST)
    _, hit = first(embedded, embedder, "the month end must tie out")
    assert hit.component.id == LEDGER
    assert "request" in [why.kind for why in hit.whys]
    assert hit.parts["requests"] > 0


def test_without_learning_the_past_is_silent(embedded, embedder):
    remember(embedded, embedder, PAST)
    ranking, hit = first(embedded, embedder, "the month end must tie out", without=frozenset({"learning"}))
    assert ranking.past.weight == 0.0
    assert "request" not in [why.kind for why in hit.whys]


def test_a_past_in_which_nothing_came_back_is_not_trusted(embedded, embedder):
    ids = [summary.id for summary in embedded.graph.summaries()]
    texts = [
        "tie out the month",
        "tell customers what is new",
        "month end close",
        "fix the css",
        "rotate keys",
        "ship it",
    ]
    remember(embedded, embedder, {component: [text] for component, text in zip(ids, texts, strict=False)})
    ranking, _ = first(embedded, embedder, "tie out the month end")
    assert ranking.past.trust < 0.2


def test_a_prompt_of_its_own_never_quotes_another(embedded, embedder):
    remember(embedded, embedder, PAST)
    _, hit = first(embedded, embedder, "the month end must tie out")
    assert not any(text in why.text for why in hit.whys for texts in PAST.values() for text in texts)


@pytest.mark.parametrize("past", [{}, {LEDGER: ["only one request"]}], ids=["none", "one"])
def test_too_little_past_says_nothing(embedded, embedder, past):
    remember(embedded, embedder, past)
    snapshot = Snapshots(embedded.graph, embedded.vectors, model=embedder.model).current()
    history = History(snapshot, snapshot.spaces[REQUEST_SPACE])
    assert history.ask(embedder.embed_queries(["anything"])[0]).weight == 0.0


def test_rows_without_a_past_keep_their_order(embedded, embedder):
    remember(embedded, embedder, PAST)
    snapshot = Snapshots(embedded.graph, embedded.vectors, model=embedder.model).current()
    past = History(snapshot, snapshot.spaces[REQUEST_SPACE]).ask(embedder.embed_queries(["month end"])[0])
    scores = np.linspace(0.0, 5.0, len(snapshot))
    unserved = np.flatnonzero(past.share == 0.0)
    assert len(unserved) > 2
    assert np.all(np.diff(with_past(scores, past)[unserved]) > 0)
