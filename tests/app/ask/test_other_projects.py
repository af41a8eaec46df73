"""What lies in one project's own folder is loaded there alone: no set, hint or greeting of another one names it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.kernel import Repertoire
from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.settle import write_catalogue
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query, Task
from repertoire.domain.component import SourceInfo
from repertoire.retrieval.plan import RECOMMEND
from repertoire.store.light.start import StartReader
from sample_home import NOW, component, filled_home, record_of

PROMPT = "Read the tide tables so that the ship may enter the harbour"
HERE, THERE = "/shops/here", "/shops/there"
SHARED = "folder:/kept:skills/tide-tables.md"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repertoire]:
    """A home with a skill that one project has, and the source that it was copied from."""
    skill = component("skill", "tide-tables", "Reads tide tables to tell when a ship may enter a harbour.")
    with open_repertoire(filled_home(tmp_path_factory.mktemp("elsewhere")), environment={}) as opened:
        places = {SHARED: SourceInfo("folder:/kept", "folder", "/kept")}
        places[f"project:{THERE}:tide-tables"] = SourceInfo(f"project:{THERE}", "project", THERE)
        for key, source in places.items():
            there = replace(skill, id=key, repository="", installed=source.kind == "project")
            opened.store.sources.write(source, [record_of(there)], [], derived=[], now=NOW)
        assert opened.embedder is not None
        embed_pending(opened.store, opened.embedder)
        yield opened


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
