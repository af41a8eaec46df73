"""Past requests change a ranking where needs recur, and leave it alone where every need is new."""

import json
from datetime import datetime, timedelta

import numpy as np
import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.clock import now
from repertoire.app.session import hook_events
from repertoire.app.sources.embed import embed_pending
from repertoire.app.usage import lessons
from repertoire.app.usage.usage_cache import UsageCache
from repertoire.app.usage.usage_cache import usage as remembered
from repertoire.domain.answer import REQUEST_SPACE, Query, Task
from repertoire.domain.event import FAILED, OFFERED, SELECTED, Event
from repertoire.rendering.data import recommendation_data
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH
from repertoire.retrieval.resources import Options
from repertoire.retrieval.similar_requests import RequestHistory, with_past_requests
from repertoire.retrieval.snapshot import Snapshots
from repertoire.settings import Settings
from repertoire.store.requests import Request, Selection
from sample_home import NOW, component, fill

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

MONTHS = "january february march april may june july august september october november".split()
BOOKS = [
    "tie out the month end",
    "close the books for march",
    "prepare the quarter end for head office",
    "balance what was booked this year",
    "check the postings of the month",
    "get the numbers ready for the auditors",
    "reconcile the bank statements of this week",
    "what did we book in april",
    "write up the month for the board",
    "go through the invoices of the quarter",
]


def remember(store, embedder, past):
    rows = [(text, selected) for selected, texts in past.items() for text in texts]
    requests = [
        Request(f"request:{i}", text, selected=(Selection(selected),)) for i, (text, selected) in enumerate(rows)
    ]
    ids = store.requests.record_many(requests, now=NOW)
    vectors = embedder.embed_queries([text for text, _ in rows])
    store.vectors.put(REQUEST_SPACE, embedder.query_encoder, [(node, "") for node in ids], vectors)


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
    ranking, _ = first(embedded, embedder, "which postings belong to april")
    assert ranking.past.trust < 0.2


def test_a_past_that_touched_little_of_what_there_is_is_trusted_less_where_it_is_least_alike(embedded, embedder):
    remember(embedded, embedder, PAST)
    near, far = "the month end must tie out", "end the month well"
    of_few = {asked: first(embedded, embedder, asked)[0].past.trust for asked in (near, far)}
    fill(embedded, *(component("skill", f"gadget-{n}", f"Turns gadget {n}.", path=f"g{n}.md") for n in range(120)))
    embed_pending(embedded, embedder)
    assert first(embedded, embedder, far)[0].past.trust < 0.8 * of_few[far]
    assert first(embedded, embedder, near)[0].past.trust == pytest.approx(of_few[near])


@pytest.mark.parametrize("uses", [2, 4, 8, 16])
def test_what_served_each_request_of_a_kind_is_trusted_no_less_with_each_use(embedded, embedder, uses):
    fill(embedded, *(component("skill", f"gadget-{n}", f"Turns gadget {n}.", path=f"g{n}.md") for n in range(120)))
    embed_pending(embedded, embedder)
    kinds = [f"tie out the {month} end" for month in ("month", "quarter", "year", "week", *MONTHS)]
    remember(embedded, embedder, {LEDGER: kinds[:1]})
    asked = "tie out the december end"
    once = first(embedded, embedder, asked)[0].past.trust
    remember(embedded, embedder, {LEDGER: kinds[:uses]})

    ranking, hit = first(embedded, embedder, asked)

    assert ranking.past.trust >= once
    assert hit.component.id == LEDGER


def test_an_unsure_set_on_which_past_requests_bear_can_be_written_as_json(embedded, embedder):
    remember(embedded, embedder, PAST)
    found = recommend(Pipeline(embedded.graph, embedded.vectors, embedder=embedder), Task("tell customers"))
    assert found.items
    assert json.loads(json.dumps(recommendation_data(found)))["fits"] is False


def test_a_prompt_of_its_own_never_quotes_another(embedded, embedder):
    remember(embedded, embedder, PAST)
    _, hit = first(embedded, embedder, "the month end must tie out")
    assert not any(text in why.text for why in hit.whys for texts in PAST.values() for text in texts)


@pytest.mark.parametrize("past", [{}, {LEDGER: ["only one request"]}], ids=["none", "one"])
def test_too_little_past_says_nothing(embedded, embedder, past):
    remember(embedded, embedder, past)
    snapshot = Snapshots(embedded.graph, embedded.vectors, model=embedder.model).current()
    history = RequestHistory(snapshot)
    assert history.ask(embedder.embed_queries(["anything"])[0]).weight == 0.0


@pytest.mark.parametrize(
    "text", ["close the month: write a changelog from the commits", "write a changelog of the month"]
)
def test_what_requests_of_like_words_never_meant_stays_first(embedded, embedder, text):
    plain = first(embedded, embedder, text)[1].component.id
    remember(embedded, embedder, {LEDGER: BOOKS})
    ranking, hit = first(embedded, embedder, text)
    assert ranking.past.weight > 0.4  # it was trusted, and would have put what it selected first
    assert hit.component.id == plain == CHANGELOG
    assert hit.parts["requests"] > -0.1


def test_one_selection_of_the_two_that_a_task_needs_pushes_the_other_out_of_no_answer(embedded, embedder):
    task = "{} the {} end, then write a changelog from the commits of the git repository"
    texts = [task.format(verb, period) for verb in ("tie out", "close", "balance") for period in ("month", "quarter")]
    remember(embedded, embedder, {LEDGER: texts})
    pipeline = Pipeline(embedded.graph, embedded.vectors, embedder=embedder)
    ranking = pipeline.rank(Query("balance the year end, then write a changelog from the git commits"), intent=SEARCH)
    found = [ranking.snapshot.summaries[row].id for row in ranking.rows[:2]]
    assert set(found) == {LEDGER, CHANGELOG}


