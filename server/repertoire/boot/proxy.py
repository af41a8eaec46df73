"""A proxy before the real server: answers the client at once, builds the environment, then forwards lines both ways.

All state changes in one thread, which takes events from a queue; other threads only read and write pipes.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Optional, Tuple  # noqa: UP035 - an alias is evaluated, on 3.9 too

from repertoire.boot import environment, handshake
from repertoire.boot.child import Child
from repertoire.boot.errors import BootError
from repertoire.boot.home import home, log_path
from repertoire.boot.layout import checkout, command, ready

SERVER_MODULE = "repertoire.mcp_server"
TICK_S = 0.1  # interval of the checks on a running build
PROGRESS_S = 2  # interval of progress messages for a waiting call
WAIT_S = 120.0  # longest wait of a tool call for the server; REPERTOIRE_BOOT_WAIT overrides it
FAREWELL_S = 1.0  # time for the server to finish its work after its input ended
INITIALIZE, LIST_TOOLS = "repertoire-boot-initialize", "repertoire-boot-tools"  # ids of the proxy's own requests

Event = Tuple[Optional[Child], Optional[bytes]]  # the line's sender (None: the client), and the line (None: its end)
Message = Mapping[str, Any]


@dataclass
class WaitingCall:
    """A tool call of the client that waits for the server."""

    line: bytes
    request: Message
    since: float
    reported_s: int = -PROGRESS_S


class ServerProxy:
    """The proxy of one client: it answers every message, even while the build runs or after the server has ended."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._manifest = _manifest()
        self._wait_s = _wait_s()
        self._opening: Message | None = None  # the client's initialize, which is repeated to each server
        self._initialized: bytes | None = None
        self._waiting: dict[object, WaitingCall] = {}
        self._pending: dict[object, Message] = {}  # requests to the server without an answer yet
        self._builder: subprocess.Popen[bytes] | None = None
        self._child: Child | None = None
        self._serving = False

    def run(self, client: BinaryIO) -> None:
        """Serve the client until its input ends."""
        threading.Thread(target=self._listen, args=(client,), daemon=True).start()
        self._guard(self._pursue)
        while True:
            event = self._next()
            if event == (None, None):
                break
            self._guard(self._handle, event)
            self._guard(self._advance)
        self._farewell()

    def stop(self) -> None:
        """Stop the server now; a build goes on in its own process."""
        if self._child is not None:
            self._child.stop()

    # --- events

    def _listen(self, client: BinaryIO) -> None:
        for line in client:
            self._events.put((None, line))
        self._events.put((None, None))

    def _heard(self, child: Child, line: bytes | None) -> None:
        self._events.put((child, line))

    def _next(self) -> Event | None:
        # Without a limit nothing wakes an idle launcher; Windows sees no signal while it waits like that.
        idle = 1.0 if sys.platform == "win32" else None
        try:
            return self._events.get(timeout=TICK_S if self._builder or self._waiting else idle)
        except queue.Empty:
            return None

    def _guard(self, step: Callable[..., None], *arguments: object) -> None:
        try:
            step(*arguments)
        except BrokenPipeError:  # the client has gone
            self._events.put((None, None))
        except Exception:  # noqa: BLE001 - a door: a launcher that dies is not started again for a quarter of an hour
            traceback.print_exc(file=sys.stderr)

    def _handle(self, event: Event | None) -> None:
        if event is None:
            return
        child, line = event
        if child is None and line is not None:
            self._from_client(line)
        elif child is not None and child is self._child:
            if line is None:
                self._child_gone(child)
            else:
                self._from_child(child, line)

    # --- the client's side

    def _from_client(self, line: bytes) -> None:
        message = _parse(line)
        if message is None:
            if line.strip():
                _log("ignored a line that is not a JSON-RPC message")
            return
        if self._serving and self._child is not None:
            self._pass_on(self._child, line, message)
        elif "method" not in message:
            return  # an answer to a server that has gone
        elif "id" not in message:
            self._notice(line, message)
        elif message["method"] == "tools/call":
            self._call(line, message)
        else:
            self._send(handshake.reply(self._manifest, message))
            if message["method"] == "initialize":
                self._opening = message
                self._pursue()

    def _notice(self, line: bytes, message: Message) -> None:
        if message["method"] == "notifications/initialized":
            self._initialized = line
        elif message["method"] == "notifications/cancelled":
            self._waiting.pop(_cancelled(message), None)

    def _call(self, line: bytes, call: Message) -> None:
        if handshake.is_hook(self._manifest, call):
            self._send(handshake.hook_reply(call))
            self._pursue(build=False)
        else:
            self._waiting[_hashable(call["id"])] = WaitingCall(line, call, time.monotonic())
            self._pursue()

    def _pass_on(self, child: Child, line: bytes, message: Message) -> None:
        if "method" in message and "id" in message:
            self._pending[_hashable(message["id"])] = message
        elif message.get("method") == "notifications/cancelled":
            self._pending.pop(_cancelled(message), None)
        child.send(line)

    # --- towards a server

    def _pursue(self, *, build: bool = True) -> None:
        """Take the next step towards a running server: start the server, or the build of its environment."""
        if self._child is not None or self._builder is not None:
            return
        try:
            where = home()
            python = ready(where)
            if python is not None:
                self._start(python)
            elif build:
                self._builder = environment.start_detached(where)
        except BootError as error:
            self._refuse_waiting(f"Repertoire cannot start: {error}")
        except OSError as error:
            self._refuse_waiting(f"Repertoire cannot start: {error.strerror} ({error.filename})")

    def _start(self, python: Path) -> None:
        if self._opening is None:
            return  # the server needs the client's initialize first
        self._child = Child(command(python, SERVER_MODULE), self._heard)
        self._child.send(_line({**self._opening, "id": INITIALIZE}))

    def _advance(self) -> None:
        if self._builder is not None:
            self._look_at_build(self._builder)
        doing = "first run: installing packages" if self._builder is not None else "starting the server"
        now = time.monotonic()
        for identity, waiting in list(self._waiting.items()):
            seconds = int(now - waiting.since)
            if now - waiting.since >= self._wait_s:
                del self._waiting[identity]
                self._send(handshake.refusal(waiting.request, _not_yet(doing, seconds)))
            elif seconds - waiting.reported_s >= PROGRESS_S:
                waiting.reported_s = seconds
                report = handshake.progress(waiting.request, seconds, doing)
                if report is not None:
                    self._send(report)

    def _look_at_build(self, builder: subprocess.Popen[bytes]) -> None:
        ended = builder.poll() is not None
        where = home()
        if ready(where) is not None:  # perhaps by another session's build, on which ours only waits
            self._builder = None
            self._pursue()
        elif ended:
            self._builder = None
            why = environment.failure(where) or f"the build ended unfinished; the log is {log_path(where)}"
            _log(why)
            self._refuse_waiting(f"Repertoire's environment could not be built: {why}")

    def _refuse_waiting(self, why: str) -> None:
        waiting, self._waiting = self._waiting, {}
        for call in waiting.values():
            self._send(handshake.refusal(call.request, why))

    # --- the server's side

    def _from_child(self, child: Child, line: bytes) -> None:
        message = _parse(line)
        if message is None:
            _log(f"the server wrote what is no message: {line[:200]!r}")
            return
        if "method" not in message:
            identity = _hashable(message.get("id"))
            if identity == INITIALIZE:
                self._take_over(child, message)
                return
            if identity == LIST_TOOLS:
                self._compare_tools(message)
                return
            self._pending.pop(identity, None)
        self._write(line)

    def _take_over(self, child: Child, answer: Message) -> None:
        if "result" not in answer:
            _log(f"the server refused the client's initialize: {answer.get('error')}")
            child.stop()
            return
        self._serving = True
        if self._initialized is not None:
            child.send(self._initialized)
            child.send(_line({"jsonrpc": "2.0", "id": LIST_TOOLS, "method": "tools/list"}))
        waiting, self._waiting = self._waiting, {}
        for call in waiting.values():
            self._pass_on(child, call.line, call.request)

    def _compare_tools(self, answer: Message) -> None:
        real = answer.get("result", {}).get("tools")
        promised = self._manifest.capabilities.get("tools", {}).get("listChanged")
        if promised and real is not None and real != list(self._manifest.tools):
            self._send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    def _child_gone(self, child: Child) -> None:
        status = child.stop()
        self._child, self._serving = None, False
        why = f"Repertoire's server ended unexpectedly (exit status {status}); the next call starts it again."
        _log(why)
        pending, self._pending = self._pending, {}
        for message in pending.values():
            if message["method"] != "tools/call":
                self._send(handshake.error(message["id"], handshake.INTERNAL_ERROR, why))
            elif handshake.is_hook(self._manifest, message):
                self._send(handshake.hook_reply(message))
            else:
                self._send(handshake.refusal(message, why))
        self._refuse_waiting(why)

    def _farewell(self) -> None:
        if self._child is None:
            return
        self._child.close_input()
        until = time.monotonic() + FAREWELL_S
        with contextlib.suppress(queue.Empty, OSError):
            while self._child is not None:
                event = self._events.get(timeout=max(0.0, until - time.monotonic()))
                if event == (self._child, None):
                    break
                self._handle(event)
        self.stop()

    def _send(self, message: Message) -> None:
        self._write(_line(message))


def _manifest() -> handshake.ServerManifest:
    path = checkout() / "server" / "tools.json"
    try:
        return handshake.load(path)
    except (OSError, ValueError) as error:
        _log(f"cannot read {path} ({error}); the tools are listed once the server runs")
        return handshake.ServerManifest()


def _wait_s() -> float:
    try:
        return float(os.environ.get("REPERTOIRE_BOOT_WAIT", WAIT_S))
    except ValueError:
        return WAIT_S


def _not_yet(doing: str, seconds: int) -> str:
    try:
        log = f" Log: {log_path(home())}"
    except BootError:
        log = ""
    return f"Repertoire is not ready yet ({doing}, {seconds} s so far). Call again in a minute.{log}"


def _parse(line: bytes) -> Message | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):  # no JSON, or thousands of brackets
        return None
    return message if isinstance(message, dict) else None


def _cancelled(message: Message) -> object:
    return _hashable(handshake.params(message).get("requestId"))


def _hashable(identity: object) -> object:
    return identity if isinstance(identity, (str, int, float)) else json.dumps(identity)


def _line(message: Message) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"


def _log(text: str) -> None:
    sys.stderr.write(f"repertoire: {text}\n")
