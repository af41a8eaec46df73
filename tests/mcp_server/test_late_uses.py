"""A use that takes longer to work out than a hook may wait is kept, whether the session goes on or ends."""

from __future__ import annotations

import asyncio
import math
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcp_server.talk import events_of
from repertoire.app.session.spool import take_in
from repertoire.app.upkeep.refresh import refresh
from repertoire.boot.spool import HEARD, put_off, waiting
from repertoire.domain.event import ASKED, OFFERED, SELECTED
from repertoire.mcp_server import hook_calls, work
from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.mcp_server.hook_calls import Hook
from repertoire.mcp_server.work import Answers
from repertoire.settings import Settings
from repertoire.store.database import Store
from sample_home import SOURCE

pytestmark = pytest.mark.anyio

PDF = f"{SOURCE.key}:skills/pdf-forms.md"
USED = {"tool_name": "Skill", "tool_input": '{"skill": "pdf-forms"}', "session_id": "s1", "cwd": "/project"}


async def leave(dispatcher: Dispatcher, hooks: list[asyncio.Future[str]], go_on: threading.Event) -> None:
    """End as a server does whose client leaves: its loop cancels all tasks, then its workers go on and finish."""
    tasks = [*hooks, *dispatcher._doing]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    go_on.set()
    dispatcher.finish(20)


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
    await leave(dispatcher, [], go_on)
    with Store.open(home / "repertoire.db") as store:
        take_in(store)
    [event] = events_of(home, SELECTED)
    assert event.node.endswith("pdf-forms.md")


async def test_uses_that_wait_for_each_other_when_the_client_leaves_are_not_lost(
    dispatcher: Dispatcher, home: Path
) -> None:
    go_on = threading.Event()
    dispatcher._answering.submit(lambda _: go_on.wait(30))
    hooks = [
        asyncio.ensure_future(dispatcher.hook("hook_used", {**USED, "session_id": session})) for session in ("s1", "s2")
    ]
    await asyncio.sleep(0)
    await leave(dispatcher, hooks, go_on)
    with Store.open(home / "repertoire.db") as store:
        take_in(store)
    assert {event.session for event in events_of(home, SELECTED)} == {"s1", "s2"}


@pytest.mark.parametrize("by", ["the next session", "a refresh"])
async def test_a_use_that_a_session_could_not_write_before_it_ended_is_learned_all_the_same(
    dispatcher: Dispatcher, home: Path, by: str
) -> None:
    row = {"at": "2026-01-01T00:00:00Z", "session": "s0", "project": "/project", "request": "request:1"}
    put_off(home, [{**row, "kind": ASKED, "data": {"prompt": "fill in tax forms"}}])
    put_off(home, [{**row, "kind": SELECTED, "node": PDF}])
    if by == "a refresh":
        with Store.open(home / "repertoire.db") as store:
            refresh(store, home, settings=Settings(fetch=False))
    else:
        await dispatcher.hook("hook_prompt", {"session_id": "s1", "cwd": "/project", "prompt": "write the tests"})
        assert dispatcher._writing.drain(20)
    with Store.open(home / "repertoire.db") as store:
        assert ("request:1", 1.0) in [(link.other, link.weight) for link in store.graph.links(PDF)]
        assert store.requests.has_text("request:1")


async def test_a_use_that_another_session_looks_up_first_is_learned_for_its_request(
    dispatcher: Dispatcher, home: Path
) -> None:
    now = "2999-01-01T00:00:00Z"  # while both run
    row = {"at": now, "session": "s0", "project": "/project"}
    put_off(home, [{**row, "kind": ASKED, "request": "request:1", "data": {"prompt": "fill in tax forms"}}])
    put_off(home, [{**row, "kind": HEARD, "data": {"tool": "Skill", "name": "pdf-forms"}}])
    await dispatcher.hook("hook_prompt", {"session_id": "s1", "cwd": "/project", "prompt": "write the tests"})
    assert dispatcher._writing.drain(20)
    with Store.open(home / "repertoire.db") as store:
        assert ("request:1", 1.0) in [(link.other, link.weight) for link in store.graph.links(PDF)]


def test_an_offer_that_the_client_no_longer_waits_for_is_recorded_as_none(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = {"session_id": "s1", "cwd": "/project", "prompt": "Fill in the fields of these PDF tax forms"}
    monkeypatch.setenv("REPERTOIRE_HOME", str(home))
    answers = Answers({"REPERTOIRE_BACKGROUND": "false"})
    in_time, looked = answers.hook("hook_prompt", Hook(prompt)), work.covering_pack
    assert [event.kind for event in in_time.events] == [ASKED, OFFERED]

    def too_long(*arguments: Any, **more: Any) -> Any:
        monkeypatch.setattr(hook_calls, "time", SimpleNamespace(monotonic=lambda: math.inf))
        return looked(*arguments, **more)

    monkeypatch.setattr(work, "covering_pack", too_long)
    late = answers.hook("hook_prompt", Hook({**prompt, "session_id": "s2"}, until=sys.float_info.max))
    assert [event.kind for event in late.events] == [ASKED]
    answers.close()
