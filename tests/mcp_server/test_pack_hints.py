"""A pack is a component of the graph: searches name it, hints name it where it covers a question, use is counted."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest
from mcp import Client

from app.packs.documentation import LEDGER, WILLOW, build, write
from mcp_server.talk import Talk, ask, events_of, refused, text_of
from repertoire.app.packs.sharing import remove_pack
from repertoire.app.packs.stand_ins import INFO, tell_graph
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import OFFERED, SELECTED, Event
from repertoire.domain.pack import stand_in

pytestmark = pytest.mark.anyio

QUESTION = "how long must willow rods lie in water before weaving?"
QUIET = (
    "run the tests again",
    "rename willow_rods to rods everywhere",
    "how do I configure a kubernetes ingress with tls?",
    "read package.json",
    "what does this function return when the list is empty?",
    "willow",
)


@pytest.fixture
def packs(home: Path, tmp_path: Path) -> Path:
    with open_repertoire(home) as repertoire:
        build(home, "willow", write(tmp_path / "docs", WILLOW), repertoire.embedder, topics=("basketry",))
        build(home, "books", write(tmp_path / "books", LEDGER), repertoire.embedder)
        tell_graph(repertoire.store, repertoire.packs, repertoire.embedder)
    return home


async def prompted(client: Client, prompt: str, session: str) -> str:
    result = await client.call_tool("hook_prompt", {"prompt": prompt, "session_id": session, "cwd": "/srv/shop"})
    said = json.loads(text_of(result)).get("hookSpecificOutput", {})
    return str(said.get("additionalContext", ""))


def test_the_graph_knows_which_packs_there_are(packs: Path) -> None:
    with open_repertoire(packs) as repertoire:
        store, shelf = repertoire.store, repertoire.packs
        revision = store.graph.revision("components")
        tell_graph(store, shelf)
        assert store.graph.revision("components") == revision  # nothing changed, nothing is written
        assert set(store.sources.file_hashes(INFO.key)) == {"books", "willow"}
        remove_pack(packs, shelf, "books")
        tell_graph(store, shelf)
        assert set(store.sources.file_hashes(INFO.key)) == {"willow"}


def willows(home: Path) -> list[Event]:
    return [event for event in events_of(home) if event.node == stand_in("willow")]


async def logged(home: Path, count: int) -> None:
    """Wait until so many events are in the log: they are on the disk at once, and in the log a little later."""
    with anyio.fail_after(10):
        while len(willows(home)) < count:  # noqa: ASYNC110 - another process writes them
            await anyio.sleep(0.05)


async def test_searches_name_a_pack_and_a_covered_question_draws_one_hint(talk: Talk, packs: Path) -> None:
    async with talk() as client:
        assert "willow" in await ask(
            client, "search_components", query="documentation of basketry with willow", types=["pack"]
        )
        await ask(client, "query_pack", question=QUESTION)  # loads the model
        hint = await prompted(client, QUESTION, "s1")
        assert "pack willow covers this question (nearest: guide/soak.md" in hint
        assert await prompted(client, QUESTION + " It is urgent.", "s1") == ""
        for number, quiet in enumerate(QUIET):
            assert "pack willow covers" not in await prompted(client, quiet, f"quiet {number}"), quiet
        await ask(client, "query_pack", question=QUESTION)
        await logged(packs, 3)
    events = willows(packs)
    assert [event.kind for event in events] == [SELECTED, OFFERED, SELECTED]
    first, offered, used = events
    assert (first.session, first.data["offered"]) == ("", False)
    assert (used.session, used.request, used.data["offered"]) == ("s1", offered.request, True)


async def test_a_citation_opens_its_section_from_an_offset_on(talk: Talk, packs: Path) -> None:
    async with talk() as client:
        cited = {"name": "willow", "about": "guide/soak.md#how-long"}
        assert "   > ## How long" in await ask(client, "pack_info", **cited)
        later = await ask(client, "pack_info", **cited, offset=13)
        assert later.endswith("   > … (13 characters before)\n   > Seven days.")
        assert "offset" in await refused(client, "pack_info", **cited, offset=10**20)
        assert "has no section" in await refused(client, "pack_info", name="willow", about="guide/soak.md#nowhere")


@pytest.mark.parametrize("target", [stand_in("willow"), INFO.key])
async def test_a_muted_pack_draws_no_hint(talk: Talk, packs: Path, target: str) -> None:
    async with talk() as client:
        await ask(client, "query_pack", question=QUESTION)
        await ask(client, "mute", target=target)
        assert "pack willow covers" not in await prompted(client, QUESTION, "s1")


async def test_a_pack_in_another_language_is_found_and_named_in_it(talk: Talk, home: Path, tmp_path: Path) -> None:
    pages = {"数据库.md": "# 数据库\n\n## 备份\n\n每天凌晨导出数据库，备份保留 14 天。\n\n## 慢查询\n\n先加索引。\n"}  # noqa: RUF001
    with open_repertoire(home) as repertoire:
        build(home, "shop", write(tmp_path / "docs", pages), repertoire.embedder, topics=("订单",))
        tell_graph(repertoire.store, repertoire.packs, repertoire.embedder)
    async with talk() as client:
        for query in ("documentation about database backups and slow queries", "数据库备份的文档"):
            found = await ask(client, "search_components", query=query, types=["pack"])
            assert "shop (pack" in found
            assert "database" in found.rpartition("why: words: ")[2]
        await ask(client, "query_pack", question="备份保留多久")
        for number, question in enumerate(("shop数据库的备份保留多久", "订单数据库的备份保留多久")):
            assert "pack shop covers this question" in await prompted(client, question, f"s{number}")
        assert "pack shop covers" not in await prompted(client, "修复shop数据库的备份脚本", "s3")
