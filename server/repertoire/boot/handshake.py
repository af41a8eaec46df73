"""Speaks for the server while there is none: what the shipped tools.json says, and nothing made up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# The revisions that open with `initialize`; later ones are the real server's to speak.
PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
METHOD_NOT_FOUND, INTERNAL_ERROR = -32601, -32603
HOOK_PREFIX = "hook_"
NOTHING = "{}"  # the hook output that adds nothing


@dataclass(frozen=True)
class Manifest:
    """What the real server says of itself."""

    server_info: Mapping[str, Any] = field(default_factory=lambda: {"name": "graph", "version": "0"})
    instructions: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=lambda: {"tools": {"listChanged": True}})
    tools: tuple[Mapping[str, Any], ...] = ()
    hooks: frozenset[str] = frozenset()


def load(path: Path) -> Manifest:
    """Read the manifest that the real server was asked for when this version was made.

    Raises: OSError, ValueError when the file is missing or is something else.
    """
    told = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(told, dict) or not isinstance(told.get("tools"), list):
        message = f"{path} is no manifest of a server"
        raise ValueError(message)  # noqa: TRY004 - to the caller a wrong type is as bad as broken JSON
    plain = Manifest()
    return Manifest(
        server_info=told.get("serverInfo", plain.server_info),
        instructions=told.get("instructions", plain.instructions),
        capabilities=told.get("capabilities", plain.capabilities),
        tools=tuple(told["tools"]),
        hooks=frozenset(told.get("hooks", ())),
    )


def reply(manifest: Manifest, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer any request but a tool call."""
    method = request.get("method")
    if method == "initialize":
        return result(request, _initialized(manifest, params(request)))
    if method == "tools/list":
        return result(request, {"tools": list(manifest.tools)})
    if method == "ping":
        return result(request, {})
    return error(request.get("id"), METHOD_NOT_FOUND, f"Method not found: {method}")


def is_hook(manifest: Manifest, call: Mapping[str, Any]) -> bool:
    """Say whether the call is a hook's, which the client would rather see empty than late."""
    name = params(call).get("name")
    return isinstance(name, str) and (name.startswith(HOOK_PREFIX) or name in manifest.hooks)


def hook_reply(call: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a hook's call with nothing to add."""
    return _text(call, NOTHING, failed=False)


def refusal(call: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Answer a tool call that cannot be served, so that the model can read why."""
    return _text(call, why, failed=True)


def progress(call: Mapping[str, Any], seconds: int, doing: str) -> dict[str, Any] | None:
    """Tell how long the held call has waited and for what, if its caller wants to hear it."""
    meta = params(call).get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if token is None:
        return None
    told = {"progressToken": token, "progress": seconds, "message": f"{doing} ({seconds} s)"}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": told}


def params(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message's parameters, empty when they are missing or malformed."""
    given = message.get("params")
    return given if isinstance(given, dict) else {}


def result(request: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Wrap the value as the request's response."""
    return {"jsonrpc": "2.0", "id": request.get("id"), "result": value}


def error(identity: object, code: int, message: str) -> dict[str, Any]:
    """Wrap the failure as the response to the request of that id."""
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}


def _initialized(manifest: Manifest, asked: Mapping[str, Any]) -> dict[str, Any]:
    wanted = asked.get("protocolVersion")
    told = {
        "protocolVersion": wanted if wanted in PROTOCOLS else PROTOCOLS[0],
        "capabilities": manifest.capabilities,
        "serverInfo": manifest.server_info,
    }
    return {**told, "instructions": manifest.instructions} if manifest.instructions else told


def _text(call: Mapping[str, Any], text: str, *, failed: bool) -> dict[str, Any]:
    return result(call, {"content": [{"type": "text", "text": text}], "isError": failed})
