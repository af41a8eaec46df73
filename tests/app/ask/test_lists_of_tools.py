"""A task that lists tools by their names gets each of them, whether or not the items of the list have a verb."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.kernel import Repertoire
from repertoire.app.sources.embed import embed_shipped
from repertoire.app.sources.settle import write_catalogue
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Task


@pytest.fixture(scope="module")
def repertoire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repertoire]:
    # a busy machine leaves no time to ask the clauses apart
    with open_repertoire(tmp_path_factory.mktemp("lists"), environment={"REPERTOIRE_QUERY_MS": "60000"}) as opened:
        assert opened.embedder is not None
        write_catalogue(opened.store)
        embed_shipped(opened.store, opened.embedder)
        yield opened


@pytest.mark.parametrize(
    ("task", "named"),
    [
        ("auth0 login, stripe billing, deploy on cloudflare", {"auth0", "stripe", "cloudflare"}),
        (
            "I need: 1) login with auth0 2) stripe subscriptions 3) deploy on cloudflare workers",
            {"auth0", "stripe", "cloudflare"},
        ),
        (
            "use supabase for the database, figma for the design and linear for tickets",
            {"supabase", "figma", "linear"},
        ),
        ("we use notion, slack, jira", {"notion", "slack", "atlassian"}),
        # what a prompt only tells is there brings nothing
        (
            "our react app uses stripe, postgres and tailwind, add dark mode",
            {"tailwind-design-system", "react-specialist"},
        ),
    ],
)
def test_every_tool_of_a_list_is_in_the_set(repertoire: Repertoire, task: str, named: set[str]) -> None:
    assert {item.hit.component.name for item in recommend(repertoire.pipeline, Task(task)).items} == named
