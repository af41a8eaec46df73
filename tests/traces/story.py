"""Tells a session as the client's hooks would, step by step, and what is made of it."""

from __future__ import annotations

import itertools
from typing import Any

from repertoire.learning.checks import is_check
from repertoire.learning.shell import commands
from repertoire.learning.undoing import undoes
from repertoire.traces.attempts import fold
from repertoire.traces.detection import DetectionSettings, offered, to_offer
from repertoire.traces.invocations import Shell
from repertoire.traces.problem import Problem, SessionTrace

SHELL = Shell(commands, is_check, undoes)
BEGUN = 1_800_000_000.0


class Story:
    """A session; every step takes half a minute unless told."""

    def __init__(self, *, rejected: frozenset[str] = frozenset(), settings: DetectionSettings | None = None) -> None:
        self.now = BEGUN
        self.events: list[dict[str, Any]] = []
        self.session = SessionTrace()
        self.rejected, self.settings = rejected, settings
        self._numbers = itertools.count(1)

    def fails(self, command: str, printed: str = "", code: int = 1, **more: Any) -> Story:
        error = f"Exit code {code}\n{printed}"
        return self.hook("PostToolUseFailure", "Bash", {"command": command}, error=error, **more)

    def passes(self, command: str, printed: str = "", **response: Any) -> Story:
        told = {"stdout": printed, "stderr": "", "interrupted": False, "isImage": False, **response}
        return self.hook("PostToolUse", "Bash", {"command": command}, tool_response=told)

    def told(self, command: str, printed: str = "", **more: Any) -> Story:
        told = {"stdout": printed, "stderr": "", "interrupted": False}
        return self.hook("PostToolUse", "Bash", {"command": command}, tool_response=told, **more)

    def edits(self, file: str, old: str = "", new: str = "") -> Story:
        number = next(self._numbers)
        given = {
            "file_path": file,
            "old_string": old or f"value{number} = {number}",
            "new_string": new or f"other{number}()",
        }
        return self.hook("PostToolUse", "Edit", given, tool_response={"filePath": file})

    def writes(self, file: str, content: str, *, before: str | None = None) -> Story:
        response = {"type": "create"} if before is None else {"type": "update", "originalFile": before}
        return self.hook("PostToolUse", "Write", {"file_path": file, "content": content}, tool_response=response)

    def searches(self, query: str) -> Story:
        return self.hook("PostToolUse", "WebSearch", {"query": query}, tool_response={"results": []})

    def fetches(self, url: str) -> Story:
        return self.hook("PostToolUse", "WebFetch", {"url": url, "prompt": "how"}, tool_response={"result": "x"})

    def calls(self, tool: str) -> Story:
        return self.hook("PostToolUse", tool, tool_response={"content": []})

    def asks(self, prompt: str) -> Story:
        return self.hook("UserPromptSubmit", prompt=prompt)

    def waits(self, seconds: float) -> Story:
        self.now += seconds
        return self

    def hook(self, hook: str, tool: str = "", given: dict[str, Any] | None = None, **more: Any) -> Story:
        self.now += 30
        event = {"hook": hook, "at": self.now, "tool_name": tool, "tool_input": given or {}, **more}
        self.events.append(event)
        self.session = fold(self.session, event, SHELL)
        return self

    def stops(self) -> Problem | None:
        """End the turn; return what is offered."""
        self.hook("Stop")
        problem = to_offer(self.session, self.rejected, self.settings)
        if problem is not None:
            self.session = offered(self.session, problem)
        return problem


def pytest_failed(test: str = "tests/test_pay.py::test_total", error: str = "KeyError: 'rate'", failed: int = 1) -> str:
    return (
        f"=== FAILURES ===\n    def test_total():\n>       assert total() == 3\nE       {error}\n\n"
        f"src/pay.py:12: {error.partition(':')[0]}\nFAILED {test} - {error}\n{failed} failed, 4 passed in 0.31s\n"
    )


PASSED = "5 passed in 0.28s\n"
