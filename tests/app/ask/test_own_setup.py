"""A question about what is installed gets no set but the commands that answer it, and a task gets its set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from repertoire.app.ask.own_setup import asks_own_setup
from repertoire.app.ask.recommend import recommend
from repertoire.app.kernel import Repertoire
from repertoire.app.session.hint import HintLimits, Offer, offer
from repertoire.app.sources.settle import write_catalogue
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Task
from repertoire.rendering.answers import recommendation_text


@pytest.fixture(scope="module")
def repertoire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repertoire]:
    with open_repertoire(tmp_path_factory.mktemp("own"), environment={}) as opened:
        write_catalogue(opened.store)
        yield opened


def test_a_question_about_what_is_installed_gets_no_set_but_the_commands_that_answer_it(repertoire: Repertoire) -> None:
    found = recommend(repertoire.pipeline, Task("list my mcp servers"))
    assert (found.items, found.near, found.install, found.fits) == ((), (), (), False)
    told = recommendation_text(found)
    assert "search_components with `installed`, or `repertoire search WORDS --installed`," in told
    assert "`repertoire status`" in told


@pytest.mark.parametrize("prompt", ["list my agents", "which plugins do I have?"])
def test_a_question_about_what_is_installed_gets_no_hint_of_what_could_be(repertoire: Repertoire, prompt: str) -> None:
    assert offer(repertoire.pipeline, prompt, HintLimits()) == Offer()


@pytest.mark.parametrize(
    "prompt",
    [
        "which agents do i have",
        "What skills are installed?",
        "which skills are enabled right now",
        "how many plugins do I have enabled",
        "can you show me all my installed slash commands",
        "give me a list of my hooks and skills",
        "what MCP servers have I configured in this project",
    ],
)
def test_a_prompt_that_lists_ones_own_components_asks_for_the_set_up(prompt: str) -> None:
    assert asks_own_setup(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "which index should I add",
        "which agent is right for my project",
        "which plugins and mcp servers are right for my project",
        "list all users in the admin page",
        "what tests do I have to write",
        "which plugin do I need for that",
        "list the plugins installed in our vite config",
        "show how I configured the mcp server",
        "write a command that lists my installed plugins",
        "list components",
    ],
)
def test_a_task_is_no_question_about_ones_own_set_up(prompt: str) -> None:
    assert not asks_own_setup(prompt)
