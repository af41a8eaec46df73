"""A task that is too vague for a set gets clarifying facets, as data and as text, with values that the graph holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.kernel import Repertoire
from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.session.unmet_needs import gap_events
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.settle import write_catalogue
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Recommendation, Task
from repertoire.domain.component import CAPABILITY
from repertoire.rendering.answers import recommendation_text
from repertoire.settings import Settings


@pytest.fixture(scope="module")
def repertoire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repertoire]:
    patient = {"REPERTOIRE_QUERY_MS": "60000"}
    with open_repertoire(tmp_path_factory.mktemp("asking"), environment=patient) as opened:
        write_catalogue(opened.store)
        assert opened.embedder is not None
        embed_pending(opened.store, opened.embedder)
        yield opened


def asked(repertoire: Repertoire, text: str, **more: str) -> Recommendation:
    return recommend(repertoire.pipeline, Task(text, **more))


def facet(found: Recommendation, name: str) -> tuple[str, ...]:
    return next((one.values for one in found.facets if one.name == name), ())


@pytest.mark.parametrize("task", ["make it better", "can you help me", "improve our app"])
def test_a_task_that_says_nothing_is_asked_which_part_and_which_goal(repertoire: Repertoire, task: str) -> None:
    found = asked(repertoire, task)
    assert [one.name for one in found.facets] == ["part", "goal"]
    assert all(2 <= len(one.values) <= 4 for one in found.facets)
    assert (found.items, found.near, found.fits) == ((), (), False)


def test_a_task_that_names_an_area_alone_is_asked_for_what_lies_in_it(repertoire: Repertoire) -> None:
    found = asked(repertoire, "the frontend needs work")
    assert "frontend" not in facet(found, "part")
    assert "react" in facet(found, "technology")


def test_a_project_that_tells_its_technology_is_not_asked_for_it(repertoire: Repertoire, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"dependencies": {"react": "19.0.0"}}')
    found = asked(repertoire, "the frontend needs work", project=str(tmp_path))
    assert facet(found, "goal")
    assert not facet(found, "technology")


def test_the_parts_that_a_project_has_come_first(repertoire: Repertoire, tmp_path: Path) -> None:
    assert "infrastructure" not in facet(asked(repertoire, "make it better"), "part")
    (tmp_path / "main.tf").write_text('resource "aws_s3_bucket" "b" {}')
    assert facet(asked(repertoire, "make it better", project=str(tmp_path)), "part")[0] == "infrastructure"


@pytest.mark.parametrize(
    "task", ["write unit tests", "code review", "set up monitoring", "design the database", "scrape a website"]
)
def test_a_short_task_that_names_its_job_is_answered_and_not_asked_back(repertoire: Repertoire, task: str) -> None:
    assert asked(repertoire, task).facets == ()


def test_what_is_asked_back_reads_as_choices_and_says_what_to_do(repertoire: Repertoire) -> None:
    found = asked(repertoire, "make it better")
    text = recommendation_text(found)
    assert f"part: {', '.join(facet(found, 'part'))}" in text
    assert "Ask again with the answer in the task." in text
    assert "Nothing fits" not in text


def test_values_are_what_components_here_provide(repertoire: Repertoire) -> None:
    found = asked(repertoire, "make it better")
    topology = repertoire.store.graph.topology()
    provided = {name for name, kind in zip(topology.names, topology.types, strict=True) if kind == CAPABILITY}
    assert {value for one in found.facets for value in one.values} <= provided


def test_a_vague_task_is_no_gap_and_a_vague_prompt_draws_no_hint(repertoire: Repertoire) -> None:
    task = Task("make it better")
    assert gap_events(task, recommend(repertoire.pipeline, task), Settings()) == ()
    assert offer(repertoire.pipeline, task.text, HintLimits()).text == ""
