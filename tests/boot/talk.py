"""A client of the launcher: sends messages over its pipes, and waits for the answers."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from boot.checkout import REPOSITORY, Checkout

PATIENCE_S = 60
Message = dict[str, Any]


class Client:
    """One session with one launcher, started the way server/mcp.json says."""

    def __init__(
        self, checkout: Checkout, *, python: str = sys.executable, wrap: tuple[str, ...] = (), **environ: str
    ) -> None:
        declared = json.loads((REPOSITORY / "server/mcp.json").read_text())["mcpServers"]["graph"]
        arguments = [part.replace("${CLAUDE_PLUGIN_ROOT}", str(checkout.root)) for part in declared["args"]]
        self.process = subprocess.Popen(
            [*wrap, python, *arguments],
            env=checkout.environ(**environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.others: list[Message] = []  # what came while something else was waited for
        self.errors: list[str] = []
        self._inbox: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._readers = [threading.Thread(target=self._listen), threading.Thread(target=self._collect)]
        for reader in self._readers:
            reader.start()
        self._last = 0

    def _listen(self) -> None:
        for line in self.process.stdout or ():
            self._inbox.put(line)
        self._inbox.put("")

    def _collect(self) -> None:
        self.errors.extend(self.process.stderr or ())

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> int:
        """Send a request and return its id."""
        self._last += 1
        self.say(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}))
        return self._last

    def call(self, tool: str, token: str | None = None, **arguments: Any) -> int:
        meta = {"_meta": {"progressToken": token}} if token else {}
        return self.ask("tools/call", name=tool, arguments=arguments, **meta)

    def notify(self, method: str, **params: Any) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def wait(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the first message that is wanted, among those that came and those to come."""
        for message in self.others:
            if wanted(message):
                self.others.remove(message)
                return message
        while True:
            line = self._inbox.get(timeout=PATIENCE_S)
            assert line, f"the launcher closed its output; stderr: {self.errors}"
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if wanted(message):
                return message
            self.others.append(message)

    def answer(self, identity: int) -> Message:
        return self.wait(lambda message: message.get("id") == identity and "method" not in message)

    def text(self, identity: int) -> str:
        """The text of a tool's answer, marked when it is an error."""
        result = self.answer(identity)["result"]
        text: str = result["content"][0]["text"]
        return f"ERROR {text}" if result["isError"] else text

    def handshake(self, version: str = "2025-11-25") -> Message:
        info = {"name": "tests", "version": "1"}
        asked = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=info)
        result: Message = self.answer(asked)["result"]
        self.notify("notifications/initialized")
        return result

    def end(self, number: int | None = None) -> int:
        """Close the input, or send the signal; return the exit status."""
        if number is not None:
            self.process.send_signal(number)
        elif self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            status = self.process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.close()
        return status

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(timeout=PATIENCE_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
