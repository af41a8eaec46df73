"""Of exact copies an answer holds one, an installed one first, and all copies share what was learned from use."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.clock import now
from repertoire.app.kernel import Repertoire
from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.patterns import renew_patterns
from repertoire.app.usage.usage_cache import usage
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query, Task
from repertoire.domain.component import DEPENDS_ON, MENTIONS, Edge, SourceInfo
from repertoire.domain.event import ASKED, CHECKED, FAILED, OFFERED, SELECTED, Event
from repertoire.rendering.answers import answer_text
from repertoire.retrieval.fuse import GRAPH
from repertoire.retrieval.plan import SEARCH
from repertoire.retrieval.priors import FRESHNESS, POPULARITY
from repertoire.store.light.start import StartReader
from repertoire.store.requests import Request, Selection
from sample_home import NOW, SOURCE, component, filled_home, record_of

PROMPT = "Fill in the fields of these PDF forms with the values from the spreadsheet"
FORMS, HERE = f"{SOURCE.key}:skills/pdf-forms.md", "/here"
USER = SourceInfo("user:~/.claude", "user", "~/.claude")
OWN = f"{USER.key}:skills/pdf-forms.md"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A skill of a repository, well dated, popular and named by others, and its exact copy among what is installed."""
    others = [component("skill", f"naming-{n}", f"Names pdf-forms, as do many others ({n}).") for n in range(3)]
    made = filled_home(tmp_path_factory.mktemp("copies"), *others)
    with open_repertoire(made, environment={}) as opened:
        store, original = opened.store, opened.store.graph.by_key(FORMS)
        assert original is not None
        theirs = replace(original.component, last_commit=now()[:10], popularity=9.0)
        own = replace(theirs, id=OWN, repository="", last_commit="", popularity=0.0, installed=True, install=())
        store.sources.write(SOURCE, [record_of(theirs)], [], derived=[], now=NOW)
        store.sources.write(USER, [record_of(own)], [], derived=[], now=NOW)
        edges = [Edge(other.id, FORMS, MENTIONS) for other in others]
        store.sources.set_edges(edges, now=NOW, file="told")
        embed(opened)
    return made


@pytest.fixture
def repertoire(home: Path, tmp_path: Path) -> Iterator[Repertoire]:
    shutil.copytree(home, tmp_path / "home")
    with open_repertoire(tmp_path / "home", environment={}) as opened:
        yield opened


def embed(repertoire: Repertoire) -> None:
    assert repertoire.embedder is not None
    embed_pending(repertoire.store, repertoire.embedder)


def ids(repertoire: Repertoire, text: str = PROMPT) -> list[str]:
    return [hit.component.id for hit in search(repertoire.pipeline, Query(text)).hits]


def fail(store, node: str, *, times: int) -> None:
    """Let a component fail for as many requests as went well while it was only offered."""
    for number in range(times):
        with_it, without = ((f"{node} {kind} {number}", HERE, f"r{number}") for kind in ("with", "without"))
        store.events.append(
            [
                *(Event(now(), kind, *with_it, node, {"rank": 1}) for kind in (OFFERED, SELECTED, FAILED)),
                Event(now(), ASKED, *without),
                Event(now(), OFFERED, *without, node, {"rank": 1}),
                Event(now(), CHECKED, *without),
            ]
        )


def test_the_installed_copy_is_ranked_directly_before_the_one_it_was_taken_from(repertoire: Repertoire) -> None:
    assert ids(repertoire)[:2] == [OWN, FORMS]
    assert ids(repertoire, "pdf-forms")[:2] == [OWN, FORMS]
    found = search(repertoire.pipeline, Query(PROMPT))
    assert f"the same component is installed already: {OWN}" in answer_text(found)
    assert "/plugin install pdf-forms" not in answer_text(found)
    first, second = found.hits[:2]
    for part in (POPULARITY, FRESHNESS, GRAPH):
        assert first.parts[part] == second.parts[part] != 0.0


def test_a_hint_names_the_installed_copy_and_never_how_to_install_it(repertoire: Repertoire) -> None:
    found = offer(repertoire.pipeline, PROMPT, HintLimits())
    assert [hit.component.id for hit in found.hits] == [OWN]
    assert "install:" not in found.text
    again = offer(repertoire.pipeline, PROMPT, HintLimits(seen=frozenset((OWN,))))
    assert again.hits == ()


