"""While a server lives, everything is read again at its time: in a process beside it, and no answer waits for that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_server.talk import ask
from repertoire.app.person.forget import ALL, forget
from repertoire.app.upkeep import background_refresh
from repertoire.app.upkeep.background_refresh import one_refresh
from repertoire.app.upkeep.refresh_attempts import newest_attempt
from repertoire.app.wiring import open_repertoire
from repertoire.mcp_server import dispatcher as dispatchers
from repertoire.mcp_server.dispatcher import Dispatcher

pytestmark = pytest.mark.anyio


@pytest.fixture
def environment(home: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Let this one refresh, on a machine where Claude Code was never used, and look at once whether it is time."""
    nowhere = str(home.parent / "none")
    for name in ("CLAUDE_CONFIG_DIR", "HOME", "CLAUDE_PROJECT_DIR"):
        monkeypatch.setenv(name, nowhere)
    monkeypatch.setenv("REPERTOIRE_MODEL", "none/at-all")  # what takes long is embedding, and not what is tested
    monkeypatch.setattr(dispatchers, "LOOK_SECONDS", 0.0)
    own = {"REPERTOIRE_BACKGROUND": "true", "CLAUDE_CONFIG_DIR": nowhere, "REPERTOIRE_MODEL": "none/at-all"}
    return {**environment, **own}


def last_read(home: Path, day: str) -> None:
    told = {"started": day, "finished": day, "failures": 0, "reader": [99]}
    (home / "refresh.json").write_text(json.dumps(told), encoding="utf-8")


async def test_it_is_read_again_at_its_time_while_questions_are_answered(
    home: Path, dispatcher: Dispatcher, talk
) -> None:
    last_read(home, "2020-01-01T00:00:00Z")

    async with talk() as client:
        await dispatcher.keep_fresh()
        (process,) = dispatcher._refreshing
        assert "pdf-forms" in await ask(client, "search_components", query="fill a pdf form")

    assert process.wait(timeout=120) == 0, (home / "log" / "refresh.log").read_text()
    after = newest_attempt(home)
    assert (after.failures, after.finished > "2026") == (0, True)
    await dispatcher.keep_fresh()
    assert [other for other in dispatcher._refreshing if other is not process] == [], "it is not time again"


async def test_what_the_refresh_of_another_session_does_not_read_is_read_once_that_has_ended(
    home: Path, dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    last_read(home, "2020-01-01T00:00:00Z")
    monkeypatch.setattr(dispatchers, "LOOK_SECONDS", 3_600.0)

    with one_refresh(home):  # of a session in another project
        await dispatcher.keep_fresh()
        assert not dispatcher._refreshing
        monkeypatch.setattr(background_refresh, "running", lambda _home: False)  # it begins in the same moment
        await dispatcher.keep_fresh()
        (late,) = dispatcher._refreshing
        late.wait(timeout=120)
    dispatcher.tidy()
    await dispatcher.keep_fresh()

    (process,) = dispatcher._refreshing
    process.kill()
    process.wait()


async def test_a_session_reads_the_catalogue_again_after_another_one_forgot_everything(
    home: Path, dispatcher: Dispatcher, talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    last_read(home, "2026-05-05T00:00:00Z")
    monkeypatch.setattr(dispatchers, "LOOK_SECONDS", 3_600.0)
    async with talk() as client:
        assert "pdf-forms" in await ask(client, "search_components", query="fill a pdf form")
        with open_repertoire(home) as other:
            forget(other.store, ALL)

        told = await ask(client, "search_components", query="write end-to-end tests with Playwright")
        await dispatcher.keep_fresh()

    assert "playwright" in told
    assert "is still being read" in told
    (process,) = dispatcher._refreshing
    process.kill()
    process.wait()
