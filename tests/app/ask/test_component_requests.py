"""Who asks for a component of some type gets one that does the job, not one that helps to build such components."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.kernel import Repertoire
from repertoire.app.session.hint import HintLimits, Offer, offer
from repertoire.app.session.hook_events import Moment
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.settle import write_catalogue
from repertoire.app.usage.lessons import learn, lesson, open_request
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Task
from repertoire.rendering.answers import recommendation_text
from repertoire.settings import Settings


@pytest.fixture(scope="module")
def repertoire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repertoire]:
    with open_repertoire(tmp_path_factory.mktemp("asked"), environment={"REPERTOIRE_QUERY_MS": "60000"}) as opened:
        write_catalogue(opened.store)
        assert opened.embedder is not None
        embed_pending(opened.store, opened.embedder)
        yield opened


@pytest.mark.parametrize(
    ("request_", "types", "word"),
    [
        ("is there an mcp server for jira", {"mcp_server", "plugin"}, "jira"),
        ("mcp server for browser automation", {"mcp_server"}, "browser"),
        ("suggest a skill for rebasing", {"skill", "command"}, "git"),
        ("any good agents for security audits?", {"agent"}, "security"),
    ],
)
def test_the_first_of_a_set_is_of_the_type_that_was_asked_for_and_does_the_job(
    repertoire: Repertoire, request_: str, types: set[str], word: str
) -> None:
    found = recommend(repertoire.pipeline, Task(request_))
    first = found.items[0].hit.component
    assert first.type in types
    assert word in f"{first.name} {first.description}".lower()


def test_a_request_without_a_job_is_asked_back_and_draws_no_hint(repertoire: Repertoire) -> None:
    found = recommend(repertoire.pipeline, Task("suggest some useful plugins"))
    assert (found.items, found.install) == ((), ())
    assert {facet.name for facet in found.facets} >= {"part", "goal"}
    assert "names no job" in recommendation_text(found)
    assert offer(repertoire.pipeline, "suggest some useful plugins", HintLimits()).hits == Offer().hits


def test_in_a_project_what_it_is_built_with_stands_for_the_job(repertoire: Repertoire, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\ndependencies = ["django", "psycopg"]\n')
    found = recommend(
        repertoire.pipeline, Task("which skills should I install for this project", project=str(tmp_path))
    )
    assert any("built with (django" in note for note in found.degraded)
    assert not found.gaps
    assert "django" in found.items[0].hit.component.description.lower()


def test_in_a_project_whose_technologies_are_not_known_a_request_without_a_job_is_asked_back_once(
    repertoire: Repertoire, tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text("notes")
    found = recommend(repertoire.pipeline, Task("suggest some useful plugins", project=str(tmp_path)))
    assert [note for note in found.degraded if "names no job" in note] == [
        "the request names no job that components of this type are for"
    ]
    assert found.facets


def test_what_served_a_request_for_a_component_comes_first_when_it_is_asked_again(tmp_path: Path) -> None:
    asked, settings = "is there a skill that writes changelogs?", Settings()
    with open_repertoire(tmp_path, environment={"REPERTOIRE_QUERY_MS": "60000"}) as opened:
        write_catalogue(opened.store)
        assert opened.embedder is not None
        embed_pending(opened.store, opened.embedder)
        found = recommend(opened.pipeline, Task(asked))
        second = next(hit.component for hit in found.near if hit.component.id != found.items[0].hit.component.id)
        request = open_request(asked, settings)
        assert request is not None
        told = lesson(request, second.id, Moment("2026-11-01T08:00:00+00:00", "s", ""), opened.embedder)
        learn(opened.store, told, settings)
        again = recommend(opened.pipeline, Task(asked)).items[0].hit
        assert again.component.id == second.id
        assert "request" in {why.kind for why in again.whys}