def test_a_set_names_the_installed_copy_alone(repertoire: Repertoire) -> None:
    for installed in (None, True):
        found = recommend(repertoire.pipeline, Task(PROMPT, installed=installed))
        beside = [*found.why_not, *found.companions, *(one for item in found.items for one in item.alternatives)]
        assert [item.hit.component.id for item in found.items] == [OWN]
        assert FORMS not in {one.component.id for one in beside} | {hit.component.id for hit in found.near}
        assert found.install == ()
    elsewhere = recommend(repertoire.pipeline, Task(PROMPT, installed=False))
    assert FORMS not in {item.hit.component.id for item in elsewhere.items}


def test_what_needs_a_copy_needs_the_installed_one(repertoire: Repertoire) -> None:
    needing = f"{SOURCE.key}:skills/changelog.md"
    repertoire.store.sources.set_edges([Edge(needing, FORMS, DEPENDS_ON)], now=NOW, file="needs")
    task = "Write release notes and a changelog from the commits"
    roles = {item.hit.component.id: item.role for item in recommend(repertoire.pipeline, Task(task, limit=2)).items}
    assert roles[OWN] == "needed by changelog"
    assert FORMS not in roles


def test_one_repository_is_answered_from_with_what_it_holds(repertoire: Repertoire) -> None:
    found = recommend(repertoire.pipeline, Task(PROMPT, repository=SOURCE.repository))
    assert [item.hit.component.id for item in found.items] == [FORMS]


def test_a_copy_whose_content_differs_is_another_component(repertoire: Repertoire) -> None:
    own = repertoire.store.graph.by_key(OWN)
    assert own is not None
    edited = replace(own.component, content_hash="edited", description="Turns scans into text.", body="", examples="")
    repertoire.store.sources.write(USER, [record_of(edited)], [], derived=[], now=NOW)
    embed(repertoire)
    assert ids(repertoire)[0] == FORMS


@pytest.mark.parametrize("tried", [OWN, FORMS])
def test_harm_of_one_copy_holds_for_the_other_in_every_door(repertoire: Repertoire, tried: str) -> None:
    fail(repertoire.store, tried, times=12)
    found = search(repertoire.pipeline, Query(PROMPT))
    shown = {hit.component.id: hit for hit in found.hits}
    assert shown[OWN].demoted == shown[FORMS].demoted != ""
    assert answer_text(found).count("demoted: failed more often than without it") == 2
    assert repertoire.use.harmful() == {OWN, FORMS}
    hinted = offer(repertoire.pipeline, PROMPT, HintLimits(muted=repertoire.unfit_for_hints(HERE)))
    assert not {OWN, FORMS} & {hit.component.id for hit in hinted.hits}
    taken = recommend(repertoire.pipeline, Task(PROMPT), muted=repertoire.unfit_for_sets(HERE)).items
    assert FORMS not in {item.hit.component.id for item in taken}


def test_failures_of_several_copies_add_up(repertoire: Repertoire) -> None:
    fail(repertoire.store, OWN, times=5)
    assert repertoire.use.harmful() == frozenset()
    fail(repertoire.store, FORMS, times=6)
    ids(repertoire)
    kept = usage(repertoire.store, half_life=90.0)
    assert (kept.of(FORMS), kept.records[OWN].failed) == (kept.records[OWN], 11)
    assert repertoire.use.harmful() == {OWN, FORMS}


def test_a_copy_that_comes_later_is_what_its_content_was(repertoire: Repertoire) -> None:
    fail(repertoire.store, OWN, times=12)
    ids(repertoire)
    own = repertoire.store.graph.by_key(OWN)
    assert own is not None
    late = replace(own.component, id="late:skills/pdf-forms.md", installed=False)
    source = SourceInfo("late", "folder", "/late")
    repertoire.store.sources.write(source, [record_of(late)], [], derived=[], now=NOW)
    embed(repertoire)
    assert ids(repertoire)[0] != late.id
    assert late.id in repertoire.use.harmful()


@pytest.mark.parametrize("whole", [True, False])
def test_what_a_removed_copy_was_holds_for_the_one_that_stays(repertoire: Repertoire, whole: bool) -> None:
    store = repertoire.store
    fail(store, OWN, times=12)
    if whole:
        store.sources.remove(USER.key)
    else:
        store.sources.write(USER, [], ["skills/pdf-forms.md"], derived=[], now=NOW)
    ids(repertoire)
    assert FORMS in repertoire.use.harmful()
    reader = StartReader(store.path)
    assert reader.copies_of([OWN]) == {OWN: FORMS, FORMS: FORMS}
    reader.close()
    store.privacy.forget_requests()
    assert store.events.size() == 0


