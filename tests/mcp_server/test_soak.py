"""Hundreds of prompts through one server: what grows is bounded; the short form of `bench/soak/prompts.py`."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from mcp_server.talk import Talk, ask
from repertoire.app.usage.compact_log import compact_when_due
from repertoire.domain.event import COUNTED, SELECTED
from repertoire.learning.log_compaction import LogBounds
from repertoire.store.connection import LOG_LIMIT
from repertoire.store.database import Store

pytestmark = pytest.mark.anyio

PROMPTS = ("Fill in the PDF tax form number {}", "Deploy the service {} to Kubernetes", "Audit the ledger {}")
ROOM = LogBounds(newest=70, selected=40, counts=30)
REQUESTS = 20


async def test_the_log_past_requests_and_the_write_ahead_log_stay_bounded_whatever_is_prompted(
    talk: Talk, home: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment["REPERTOIRE_MAX_REQUESTS"] = str(REQUESTS)
    often = functools.partial(compact_when_due, bounds=ROOM, every=30)
    monkeypatch.setattr("repertoire.mcp_server.writes.compact_when_due", often)
    async with talk() as client:
        for number in range(120):
            place = {"session_id": f"s{number // 5}", "cwd": "/project"}
            await client.call_tool("hook_prompt", {**place, "prompt": PROMPTS[number % 3].format(number)})
            if number % 3 == 0:
                used = {"tool_name": "Skill", "tool_input": json.dumps({"skill": "pdf-forms"})}
                await client.call_tool("hook_used", {**place, **used})
            await client.call_tool("hook_stop", place)
        await ask(client, "status")
        told = await ask(client, "explain_component", id="pdf-forms")
        wal = (home / "repertoire.db-wal").stat().st_size
    with Store.open(home / "repertoire.db") as store:
        log = store.events.since(0, limit=-1)
        counted = store.events.count(COUNTED)
        requests = store.requests.count()
    assert len(log) <= 70 + 40 + 30 + 30 + 20
    assert 0 < counted <= 30
    assert 0 < requests <= REQUESTS
    assert sum(event.kind == SELECTED for event in log) < 40
    assert f"chosen for {requests} requests" in told
    assert wal < LOG_LIMIT