def test_the_past_shares_out_no_more_than_it_passed_over(embedded, embedder):
    remember(embedded, embedder, PAST)
    snapshot = Snapshots(embedded.graph, embedded.vectors, model=embedder.model).current()
    past = RequestHistory(snapshot).ask(embedder.embed_queries(["month end"])[0])
    scores = np.linspace(0.0, 5.0, len(snapshot))
    assert np.exp(with_past_requests(scores, past)).sum() == pytest.approx(np.exp(scores).sum())


def test_rows_without_a_past_keep_their_order(embedded, embedder):
    remember(embedded, embedder, PAST)
    snapshot = Snapshots(embedded.graph, embedded.vectors, model=embedder.model).current()
    past = RequestHistory(snapshot).ask(embedder.embed_queries(["month end"])[0])
    scores = np.linspace(0.0, 5.0, len(snapshot))
    unserved = np.flatnonzero(past.share == 0.0)
    assert len(unserved) > 2
    assert np.all(np.diff(with_past_requests(scores, past)[unserved]) > 0)


@pytest.mark.parametrize("again", ["get head office what they want", "please get head office what they wanted"])
def test_what_one_request_selected_comes_first_when_it_is_asked_again(embedded, embedder, again):
    text = "get head office what they want"
    assert first(embedded, embedder, text)[1].component.id != LEDGER
    remember(embedded, embedder, {LEDGER: [text]})
    assert first(embedded, embedder, again)[1].component.id == LEDGER


def live(store, embedder, text, sessions, days_ago=0):
    """Let each session ask for the same, see two components in order, and select one of them."""
    at = (datetime.fromisoformat(now().replace("Z", "+00:00")) - timedelta(days=days_ago)).isoformat()
    vector, settings = embedder.embed_queries([text])[0], Settings()
    request = lessons.open_request(text, settings)
    for number, (shown, selected, outcome) in enumerate(sessions):
        moment = hook_events.Moment(at, f"{store.events.size()} {number}", "/p")
        where = moment.session, "/p", request.key
        events = [hook_events.asked(request, moment, settings)]
        events += [Event(at, OFFERED, *where, node, {"rank": rank}) for rank, node in enumerate(shown, 1)]
        events.append(Event(at, SELECTED, *where, selected))
        events += [Event(at, FAILED, *where, selected)] if outcome == "failed" else []
        store.events.append(events)
        lessons.learn(store, lessons.Lesson(request, selected, moment, vector, embedder.query_encoder), settings)


def answered(store, embedder, text):
    use = UsageCache(lambda: remembered(store, half_life=90.0))
    options = Options(priors=(use.prior,), experiences=use.experiences)
    pipeline = Pipeline(store.graph, store.vectors, embedder=embedder, options=options)
    ranking = pipeline.rank(Query(text), intent=SEARCH)
    return ranking, [ranking.snapshot.summaries[row].id for row in ranking.rows]


TASK = "get head office what they want"
OLD = ([LEDGER, CHANGELOG], LEDGER, "")
NEW = ([LEDGER, CHANGELOG], CHANGELOG, "")


def test_a_new_taste_comes_first_after_three_selections_however_often_the_old_one_was_selected(embedded, embedder):
    live(embedded, embedder, TASK, [OLD] * 8)
    assert answered(embedded, embedder, TASK)[1][0] == LEDGER
    live(embedded, embedder, TASK, [NEW, NEW, NEW])
    assert answered(embedded, embedder, TASK)[1][0] == CHANGELOG


def test_a_use_of_years_ago_is_trusted_no_more_and_one_of_a_season_ago_nearly_as_one_of_today(embedded, embedder):
    live(embedded, embedder, TASK, [OLD], days_ago=800)
    ranking, order = answered(embedded, embedder, TASK)
    assert ranking.past.trust < 0.1
    assert order[0] != LEDGER
    live(embedded, embedder, TASK, [OLD], days_ago=90)
    ranking, order = answered(embedded, embedder, TASK)
    assert ranking.past.trust > 0.75
    assert order[0] == LEDGER


def test_what_failed_is_not_what_served(embedded, embedder):
    live(embedded, embedder, TASK, [([LEDGER], LEDGER, "failed")])
    ranking, _ = answered(embedded, embedder, TASK)
    assert not ranking.past.share.any()
    [row] = [row for row, one in enumerate(ranking.snapshot.summaries) if one.id == LEDGER]
    assert ranking.parts["requests"][row] < 0.0


def test_what_failed_lends_no_trust_to_what_another_request_took(embedded, embedder):
    live(embedded, embedder, "tell customers what is new today", [([CHANGELOG], CHANGELOG, "")])
    assert answered(embedded, embedder, TASK)[0].past.trust < 0.5
    live(embedded, embedder, TASK, [([LEDGER], LEDGER, "failed")])
    ranking, order = answered(embedded, embedder, TASK)
    assert ranking.past.trust < 0.5
    assert order[0] != CHANGELOG


def test_what_the_log_no_longer_tells_the_graph_still_counts(embedded, embedder):
    live(embedded, embedder, TASK, [OLD] * 3)
    events = embedded.events.since(0)
    embedded.events.compact([event.id for event in events], [], summary=events[-1].at)
    assert not embedded.events.since(0)
    assert answered(embedded, embedder, TASK)[1][0] == LEDGER
