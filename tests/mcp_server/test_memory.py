"""The tools of project memory: listed where a memory was begun, and answered as the command line answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcp import Client

from app.projects.small_project import FILES, begin, write
from mcp_server.talk import Talk, ask, refused
from repertoire.cli.main import cli
from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.mcp_server.memory_tools import MEMORY_TOOLS
from repertoire.mcp_server.server import build_server

pytestmark = pytest.mark.anyio


async def test_a_session_in_a_project_that_was_never_begun_sees_nothing_of_it(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    async with talk() as client:
        assert not {tool.name for tool in (await client.list_tools()).tools} & {tool.name for tool in MEMORY_TOOLS}
        assert "project init" in await refused(client, "memory_search", query="anything")


async def test_a_project_is_searched_noted_and_planned_over_the_protocol(talk: Talk, kiln: Path) -> None:
    async with talk() as client:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in MEMORY_TOOLS} <= {tool.name for tool in listed}
        assert "symbol:kiln/heat.py::Kiln.fire" in await ask(client, "memory_search", query="fire the kiln")
        assert "Kiln.fire" in await ask(client, "code_symbols", name="weigh", action="callers")
        assert "def weigh" in await ask(client, "memory_get", id="symbol:kiln/clay.py::weigh")
        assert "Cooling" in await ask(client, "doc_outline", path="README.md")
        assert "python" in await ask(client, "file_info", path="kiln/clay.py")
        saved = await ask(client, "memory_save", kind="task", title="Repair the chimney", about=["kiln/heat.py"])
        key = saved.split()[1]
        assert "ready" in await ask(client, "memory_list", kind="task")
        assert "[done" in await ask(client, "memory_move", ids=[key], status="done")
        other = (await ask(client, "memory_save", kind="note", title="Bricks are old")).split()[1]
        assert "relates_to" in await ask(client, "memory_link", id=other, relation="relates_to", target=key)
        assert "deleted" in await ask(client, "memory_delete", ids=[key, other])


async def test_a_session_in_which_a_memory_is_begun_is_told_that_the_tools_changed(
    dispatcher: Dispatcher, home: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    root = write(tmp_path / "kiln-project", FILES)
    environment["CLAUDE_PROJECT_DIR"] = str(root)
    told: list[str] = []

    async def hear(message: object) -> None:
        told.append(getattr(message, "method", ""))

    async with Client(build_server(dispatcher.handlers), mode="legacy", message_handler=hear) as client:
        assert client.server_capabilities.tools is not None
        assert client.server_capabilities.tools.list_changed
        assert "memory_search" not in {tool.name for tool in (await client.list_tools()).tools}
        used = {"tool_name": "Bash", "tool_input": "{}", "tool_response": "{}", "session_id": "s1", "cwd": str(root)}
        await client.call_tool("hook_used", used)
        assert told == []
        begin(home, root).close()  # as `repertoire project init` in a shell of the session does
        for _ in range(2):
            await client.call_tool("hook_used", used)
        assert told == ["notifications/tools/list_changed"]
        assert "memory_search" in {tool.name for tool in (await client.list_tools()).tools}


async def test_both_doors_give_the_same_data(talk: Talk, kiln: Path) -> None:
    calls = {
        "memory_search": ({"query": "harden the pot"}, ("search", "harden the pot")),
        "code_symbols": ({"name": "weigh", "action": "callers"}, ("symbols", "weigh", "--callers")),
        "doc_outline": ({"path": "README.md"}, ("outline", "README.md")),
        "file_info": ({"path": "kiln"}, ("files", "kiln")),
        "memory_get": ({"id": "section:README.md#cooling"}, ("get", "section:README.md#cooling")),
        "memory_list": ({}, ("list",)),
    }
    async with talk("any-client") as client:
        for tool, (arguments, words) in calls.items():
            result = await client.call_tool(tool, arguments)
            printed = CliRunner().invoke(cli, ["project", *words, "--json"])
            assert printed.exit_code == 0, printed.output
            assert result.structured_content == json.loads(printed.stdout), tool


async def test_a_file_of_the_project_is_known_by_its_absolute_path_and_one_outside_is_refused(
    talk: Talk, kiln: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(kiln)
    async with talk() as client:
        for root in (kiln, tmp_path / "link"):
            assert "Cooling" in await ask(client, "doc_outline", path=f"{root}/README.md")
            assert "python" in await ask(client, "file_info", path=f"{root}/kiln/clay.py")
            assert "web/" not in await ask(client, "file_info", path=f"{root}/kiln/")
            assert "Kiln.fire" in await ask(client, "memory_search", query="fire the kiln", **{"in": f"{root}/kiln"})
            assert "weigh" in await ask(client, "code_symbols", name="weigh", **{"in": f"{root}/kiln"})
            assert "[file]" in await ask(client, "memory_get", id=f"{root}/kiln/clay.py")
            saved = await ask(client, "memory_save", kind="note", title=f"Old {root}", about=[f"{root}/kiln/heat.py"])
            assert "about file:kiln/heat.py" in saved
        outside = f"{tmp_path}/elsewhere.py"
        for tool, asked in {
            "doc_outline": {"path": outside},
            "file_info": {"path": outside},
            "memory_get": {"id": outside},
            "memory_search": {"query": "login", "in": outside},
            "code_symbols": {"name": "weigh", "in": outside},
            "memory_save": {"kind": "note", "title": "Strange", "about": [outside]},
        }.items():
            assert f"lies outside of the project {kiln}" in await refused(client, tool, **asked), tool


async def test_each_page_of_a_list_counts_what_is_left_after_it(talk: Talk, kiln: Path) -> None:
    async with talk() as client:
        for what in ("glaze", "clay", "bricks", "wood", "salt"):
            await ask(client, "memory_save", kind="note", title=f"Bought {what} at the mill")
        listed = [await ask(client, "memory_list", limit=2, offset=offset) for offset in (0, 2, 4, 6)]
        assert [page.partition("… and ")[2] for page in listed] == ["3 more", "1 more", "", ""]
        assert listed[3] == "There are only 5 of them."
        files = [await ask(client, "file_info", path="kiln", limit=1, offset=offset) for offset in range(4)]
        assert [page.partition("… and ")[2] for page in files] == ["2 more", "1 more", "", ""]
        assert files[3] == "There are only 3 files of these."


def test_the_tools_of_a_project_cost_less_than_3000_tokens() -> None:
    shown = [(tool.name, tool.description, json.dumps(tool.input_schema)) for tool in MEMORY_TOOLS]
    assert sum(len(part) for row in shown for part in row) < 4 * 3_000
