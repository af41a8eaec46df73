"""What a repository written to harm says reaches a model neither in an answer nor in a hint."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

import hostile
from git_traps import Trapped, old_git
from mcp_server.talk import ask
from repertoire.app.sources.ingest import ingest
from repertoire.settings import Settings
from repertoire.store.database import Store

pytestmark = pytest.mark.anyio
UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\x1b\x07]")


@pytest.fixture
def read(home, tmp_path):
    with Store.open(home / "repertoire.db") as store:
        ingest(store, home, str(hostile.build(tmp_path)), settings=Settings())


async def test_answers_pass_on_no_order_and_say_what_was_found(read, talk):
    async with talk() as client:
        found = await client.call_tool("search_components", {"query": hostile.MARK, "limit": 20})
        explained = await client.call_tool("explain_component", {"id": "order"})
        recommended = await client.call_tool("recommend_set", {"task": f"{hostile.MARK} reports"})

    for answer in (found, explained, recommended):
        said = answer.content[0].text + json.dumps(answer.structured_content, ensure_ascii=False)
        assert not answer.is_error
        assert hostile.ORDER not in said
        assert not UNSEEN.search(said)
    assert "checks: " in found.content[0].text
    assert hostile.FAKED not in found.content[0].text.split("\n")
    assert "thief" not in recommended.content[0].text


async def test_status_counts_what_was_flagged(read, talk):
    async with talk() as client:
        assert "flagged by the static checks:" in await ask(client, "status")


@pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: the programs are sh scripts")
async def test_reading_a_repository_runs_nothing_that_its_settings_name(talk, environment, tmp_path):
    trapped = Trapped(tmp_path)
    trapped.lack("HEAD~3^{tree}")
    nested = trapped.nested()
    trapped.sprung()
    environment["PATH"] = f"{old_git(tmp_path / 'careless', version='2.99.0')}{os.pathsep}{environment['PATH']}"

    async with talk() as client:
        for source in (str(trapped.folder), trapped.folder.as_uri(), str(nested)):
            answer = await client.call_tool("ingest_repo", {"source": source})

            assert trapped.sprung() == set()
            assert answer.is_error or "1 component" in answer.content[0].text
