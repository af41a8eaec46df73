"""How tests speak to the server and read what it recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult

from repertoire.domain.event import Event
from repertoire.store.database import Store

COMMAND = [sys.executable, "-X", "utf8", "-m", "repertoire.mcp_server"]
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


@contextmanager
def started(
    surroundings: dict[str, str], folder: Path, stderr: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[str]]:
    """Start a server in a folder, and kill it at the end."""
    with subprocess.Popen(
        COMMAND, env=surroundings, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=stderr, text=True,
    ) as process:  # fmt: skip
        yield process
        process.kill()


@asynccontextmanager
async def connected(surroundings: dict[str, str], folder: Path) -> AsyncIterator[Client]:
    """Connect the SDK's own client to a server in a folder."""
    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=surroundings, cwd=folder)
    async with Client(parameters) as client:
        yield client


def send(process: subprocess.Popen[str], *messages: dict[str, Any]) -> None:
    """Write messages to a server that was started."""
    assert process.stdin is not None
    process.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
    process.stdin.flush()


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


async def load_model(client: Client) -> None:
    """Load the model, for which a hook waits a moment only; the client has the server do so at its start."""
    await ask(client, "search_components", query="PDF")


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert content.type == "text"
    return content.text


def events_of(home: Path, *kinds: str) -> list[Event]:
    """Return what was recorded, oldest first."""
    with Store.open(home / "repertoire.db") as store:
        return store.events.recent(kinds=kinds, limit=1000)[::-1]
