"""The real MCP client searches, contributes and votes over HTTP, with a key in the header and as far as it reaches."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from commons.conftest import Server
from commons.test_server import ALL, SECRET, VITE

TOOLS = ["search_traces", "get_trace", "contribute_trace", "amend_trace", "vote_trace", "list_tags", "flag"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@asynccontextmanager
async def connected(server: Server, key: str, mode: Any = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def call(server: Server, key: str, tool: str, mode: str = "auto", **arguments: Any) -> CallToolResult:
    async def run() -> CallToolResult:
        async with connected(server, key, mode) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(run)


def data(result: CallToolResult) -> Any:
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


def refusal(result: CallToolResult) -> str:
    assert result.is_error
    return result.content[0].text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_trace_is_contributed_found_voted_on_amended_and_flagged_through_tools(server: Server, mode: str):
    ann, ben = (server.key(f"mcp-{mode}", name) for name in ("ann", "ben"))
    key = data(call(server, ann, "contribute_trace", mode, **VITE))["id"]
    (hit,) = data(call(server, ben, "search_traces", mode, q="vite killed", environment=["os=linux"], limit=3))["hits"]
    assert hit["trace"]["id"] == key
    assert data(call(server, ben, "vote_trace", mode, trace=key, vote="up"))["trust"]["ups"] == 1
    amended = data(call(server, ann, "amend_trace", mode, trace=key, solution="Split the chunks."))
    assert data(call(server, ben, "get_trace", mode, trace=amended["id"]))["trace"]["version"] == 2
    assert data(call(server, ben, "list_tags", mode)) == {"vite": 1}
    assert data(call(server, ben, "flag", mode, trace=key, reason="it deletes files"))["status"] == "superseded"


def test_tools_have_the_schemas_of_the_api_and_no_argument_for_a_key(server: Server):
    async def listed() -> Any:
        async with connected(server, server.key("mcp-list", "ann")) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in anyio.run(listed)}
    models = httpx.get(f"{server.url}/openapi.json").json()["components"]["schemas"]
    assert list(tools) == TOOLS
    written = tools["contribute_trace"].input_schema
    assert written["properties"] == models["TraceIn"]["properties"]
    assert written["required"] == models["TraceIn"]["required"]
    voted = tools["vote_trace"].input_schema["properties"]
    assert voted == {**models["VoteIn"]["properties"], "trace": voted["trace"]}
    assert tools["search_traces"].input_schema["properties"]["limit"]["maximum"] == 50
    for tool in tools.values():
        assert tool.description
        assert not {"key", "token", "authorization"} & set(tool.input_schema["properties"])


@pytest.mark.parametrize("key", ["", "wrong", "rpc_mcp-list_0123456789ab_" + "a" * 43])
def test_a_request_without_a_valid_key_is_answered_with_401(server: Server, key: str):
    headers = {"Accept": "application/json, text/event-stream", **({"Authorization": f"Bearer {key}"} if key else {})}
    answer = httpx.post(f"{server.url}/mcp", json=INITIALIZE, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_page_of_another_site_is_refused_even_with_a_key(server: Server):
    headers = {
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {server.key('mcp-origin', 'ann')}",
    }
    for origin, status in (("https://evil.example", 403), (server.url, 200)):
        answer = httpx.post(f"{server.url}/mcp", json=INITIALIZE, headers={**headers, "Origin": origin})
        assert answer.status_code == status


def test_a_key_reaches_no_other_community_and_no_further_than_its_scopes(server: Server):
    ann, eve = server.key("mcp-home", "ann", *ALL), server.key("mcp-other", "eve", *ALL)
    reader = server.key("mcp-home", "ben", "read")
    key = data(call(server, ann, "contribute_trace", **VITE))["id"]
    assert data(call(server, eve, "search_traces", q="vite killed"))["hits"] == []
    assert data(call(server, eve, "list_tags")) == {}
    for tool, more in (
        ("get_trace", {}),
        ("vote_trace", {"vote": "up"}),
        ("flag", {"reason": "x"}),
        ("amend_trace", {"solution": "y"}),
    ):
        assert refusal(call(server, eve, tool, trace=key, **more)).startswith("there is no trace")
    for tool, more in (
        ("contribute_trace", VITE),
        ("vote_trace", {"trace": key, "vote": "up"}),
        ("flag", {"trace": key, "reason": "x"}),
    ):
        assert "has not the scope" in refusal(call(server, reader, tool, **more))
    assert data(call(server, reader, "get_trace", trace=key))["trust"]["votes"] == 0


def test_wrong_arguments_and_secrets_are_refused_with_what_to_mend(server: Server):
    ann = server.key("mcp-wrong", "ann")
    assert "there is no tool 'drop'" in refusal(call(server, ann, "drop"))
    assert "'title' is a required property" in refusal(call(server, ann, "contribute_trace", context="x", solution="y"))
    told = refusal(call(server, ann, "search_traces", q="x", token=ann))
    assert "'token' was unexpected" in told
    assert ann not in told
    assert "maximum of 50" in refusal(call(server, ann, "search_traces", q="x", limit=51))
    assert "line 1 of the solution" in refusal(call(server, ann, "contribute_trace", **{**VITE, "solution": SECRET}))
    assert refusal(call(server, ann, "get_trace", trace="../keys/self")) == "Not Found"
