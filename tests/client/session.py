"""What one conversation with the client left behind: requests, hook runs, results and the opening event."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from client.api_stub import ApiStub, Request

TURN_TIMEOUT_S = 90
EXIT_TIMEOUT_S = 20
CONNECT_TIMEOUT_S = 60
ASK_AGAIN_S = 0.1


@dataclass(frozen=True, slots=True)
class Session:
    """One finished conversation."""

    returncode: int
    events: Sequence[Mapping[str, Any]]
    requests: Sequence[Request]
    stderr: str

    @property
    def init(self) -> Mapping[str, Any]:
        """Return the client's opening event: tools, skills, commands, agents, servers and their state."""
        return next(event for event in self.events if event.get("subtype") == "init")

    @property
    def results(self) -> list[str]:
        return [str(event.get("result")) for event in self.events if event.get("type") == "result"]

    @property
    def main_requests(self) -> list[Request]:
        return [request for request in self.requests if request.offers_tools and not request.from_agent]

    def injected(self, event: str) -> list[str]:
        """Return the contexts that the hooks of one event offered to the model."""
        outputs = [json.loads(run["output"] or "{}") for run in self.hook_runs(event) if run["outcome"] == "success"]
        contexts = [output.get("hookSpecificOutput", {}).get("additionalContext") for output in outputs]
        return [context for context in contexts if context]

    def hook_runs(self, event: str) -> list[Mapping[str, Any]]:
        """Return how the hooks of one event ended: output, exit code, outcome."""
        runs = [run for run in self.events if run.get("subtype") == "hook_response"]
        return [run for run in runs if run.get("hook_event") == event]

    def server_status(self, server: str) -> str:
        """Return what the client said of an MCP server at the start: connected, pending, failed or absent."""
        servers = self.init.get("mcp_servers") or []
        return next((entry["status"] for entry in servers if entry["name"] == server), "absent")


class LiveSession:
    """A conversation in progress; say() returns once the client has answered."""

    def __init__(self, process: subprocess.Popen[str], stub: ApiStub, stderr: IO[str]) -> None:
        self._process, self._stub, self._stderr = process, stub, stderr
        self._arriving: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        self._events: list[Mapping[str, Any]] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._finished: Session | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    def settle(self) -> None:
        """Wait until every MCP server of the session has connected or failed, as a person does who types later."""
        until = time.monotonic() + CONNECT_TIMEOUT_S
        while any(server["status"] == "pending" for server in self._servers()):
            assert time.monotonic() < until, f"a server neither connected nor failed: {self._errors()}"
            time.sleep(ASK_AGAIN_S)

    def say(self, prompt: str, *, timeout: float = TURN_TIMEOUT_S) -> None:
        """Send one prompt and wait for its result."""
        self._send({"type": "user", "message": {"role": "user", "content": prompt}})
        self._await("result", timeout)

    def end(self) -> None:
        """Close the conversation and wait for the client to leave; kill it when it stays."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._finished = Session(self._process.returncode, self._events, self._stub.requests, self._errors())

    def seen(self) -> Session:
        """Return the finished conversation."""
        assert self._finished is not None, "the conversation is still open"
        return self._finished

    def _servers(self) -> Sequence[Mapping[str, Any]]:
        self._send({"type": "control_request", "request_id": "servers", "request": {"subtype": "mcp_status"}})
        answer = self._await("control_response", TURN_TIMEOUT_S)["response"]
        return answer["response"]["mcpServers"]

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _await(self, kind: str, timeout: float) -> Mapping[str, Any]:
        while True:
            event = self._arriving.get(timeout=timeout)
            assert event is not None, f"the client ended before it answered: {self._errors()}"
            if event.get("type") == kind:
                return event

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            self._events.append(event)
            self._arriving.put(event)
        self._arriving.put(None)

    def _errors(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read()
