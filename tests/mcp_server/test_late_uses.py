"""A use that takes longer to work out than a hook may wait is kept, whether the session goes on or ends."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from mcp_server.talk import events_of
from repertoire.app.session.spool import take_in
from repertoire.boot.spool import waiting
from repertoire.domain.event import SELECTED
from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.store.database import Store

pytestmark = pytest.mark.anyio

USED = {"tool_name": "Skill", "tool_input": '{"skill": "pdf-forms"}', "session_id": "s1", "cwd": "/project"}


async def test_a_use_that_is_not_worked_out_in_time_is_left_beside_the_log_until_it_is(
    dispatcher: Dispatcher, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repertoire.mcp_server.dispatcher.HOOK_SECONDS", 0.01)
    go_on = threading.Event()
    dispatcher._answering.submit(lambda _: go_on.wait(30))  # as a first question does, while the graph is read
    assert await dispatcher.hook("hook_used", USED) == "{}"
    [word] = waiting(home)
    assert "pdf-forms" in word.read_text()
    go_on.set()
    await asyncio.gather(*dispatcher._doing)
    assert dispatcher._writing.drain(20)  # on a busy machine it waits beside the log once more
    assert not waiting(home)
    [event] = events_of(home, SELECTED)
    assert event.node.endswith("pdf-forms.md")


async def test_a_use_that_is_not_worked_out_when_the_client_leaves_is_not_lost(
    dispatcher: Dispatcher, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repertoire.mcp_server.dispatcher.HOOK_SECONDS", 0.01)
    go_on = threading.Event()
    dispatcher._answering.submit(lambda _: go_on.wait(30))
    assert await dispatcher.hook("hook_used", USED) == "{}"
    doing = list(dispatcher._doing)
    for task in doing:  # as a loop does that ends
        task.cancel()
    await asyncio.wait(doing)
    go_on.set()
    dispatcher.finish(20)
    with Store.open(home / "repertoire.db") as store:
        take_in(store)
    [event] = events_of(home, SELECTED)
    assert event.node.endswith("pdf-forms.md")
