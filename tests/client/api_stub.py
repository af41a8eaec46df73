"""A loopback Messages API that plays a script and keeps every request the client sent."""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

AGENT_HEADER = "x-claude-code-agent-id"  # the client sends it with a subagent's requests only


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call that the scripted model makes; name is the tool's full name."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)


Reply = str | ToolUse


@dataclass(frozen=True, slots=True)
class Script:
    """What the model says: main turns in order, subagent turns in order, and the compaction's summary."""

    main: Sequence[Reply] = ()
    agent: Sequence[Reply] = ()
    past_the_end: str = "Understood."


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the Messages API."""

    body: Mapping[str, Any]
    from_agent: bool

    @property
    def offers_tools(self) -> bool:
        return bool(self.body.get("tools"))

    @property
    def tool_names(self) -> list[str]:
        return [tool.get("name", "") for tool in self.body.get("tools") or []]

    @property
    def text(self) -> str:
        """Every string of the system prompt and the messages, as a model would read them."""
        return "\n".join(_strings([self.body.get("system"), self.body.get("messages")]))

    @property
    def last_message(self) -> str:
        return "\n".join(_strings(self.body["messages"][-1:]))


class ApiStub:
    """Serves one script on a free loopback port until closed."""

    def __init__(self, script: Script) -> None:
        self._main, self._agent = list(script.main), list(script.agent)
        self._fallback = script.past_the_end
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: Request) -> dict[str, Any]:
        """Record the request and return the assistant's next message."""
        with self._lock:
            self.requests.append(request)
            script = self._agent if request.from_agent else self._main
            # side requests (titles, summaries) offer no tools and must not eat the script
            reply = script.pop(0) if script and request.offers_tools else self._fallback
        return _message(request.body, reply)


def _message(body: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    block: dict[str, Any]
    if isinstance(reply, ToolUse):
        block = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": reply.name}
        block["input"] = dict(reply.input)
    else:
        block = {"type": "text", "text": reply}
    return {
        "id": f"msg_{uuid.uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": [block],
        "stop_reason": "tool_use" if isinstance(reply, ToolUse) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 10},
    }


def _stream(message: Mapping[str, Any]) -> bytes:
    block = message["content"][0]
    opening: dict[str, Any]
    if block["type"] == "text":
        opening = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        opening = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": opening},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 10}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, item in value.items() if key != "type" for text in _strings(item)]
    if isinstance(value, Sequence):
        return [text for item in value for text in _strings(item)]
    return []


def _handler_for(stub: ApiStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Keep the test output quiet."""

        def do_HEAD(self) -> None:
            self._send(b"", "application/json")

        def do_GET(self) -> None:
            self._send(b'{"data": [], "has_more": false}', "application/json")

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            if re.match(r"/v1/messages/count_tokens\b", self.path):
                self._send(b'{"input_tokens": 1000}', "application/json")
            elif re.match(r"/v1/messages\b", self.path):
                body = json.loads(raw)
                message = stub.answer(Request(body, AGENT_HEADER in self.headers))
                if body.get("stream"):
                    self._send(_stream(message), "text/event-stream")
                else:
                    self._send(json.dumps(message).encode(), "application/json")
            else:
                self._send(b"{}", "application/json", status=404)

        def _send(self, data: bytes, content_type: str, *, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
