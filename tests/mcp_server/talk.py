"""How tests speak to the server and read what it recorded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp_types import CallToolResult

from repertoire.domain.event import Event
from repertoire.store.database import Store

CLAUDE_CODE = "claude-code"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "claude-code", "version": "2"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
Talk = Callable[..., AbstractAsyncContextManager[Client]]


async def ask(client: Client, tool: str, **arguments: Any) -> str:
    """Return the text of a tool's answer, which must not be an error."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Return the text of a tool's refusal."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert content.type == "text"
    return content.text


def events_of(home: Path, *kinds: str) -> list[Event]:
    """Return what was recorded, oldest first."""
    with Store.open(home / "repertoire.db") as store:
        return store.events.recent(kinds=kinds, limit=1000)[::-1]
