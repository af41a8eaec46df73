"""While a server lives, everything is read again at its time: in a process beside it, and no answer waits for that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_server.talk import ask
from repertoire.app.upkeep.refresh_attempts import newest_attempt
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
