"""A server in a home where nothing was read answers its first call from the catalogue; the rest is read beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcp_server.talk import Talk, ask
from repertoire.mcp_server.dispatcher import Dispatcher

pytestmark = pytest.mark.anyio
TASK = "add OAuth login with sessions to a FastAPI service"
UNREAD = "is still being read"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Let it refresh, on a machine where Claude Code was never used, and give an answer all the time it wants."""
    nowhere = str(home.parent / "none")
    for name in ("CLAUDE_CONFIG_DIR", "HOME", "CLAUDE_PROJECT_DIR"):
        monkeypatch.setenv(name, nowhere)
    monkeypatch.setenv("REPERTOIRE_HOME", str(home))
    own = {"REPERTOIRE_BACKGROUND": "true", "REPERTOIRE_QUERY_MS": "60000", "CLAUDE_CONFIG_DIR": nowhere}
    return {"REPERTOIRE_HOME": str(home), "PATH": os.environ["PATH"], **own}


async def test_the_first_call_is_answered_from_words_and_meaning_and_says_what_is_not_read_yet(talk: Talk) -> None:
    async with talk() as client:
        first = await ask(client, "recommend_set", task=TASK)

    assert "fastapi" in first
    assert "until they are embedded" not in first
    assert UNREAD in first


async def test_it_is_the_answer_that_is_given_once_all_was_read(talk: Talk, dispatcher: Dispatcher, home: Path) -> None:
    async with talk() as client:
        first = await ask(client, "recommend_set", task=TASK)
        await dispatcher.warm_up()
        (process,) = dispatcher._refreshing
        assert process.wait(timeout=120) == 0, (home / "log" / "refresh.log").read_text()
        second = await ask(client, "recommend_set", task=TASK)

    assert UNREAD not in second
    assert [line for line in first.splitlines() if UNREAD not in line] == second.splitlines()


async def test_where_no_refresh_may_run_an_empty_home_says_that_nothing_is_known(
    environment: dict[str, str], talk: Talk
) -> None:
    environment["REPERTOIRE_BACKGROUND"] = "false"
    async with talk() as client:
        for tool, asked in (("recommend_set", {"task": TASK}), ("search_components", {"query": TASK})):
            assert "no component is known yet" in await ask(client, tool, **asked)
