"""A first prompt often comes with the start of its session: the server imports for it what it needs, and no more."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest

from repertoire.inference.embedder import IdleEmbedder
from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.retrieval.pipeline import Pipeline

LOADED = "json.dumps([name for name in sys.modules if name.split('.')[0] in ('apsw', 'numpy', 'repertoire')])"
SCRIPT = f"""
import json, sys
import repertoire.mcp_server.__main__
print({LOADED})
import repertoire.mcp_server.work, repertoire.mcp_server.writes
print({LOADED})
"""
HEAVY = {"apsw", "numpy", "repertoire.store.database", "repertoire.retrieval.pipeline"}
OF_TOOLS = tuple(
    f"repertoire.{module}"
    for module in (
        *("app.packs.query", "app.traces.contribute", "app.traces.search", "ingestion.parts", "mcp_server.calls"),
        *("projects.noticing", "trust.scan"),
    )
)


def test_the_handshake_waits_for_no_store_and_a_hook_for_nothing_that_tools_alone_need():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    handshake, hooks = map(json.loads, done.stdout.splitlines())

    assert not HEAVY & {*handshake}
    assert {*hooks} >= HEAVY
    assert not [name for name in hooks if name.startswith(OF_TOOLS)]


@pytest.mark.anyio
async def test_what_ranks_is_loaded_while_the_model_is(dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = threading.Event()
    waited: list[bool] = []
    load, prepare = IdleEmbedder.embed_queries, Pipeline.prepare

    def slow_load(self: IdleEmbedder, texts: list[str]) -> object:
        waited.append(ranks.wait(10))
        return load(self, texts)

    def told(self: Pipeline) -> None:
        prepare(self)
        ranks.set()

    monkeypatch.setattr(IdleEmbedder, "embed_queries", slow_load)
    monkeypatch.setattr(Pipeline, "prepare", told)

    await dispatcher.warm_up()

    assert waited[0]
