"""Asks a home as clients do, over the MCP tools and the prompt hook, and keeps what fails or does not fit a schema."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator
from life import Life

from repertoire.app.session.spool import record_answer
from repertoire.domain.event import OFFERED
from repertoire.mcp_server.arguments import checked
from repertoire.mcp_server.hook_calls import Hook
from repertoire.mcp_server.tool_definitions import TOOLS
from repertoire.mcp_server.work import Answers, HookOutcome
from repertoire.mcp_server.writes import Writes

LISTED = 12  # results of a search
BY_NAME = {tool.name: tool for tool in TOOLS}
SURE, UNSURE, EMPTY = "sure", "unsure", "empty"


@dataclass
class Tally:
    """How often each door answered in which way, and what failed there."""

    answered: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Reading:
    """What the doors say to one request: the set, a search and the hint, by id, best first."""

    text: str
    items: Sequence[Mapping[str, Any]] = ()
    found: Sequence[Mapping[str, Any]] = ()
    hint: Sequence[str] = ()
    confidence: float = 0.0

    @property
    def first(self) -> str:
        return next(iter(self.named("set")), "")

    def named(self, door: str) -> list[str]:
        """Return the ids that a door names: `set`, `search` or `hint`."""
        return (
            list(self.hint) if door == "hint" else [one["id"] for one in (self.items if door == "set" else self.found)]
        )


class Doors:
    """The doors of one process, in the life and the project that were entered."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.answers = Answers(dict(os.environ))
        self.writes = Writes(dict(os.environ), started="2020-01-01T00:00:00Z")
        self._asked = 0
        if self.answers.repertoire.embedder is not None:
            self.answers.repertoire.embedder.embed_queries(["warm"])  # else the first hints go without the model

    def close(self) -> None:
        self.answers.close()
        self.writes.close()

    def ask(self, text: str) -> Reading:
        """Put a request to every door; nothing of it is recorded."""
        chosen, listed = self.tool("recommend_set", task=text), self.tool("search_components", query=text, limit=LISTED)
        told = chosen.get("items", ()), listed.get("components", ()), self.hint(text), chosen.get("confidence", 0.0)
        return Reading(text, *told)

    def hint(self, text: str) -> list[str]:
        """Return the ids that the prompt hook names, in a session of its own; nothing of it is recorded."""
        self._asked += 1
        hinted = self.hook("hook_prompt", session=f"asked {self._asked}", prompt=text)
        return [event.node for event in hinted.events if event.kind == OFFERED]

    def tool(self, name: str, *, kept: bool = False, **arguments: Any) -> Mapping[str, Any]:
        """Call a tool, and return its data as a client reads them; `kept`: what was offered is recorded."""
        tool = BY_NAME[name]
        try:
            given = checked(tool, arguments)
            if tool.read_only:
                reply, events = self.answers.tool(name, given)
            else:
                reply, events = self.writes.tool(name, given, ""), ()
            data = json.loads(json.dumps(dict(reply.data), allow_nan=False))
        except Exception as error:  # noqa: BLE001 - whatever comes out of a door is what is counted here
            self._failed(name, arguments, repr(error))
            return {}
        if kept:
            record_answer(self.writes.repertoire.store, events)
        self.judge(name, arguments, data)
        return data

    def judge(self, name: str, asked: object, data: Mapping[str, Any], door: str = "") -> None:
        """Count an answer, and a failure where it does not fit the schema that the tool promises."""
        told = data.get("items", data.get("components"))
        kind = "answered" if not isinstance(told, list) else (SURE if data["fits"] else UNSURE) if told else EMPTY
        self.tally.answered[f"{door or name} {kind}"] += 1
        for misfit in Draft202012Validator(BY_NAME[name].output).iter_errors(data):
            self._failed(door or name, asked, f"{misfit.json_path}: {misfit.message[:200]}")

    def hook(self, name: str, *, session: str, kept: bool = False, **values: Any) -> HookOutcome:
        """Call a hook; `kept`: its events are recorded, and what it taught is learned."""
        folder = os.environ["CLAUDE_PROJECT_DIR"]
        try:
            outcome = self.answers.hook(name, Hook({"session_id": session, "cwd": folder, **values}))
            said = json.loads(outcome.text)
            if kept:
                self.answers.spool(outcome.events)
                self.writes.drain(outcome.lessons)
        except Exception as error:  # noqa: BLE001 - as above
            self._failed(name, values, repr(error))
            return HookOutcome()
        self.tally.answered[f"{name} {'speaks' if said else 'silent'}"] += 1
        return outcome

    def _failed(self, door: str, asked: object, why: str) -> None:
        self.tally.failures.append(f"{door} {asked}: {why}")


@contextmanager
def opened(life: Life, project: str, tally: Tally) -> Iterator[Doors]:
    """Enter a project of a life, and open its doors."""
    with life.entered(project):
        doors = Doors(tally)
        try:
            yield doors
        finally:
            doors.close()
