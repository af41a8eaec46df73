"""The server over Streamable HTTP: the same answers, on this machine's own address, and no page in a browser asks."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import Implementation

from mcp_server.talk import CLAUDE_CODE, ask, text_of
from repertoire.boot.listener import listen
from repertoire.mcp_server.http import warnings
from repertoire.mcp_server.tool_definitions import TOOLS

pytestmark = pytest.mark.anyio

SERVER = Path(__file__).parents[2] / "server"
SERVE = [sys.executable, "-m", "repertoire", "serve", "--http"]


@pytest.fixture
def surroundings(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    return {**environment, "PYTHONPATH": str(SERVER), "HOME": str(tmp_path)}


@pytest.fixture
def server(surroundings: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*SERVE, "--port", "0"], env=surroundings, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        yield process
        process.kill()


@pytest.fixture
def address(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    return server.stdout.readline().strip()


def post(address: str, **headers: str) -> int:
    """Return the status of a handshake whose headers are these."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(address, body, {**usual, **headers})
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return int(response.status)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code


async def named(address: str, name: str) -> tuple[Any, Any]:
    """Return what a client of some name is shown: the tools, and an answer."""
    async with Client(address, mode="legacy", client_info=Implementation(name=name, version="1")) as client:
        await ask(client, "status")
        return await client.list_tools(), await client.call_tool("search_components", {"query": "fill PDF forms"})


async def test_it_answers_as_over_a_pipe_each_client_in_its_form_and_no_page_and_leaves_at_once(
    server: subprocess.Popen[str], address: str
) -> None:
    assert address.startswith("http://127.0.0.1:")
    listed, found = await named(address, "inspector")
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
    assert found.structured_content["components"][0]["name"] == "pdf-forms"
    listed, found = await named(address, CLAUDE_CODE)
    assert {tool.output_schema for tool in listed.tools} == {None}
    assert found.structured_content is None
    assert "pdf-forms" in text_of(found)

    port = address.split(":")[2]
    assert post(address) == 200
    assert post(address, Origin=f"http://localhost:{port}") == 200
    assert post(address, Origin="https://evil.example.com") == 403
    assert post(address, Host=f"evil.example.com:{port}") == 421
    assert post(address, Host="127.0.0.1.evil.example.com") == 421

    async with Client(address) as open_still:
        await open_still.list_tools()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=20) == 0
    assert server.stderr is not None
    assert "Traceback" not in server.stderr.read()


async def test_an_answer_is_sent_at_once_and_not_held_back_for_more_to_send() -> None:
    listener = listen("127.0.0.1", 0)
    told: asyncio.Queue[int] = asyncio.Queue()

    async def connected(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs = writer.get_extra_info("socket")
        await told.put(theirs.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(connected, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        assert await told.get()
        writer.close()


def test_a_port_that_is_taken_is_told_in_one_line(surroundings: dict[str, str], address: str, tmp_path: Path) -> None:
    port = address.split(":")[2].removesuffix("/mcp")
    done = subprocess.run(
        [*SERVE, "--port", port], env=surroundings, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"repertoire: cannot listen on 127.0.0.1:{port} (")
    assert len(done.stderr.splitlines()) == 1


def test_an_address_is_only_taken_together_with_http(surroundings: dict[str, str], tmp_path: Path) -> None:
    line = [*SERVE[:-1], "--port", "1"]
    done = subprocess.run(line, env=surroundings, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--port needs --http" in done.stderr


def test_without_http_it_speaks_on_its_pipes(surroundings: dict[str, str], tmp_path: Path) -> None:
    ping = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    done = subprocess.run(
        SERVE[:-1], env=surroundings, cwd=tmp_path, input=ping, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, os.linesep + done.stderr
    assert json.loads(done.stdout)["id"] == 1


@pytest.mark.parametrize(
    ("host", "bound", "told"),
    [
        ("localhost", "127.0.0.1", []),
        ("192.168.1.5", "192.168.1.5", ["anybody who reaches 192.168.1.5"]),
        ("0.0.0.0", "0.0.0.0", ["anybody who reaches 0.0.0.0", "0.0.0.0 is no name of this machine for others"]),
        ("::", "::", ["anybody who reaches [::]", "[::] is no name of this machine for others"]),
    ],
)
def test_who_listens_for_others_is_told_who_may_ask_and_by_what_name(host: str, bound: str, told: list[str]) -> None:
    found = list(warnings(host, bound))
    assert len(found) == len(told)
    assert all(text.startswith(start) for text, start in zip(found, told, strict=True))
