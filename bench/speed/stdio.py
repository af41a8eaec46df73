"""A client of the server as Claude Code starts it: one line a message, one answer awaited at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import ROOT, SERVER, bare_environment, plain_python

Message = dict[str, Any]


def launch_command() -> list[str]:
    """Return what the plugin's manifest starts, by the plain interpreter."""
    declared = json.loads((SERVER / "mcp.json").read_text(encoding="utf-8"))["mcpServers"]["graph"]
    arguments = [part.replace("${CLAUDE_PLUGIN_ROOT}", str(ROOT)) for part in declared["args"]]
    return [plain_python(), *arguments]


def ready_environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a server whose packages are there, this interpreter's, and that refreshes nothing."""
    own = {"REPERTOIRE_HOME": str(home), "REPERTOIRE_PYTHON": sys.executable, "REPERTOIRE_BACKGROUND": "false"}
    return bare_environment(**own, **more)


class Client:
    """One session with one server; to be closed."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, cwd: Path | None = None) -> None:
        self.spawned = time.perf_counter()
        self.process = subprocess.Popen(
            command, env=environment, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._last = 0
        self._answers: dict[int, Message] = {}

    def close(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait(timeout=10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def handshake(self) -> float:
        """Open the session; return the milliseconds from the spawn to the answer."""
        information = {"name": "bench", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=information)
        spent = 1000.0 * (time.perf_counter() - self.spawned)
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return spent

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return its text.

        Raises: RuntimeError where the answer is an error.
        """
        return self.text(self.send("tools/call", name=tool, arguments=arguments))

    def text(self, number: int) -> str:
        """Wait for the text of a tool call that was sent.

        Raises: RuntimeError where the answer is an error.
        """
        result = self.result(number)
        text: str = result["content"][0]["text"]
        if result.get("isError"):
            raise RuntimeError(text)
        return text

    def prompt(self, text: str, *, session: int) -> str:
        """Send a prompt as the client's hook does; return the hook's output."""
        return self.call("hook_prompt", prompt=text, session_id=f"bench-{session}", cwd="/")

    def ask(self, method: str, **params: Any) -> Message:
        """Send a request and return its result.

        Raises: RuntimeError where it is refused.
        """
        return self.result(self.send(method, **params))

    def result(self, number: int) -> Message:
        """Wait for the result of a request that was sent; answers to others are kept, the rest is passed over.

        Raises: RuntimeError where it is refused.
        """
        while number not in self._answers:
            heard = self._hear()
            if "id" in heard and "method" not in heard:
                self._answers[heard["id"]] = heard
        answer = self._answers.pop(number)
        if "result" not in answer:
            message = f"request {number}: {answer['error']}"
            raise RuntimeError(message)
        result: Message = answer["result"]
        return result

    def answered(self, number: int) -> bool:
        """Tell whether the answer to a request has been heard while waiting for another."""
        return number in self._answers

    def send(self, method: str, **params: Any) -> int:
        """Send a request and return its number."""
        self._last += 1
        self._say({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return self._last

    def memory(self) -> dict[str, float]:
        """Return the server's resident memory in MB: all of it, and what is its own rather than mapped from files."""
        status = Path(f"/proc/{self.process.pid}/status")
        if status.exists():
            values = dict(line.split(":", 1) for line in status.read_text().splitlines())
            return {"resident": _kilobytes(values["VmRSS"]), "own": _kilobytes(values["RssAnon"])}
        told = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(self.process.pid)], capture_output=True, text=True, check=True
        )
        return {"resident": int(told.stdout) / 1024}

    def processor_ms(self) -> float:
        """Return the processor time that the server has used; 0 where the system does not tell."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        if not stat.exists():
            return 0.0
        user, system = stat.read_text().rpartition(")")[2].split()[11:13]
        return 1000.0 * (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _say(self, message: Message) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _hear(self) -> Message:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            message = "the server ended"
            raise RuntimeError(message)
        heard: Message = json.loads(line)
        return heard


def _kilobytes(text: str) -> float:
    return int(text.split(maxsplit=1)[0]) / 1024