def test_an_offer_of_one_copy_is_taken_by_using_the_other(repertoire: Repertoire) -> None:
    where = "s", HERE, "r"
    told = [Event(now(), ASKED, *where), Event(now(), OFFERED, *where, FORMS, {"rank": 1, "where": "prompt"})]
    repertoire.store.events.append([*told, Event(now(), SELECTED, *where, OWN), Event(now(), CHECKED, *where)])
    kept = usage(repertoire.store, half_life=90.0)
    record = kept.of(FORMS)
    assert record is not None
    assert record == kept.of(OWN)
    assert (record.recommended, record.selected, record.taken) == (1, 1, pytest.approx(1.0))
    assert not record.lift.unused.known  # the same request did not go without it


def test_what_one_copy_served_before_the_installed_one_is_named_for(repertoire: Repertoire) -> None:
    past = [Request(f"request:{n}", text=PROMPT, selected=(Selection(FORMS),)) for n in range(6)]
    repertoire.store.requests.record_many(past, now=NOW)
    embed(repertoire)
    first = search(repertoire.pipeline, Query(PROMPT)).hits[0]
    assert first.component.id == OWN
    assert "request" in {why.kind for why in first.whys}


def test_what_moved_keeps_its_past_in_answers_and_in_what_explain_counts(repertoire: Repertoire) -> None:
    store = repertoire.store
    was = store.graph.by_key(OWN)
    assert was is not None
    asked = [f"request:{n}" for n in range(6)]
    store.requests.record_many([Request(key, text=PROMPT, selected=(Selection(OWN),)) for key in asked], now=NOW)
    for key in asked:
        where = f"session {key}", HERE, key
        store.events.append([Event(now(), kind, *where, OWN) for kind in (ASKED, SELECTED, CHECKED)])
    new = replace(was.component, id=f"{USER.key}:skills/moved/pdf-forms.md")
    store.sources.remove(SOURCE.key)
    store.sources.write(USER, [record_of(new)], ["skills/pdf-forms.md"], derived=[], now=NOW)
    embed(repertoire)
    first = search(repertoire.pipeline, Query(PROMPT)).hits[0]
    assert first.component.id == new.id
    assert "request" in {why.kind for why in first.whys}
    usage_here = usage(store, half_life=90.0)
    told = explain(store, repertoire.pipeline, ExplainRequest("pdf-forms"), usage=usage_here)
    assert (told.history.used, told.history.went_well, told.selections) == (6, 6, 6)
    assert {one.selected for one in store.requests.uses()} == {1.0}


def test_what_served_before_and_is_dismissed_makes_no_other_answer_surer(repertoire: Repertoire) -> None:
    def confidence(**more: frozenset[str]) -> float:
        return float(repertoire.pipeline.rank(Query(PROMPT), intent=SEARCH, **more).confidence)

    unknown = confidence(muted=frozenset((OWN, FORMS)))
    past = [Request(f"request:{n}", text=PROMPT, selected=(Selection(FORMS),)) for n in range(6)]
    repertoire.store.requests.record_many(past, now=NOW)
    embed(repertoire)
    assert confidence(muted=frozenset((OWN, FORMS))) == pytest.approx(unknown)
    assert confidence(muted=frozenset((FORMS,))) == confidence() > 0.9


def test_known_combinations_of_a_copy_are_those_of_the_installed_one(repertoire: Repertoire) -> None:
    other = f"{SOURCE.key}:skills/changelog.md"
    ship = f"{SOURCE.key}:commands/ship.md"
    past = [Request(f"request:{n}", selected=(Selection(FORMS), Selection(other))) for n in range(6)]
    past += [Request(f"request:other {n}", selected=(Selection(ship), Selection(f"{ship}{n}"))) for n in range(6)]
    repertoire.store.requests.record_many(past, now=NOW)
    renew_patterns(repertoire.store)
    for name in (OWN, FORMS):
        found = search(repertoire.pipeline, Query("Write release notes", using=(name,)))
        assert [one.component.id for one in found.companions] == [other]
    beside = search(repertoire.pipeline, Query("What goes well with the changelog skill?", using=(other,))).companions
    assert [one.component.id for one in beside] == [OWN]


def test_without_an_installed_copy_no_answer_moves(repertoire: Repertoire) -> None:
    repertoire.store.sources.remove(USER.key)
    ranking = repertoire.pipeline.rank(Query(PROMPT), intent=SEARCH)
    assert not ranking.snapshot.copies.has_installed_copy.any()
    assert np.array_equal(ranking.answering, ranking.rows)
    assert ids(repertoire)[0] == FORMS
