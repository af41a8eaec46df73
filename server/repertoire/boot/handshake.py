"""Answers MCP requests from the shipped tools.json while the real server does not run yet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Protocol revisions that begin with `initialize`; only the real server speaks later ones.
PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
METHOD_NOT_FOUND, INTERNAL_ERROR = -32601, -32603
HOOK_PREFIX = "hook_"
NO_OUTPUT = "{}"  # the output of a hook that adds nothing


@dataclass(frozen=True)
class ServerManifest:
    """The real server's description of itself: its info, instructions, capabilities, tools and hooks."""

    server_info: Mapping[str, Any] = field(default_factory=lambda: {"name": "graph", "version": "0"})
    instructions: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=lambda: {"tools": {"listChanged": True}})
    tools: tuple[Mapping[str, Any], ...] = ()
    hooks: frozenset[str] = frozenset()


def load(path: Path) -> ServerManifest:
    """Read the server manifest, which was taken from the real server when this version was made.

    Raises: OSError, ValueError when the file is missing or is something else.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or not isinstance(data.get("tools"), list):
        message = f"{path} is no manifest of a server"
        raise ValueError(message)  # noqa: TRY004 - to the caller a wrong type is as bad as broken JSON
    plain = ServerManifest()
    return ServerManifest(
        server_info=data.get("serverInfo", plain.server_info),
        instructions=data.get("instructions", plain.instructions),
        capabilities=data.get("capabilities", plain.capabilities),
        tools=tuple(data["tools"]),
        hooks=frozenset(data.get("hooks", ())),
    )


def reply(manifest: ServerManifest, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request of the client; tool calls have answers of their own."""
    method = request.get("method")
    if method == "initialize":
        return result(request, _initialized(manifest, params(request)))
    if method == "tools/list":
        return result(request, {"tools": list(manifest.tools)})
    if method == "ping":
        return result(request, {})
    return error(request.get("id"), METHOD_NOT_FOUND, f"Method not found: {method}")


def is_hook(manifest: ServerManifest, call: Mapping[str, Any]) -> bool:
    """Tell whether a tool call comes from a hook, whose answer may be empty but must not be late."""
    name = params(call).get("name")
    return isinstance(name, str) and (name.startswith(HOOK_PREFIX) or name in manifest.hooks)


def hook_reply(call: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a hook's call with an empty output."""
    return _text(call, NO_OUTPUT, failed=False)


def refusal(call: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Answer a tool call that cannot be served with a reason that the model can read."""
    return _text(call, why, failed=True)


def progress(call: Mapping[str, Any], seconds: int, doing: str) -> dict[str, Any] | None:
    """Return a progress message for a waiting tool call; None if its caller did not ask for progress."""
    meta = params(call).get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if token is None:
        return None
    values = {"progressToken": token, "progress": seconds, "message": f"{doing} ({seconds} s)"}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": values}


def params(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters of a message; empty if they are missing or malformed."""
    given = message.get("params")
    return given if isinstance(given, dict) else {}


def result(request: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Wrap a value as the JSON-RPC response to a request."""
    return {"jsonrpc": "2.0", "id": request.get("id"), "result": value}


def error(identity: object, code: int, message: str) -> dict[str, Any]:
    """Wrap a failure as the JSON-RPC error response to the request with this id."""
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}


def _initialized(manifest: ServerManifest, asked: Mapping[str, Any]) -> dict[str, Any]:
    wanted = asked.get("protocolVersion")
    answer = {
        "protocolVersion": wanted if wanted in PROTOCOLS else PROTOCOLS[0],
        "capabilities": manifest.capabilities,
        "serverInfo": manifest.server_info,
    }
    return {**answer, "instructions": manifest.instructions} if manifest.instructions else answer


def _text(call: Mapping[str, Any], text: str, *, failed: bool) -> dict[str, Any]:
    return result(call, {"content": [{"type": "text", "text": text}], "isError": failed})
