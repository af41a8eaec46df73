"""What lies in one project's own folder is loaded there alone: no set, hint or greeting of another one names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.kernel import Repertoire
from repertoire.app.person.mute import mute
from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.settle import write_catalogue
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import REQUEST_SPACE, Query, Task
from repertoire.domain.component import DEPENDS_ON, Edge, SourceInfo
from repertoire.rendering.answers import answer_text
from repertoire.retrieval.plan import RECOMMEND
from repertoire.store.light.start import StartReader
from repertoire.store.requests import Request, Selection
from sample_home import NOW, component, filled_home, record_of

PROMPT = "Read the tide tables so that the ship may enter the harbour"
HERE, THERE = "/shops/here", "/shops/there"
SHARED = "folder:/kept:skills/tide-tables.md"


def copied(project: str) -> str:
    return f"project:{project}:tide-tables"


@contextmanager
def home_with(folder: Path, *projects: str) -> Iterator[Repertoire]:
    """Open a home with a skill of a shared folder, which projects have copied."""
    skill = component("skill", "tide-tables", "Reads tide tables to tell when a ship may enter a harbour.")
    with open_repertoire(filled_home(folder), environment={}) as opened:
        places = {SHARED: SourceInfo("folder:/kept", "folder", "/kept")}
        places |= {copied(at): SourceInfo(f"project:{at}", "project", at) for at in projects}
        for key, source in places.items():
            there = replace(skill, id=key, repository="", installed=source.kind == "project")
            opened.store.sources.write(source, [record_of(there)], [], derived=[], now=NOW)
        assert opened.embedder is not None
        embed_pending(opened.store, opened.embedder)
        yield opened


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repertoire]:
    with home_with(tmp_path_factory.mktemp("elsewhere"), THERE) as opened:
        yield opened


@pytest.fixture
def lent(tmp_path: Path) -> Iterator[Repertoire]:
    with home_with(tmp_path, THERE, HERE) as opened:
        yield opened


@pytest.mark.parametrize("project", [HERE, THERE])
def test_what_this_project_has_copied_is_installed_whoever_else_has_it(lent: Repertoire, project: str) -> None:
    found = search(lent.pipeline, Query(PROMPT, project=project), elsewhere=lent.store.sources.elsewhere(project))
    there = {hit.component.id: hit.there_as for hit in found.hits}
    assert there[SHARED] == copied(project)
    assert f"the same component is installed already: {copied(project)}" in answer_text(found)


def test_what_is_found_by_its_name_is_not_called_installed_for_another_projects_copy(lent: Repertoire) -> None:
    project, name = "/shops/new", "tide-tables"
    found = search(lent.pipeline, Query(name, project=project), elsewhere=lent.store.sources.elsewhere(project))
    assert [(hit.component.id, hit.there_as) for hit in found.hits] == [(SHARED, "")]


def test_a_plugin_that_was_installed_for_this_project_is_there_and_muted_by_its_name(tmp_path: Path) -> None:
    market = SourceInfo("github.com/acme/market", "marketplace", "/market")
    here = SourceInfo(f"project:{HERE}/.claude/plugins/tides@market", "project", HERE)
    with open_repertoire(filled_home(tmp_path), environment={}) as opened:
        for source, listed in ((here, ""), (market, "Keywords: sea.")):
            tides = component("plugin", "tides", "Reads tide tables to tell when a ship may enter a harbour.")
            tides = replace(tides, id=f"{source.key}:.", repository="", body=listed, content_hash=listed or "own")
            tides = replace(tides, plugin="tides", marketplace="market", installed=source is here)
            opened.store.sources.write(source, [record_of(tides)], [], derived=[], now=NOW)
        for project, there in ((HERE, f"{here.key}:."), (THERE, "")):
            elsewhere = opened.store.sources.elsewhere(project)
            hits = search(opened.pipeline, Query(PROMPT, project=project), elsewhere=elsewhere).hits
            assert {hit.component.id: hit.there_as for hit in hits}[f"{market.key}:."] == there

        mute(opened.store, "tides", project=HERE, now=NOW)
        assert {f"{here.key}:.", f"{market.key}:."} <= opened.muted(HERE)


def test_what_served_another_projects_copy_speaks_for_the_one_that_may_answer_here(lent: Repertoire) -> None:
    assert lent.embedder is not None
    asked = Request("request:1", PROMPT, THERE, selected=(Selection(copied(THERE)),))
    nodes = lent.store.requests.record_many([asked], now=NOW)
    vectors = lent.embedder.embed_queries([PROMPT])
    lent.store.vectors.put(REQUEST_SPACE, lent.embedder.query_encoder, [(nodes[0], "")], vectors)

    for project, own in ((HERE, copied(HERE)), ("/shops/new", SHARED)):
        muted = lent.unfit_for_sets(project)
        first = recommend(lent.pipeline, Task(PROMPT, project=project), muted=muted).items[0].hit
        assert first.component.id == own
        assert first.whys[0].kind == "request"


def test_what_needs_a_skill_is_named_though_another_project_has_a_copy_of_that(lent: Repertoire) -> None:
    pilot = component("agent", "harbour-pilot", "Pilots a ship into the harbour, at the hour that a skill tells it.")
    source = SourceInfo("folder:/pilots", "folder", "/pilots")
    pilot = replace(pilot, id="folder:/pilots:harbour-pilot", repository="")
    lent.store.sources.write(source, [record_of(pilot)], [], derived=[], now=NOW)
    lent.store.sources.set_edges([Edge(pilot.id, SHARED, DEPENDS_ON)], now=NOW, file="needs")
    assert lent.embedder is not None
    embed_pending(lent.store, lent.embedder)

    muted = lent.unfit_for_sets("/shops/new")
    found = recommend(lent.pipeline, Task("pilot a ship into the harbour", project="/shops/new"), muted=muted)

    assert {item.hit.component.id: item.role for item in found.items}[SHARED] == "needed by harbour-pilot"


@pytest.mark.parametrize(("project", "named"), [(HERE, SHARED), (THERE, f"project:{THERE}:tide-tables")])
def test_a_set_and_a_hint_name_what_this_project_can_use(shelf: Repertoire, project: str, named: str) -> None:
    chosen = recommend(shelf.pipeline, Task(PROMPT, project=project), muted=shelf.unfit_for_sets(project))
    hinted = offer(shelf.pipeline, PROMPT, HintLimits(project=project, muted=shelf.unfit_for_hints(project)))
    assert [item.hit.component.id for item in chosen.items] == [named]
    assert [hit.component.id for hit in hinted.hits] == [named]


@pytest.mark.parametrize(("project", "elsewhere"), [(HERE, True), (THERE, False), (f"{THERE}/web", False), ("", True)])
def test_a_project_within_another_one_has_what_lies_above(shelf: Repertoire, project: str, elsewhere: bool) -> None:
    found = {f"project:{THERE}"} if elsewhere else set()
    assert shelf.store.sources.elsewhere(project) == found
    assert StartReader(shelf.store.path).elsewhere(project) == found


def test_ones_own_skill_leads_though_its_copy_in_another_project_may_not_answer(tmp_path: Path) -> None:
    skill = component("skill", "delivery-notes", "Writes the delivery note of an order as a PDF, for our warehouse.")
    with open_repertoire(tmp_path, environment={}) as opened:
        write_catalogue(opened.store)
        for key, kind, place in (("user:~/.claude", "user", "~/.claude"), (f"project:{THERE}", "project", THERE)):
            own = replace(skill, id=f"{key}:delivery-notes", repository="", installed=True, install=())
            opened.store.sources.write(SourceInfo(key, kind, place), [record_of(own)], [], derived=[], now=NOW)
        assert opened.embedder is not None
        embed_pending(opened.store, opened.embedder)
        asked = Query("write the delivery note for an order", project=HERE)
        ranked = opened.pipeline.rank(asked, intent=RECOMMEND, muted=opened.unfit_for_sets(HERE))
        assert opened.pipeline.hits(ranked, ranked.rows[:1])[0].component.id == "user:~/.claude:delivery-notes"
