"""Lives half a year in a home: installs what it recommends, uses it, fails, mutes and ignores, through its doors."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from doors import Doors
from life import PROJECTS, Life

from repertoire.app import clock
from repertoire.app.installation.install import INSTALLED_COMPONENTS, InstallRequest, install, plan
from repertoire.app.kernel import Repertoire
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.ingest import ingest
from repertoire.app.usage.installs import note_installs
from repertoire.app.usage.review import renew_learned
from repertoire.domain.component import AGENT, COMMAND, MCP_SERVER, SKILL, Component
from repertoire.domain.errors import RepertoireError

# What became of what was installed for a request: never used; used and it went well; so, but what was used stood
# second; every call failed; muted after a while.
KEPT, USED, PREFERRED, FAILED, MUTED = "kept", "used", "preferred", "failed", "muted"
ROLES = (KEPT, USED, PREFERRED, FAILED, MUTED)
BUSY = ("shop", "web", "infra")  # projects in which there is work
_BEGAN, _INSTALLED, _MUTED = 170, (160, 145, 130), 60  # days ago
_WHEN = {USED: (1, 125), PREFERRED: (1, 125), FAILED: (1, 40), MUTED: (_MUTED, 125)}  # days ago, of uses
_TIMES = 4  # uses of one thing for one request
STARTED = (SKILL, AGENT, COMMAND, MCP_SERVER)  # what a use can be heard of
_OWN = (  # project, requests, and the component of its own that serves them
    ("shop", ("deploy the shop", "ship the new version"), SKILL, "deploy"),
    ("web", ("deploy the pages", "put it online"), SKILL, "deploy"),
    ("shop", ("write the release notes", "what changed since the last release?"), SKILL, "release-notes"),
    ("web", ("write the release notes for marketing",), SKILL, "release-notes"),
    ("infra", ("review my change of the network",), AGENT, "shop-reviewer"),
)


@dataclass(frozen=True)
class Wish:
    """A request, what becomes of it, and what is to be installed for it: the first of these that can be."""

    text: str
    role: str
    candidates: Sequence[str]
    alone: bool = False  # copied, where it can be, without the plugin that it is part of


@dataclass
class Owned:
    """What was installed for a request: its id in the repository it comes from, and the installed one's."""

    wish: Wish
    original: str
    installed: str = ""
    started: tuple[str, str] = ("", "")  # its type, and the name by which it is started


@dataclass
class Past:
    """What was done: for the artefact, and for the questions about it."""

    owned: list[Owned] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # what could not be installed, and why
    copied: dict[str, str] = field(default_factory=dict)  # request -> what a project has a copy of that serves it
    sessions: int = 0
    unknown: list[str] = field(default_factory=list)  # uses whose component the home did not know


@dataclass(frozen=True)
class Session:
    """One session: what was asked where, what was used, and how it ended."""

    days: float
    project: str
    prompt: str
    started: tuple[str, str] = ("", "")
    fails: bool = False


def lived(life: Life, doors: Doors, wishes: Sequence[Wish], copied: dict[str, str], idle: Sequence[str]) -> Past:
    """Live: copy into a project, install for the wishes, then work; `idle`: prompts after which nothing is used."""
    past, opened = Past(), doors.writes.repertoire
    batches = [wishes[number :: len(_INSTALLED)] for number in range(len(_INSTALLED))]
    with days_ago(_BEGAN):
        for text, key in copied.items():
            if _installed(life, opened, key, past, project="web", alone=True):
                past.copied[text] = key
        _read(life, opened)
    for days, batch in zip(_INSTALLED, batches, strict=True):
        with days_ago(days):
            life.go(BUSY[0])
            for wish in batch:
                doors.tool("recommend_set", kept=True, task=wish.text)
                found = next(
                    (key for key in wish.candidates if _brought(life, opened, key, past, alone=wish.alone)), ""
                )
                if found:
                    past.owned.append(Owned(wish, found))
            _read(life, opened)
    for one in past.owned:
        _find(opened, one)
    for session in sorted(_sessions(past, idle), key=lambda one: -one.days):
        _work(life, doors, session, past)
        if session.days < _MUTED:
            _mute(doors, past)
    renew_learned(opened.store)
    _embed(opened)
    return past


@contextmanager
def days_ago(days: float) -> Iterator[None]:
    """Set the product's clock back."""

    class Earlier(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz or timezone.utc) - timedelta(days=days)

    clock.datetime = Earlier  # type: ignore[attr-defined]
    try:
        yield
    finally:
        clock.datetime = datetime  # type: ignore[attr-defined]


def _brought(life: Life, opened: Repertoire, key: str, past: Past, *, alone: bool) -> bool:
    """Install a component by itself where that is wanted and can be, or as its install lines say."""
    return (alone and _installed(life, opened, key, past, alone=True)) or _installed(life, opened, key, past)


def _installed(life: Life, opened: Repertoire, key: str, past: Past, *, project: str = "", alone: bool = False) -> bool:
    """Install a component as `repertoire install ID --yes` does, for a project alone if one is named."""
    folder = Path(life.go(project or BUSY[0]))
    wanted = InstallRequest((key,), folder, dict(os.environ), for_project=bool(project), alone=alone)
    try:
        decided = plan(opened.store, opened.home, replace(wanted, dry=True), settings=opened.settings)
        if any(part.unread for part in decided.parts):
            past.refused.append(f"{key}: its repository is not in the home, and nothing is fetched")
            return False
        install(opened.home, decided, wanted)
    except RepertoireError as error:
        past.refused.append(f"{key}: {error}")
        return False
    return True


def _read(life: Life, opened: Repertoire) -> None:
    """Read what is installed now, in every project."""
    for project in PROJECTS:
        life.go(project)
        ingest(opened.store, opened.home, INSTALLED_COMPONENTS, settings=opened.settings)
    note_installs(opened.store, opened.settings)
    _embed(opened)


def _embed(opened: Repertoire) -> None:
    if opened.embedder is not None:
        embed_pending(opened.store, opened.embedder)


def _find(opened: Repertoire, one: Owned) -> None:
    """Note under which id, type and name the client has what was installed."""
    graph = opened.store.graph
    same = [key for group in graph.copies([one.original]) for key in group] or [one.original]
    here: list[Component] = [
        found.component for key in same if (found := graph.by_key(key)) and not key.startswith("project:")
    ]
    component = next((found for found in here if found.installed), None)
    if component is not None:
        one.installed = component.id
        one.started = (component.type, component.call_name) if component.type in STARTED else ("", "")


def _sessions(past: Past, idle: Sequence[str]) -> Iterator[Session]:
    dice = random.Random(46)
    for one in past.owned:
        if one.wish.role != KEPT:
            for _ in range(_TIMES):
                days = dice.uniform(*_WHEN[one.wish.role])
                yield Session(days, dice.choice(BUSY), one.wish.text, one.started, one.wish.role == FAILED)
    for project, prompts, kind, name in _OWN:
        for prompt in prompts * 2:
            yield Session(dice.uniform(1, 125), project, prompt, (kind, name))
    for prompt in idle:
        yield Session(dice.uniform(1, 165), dice.choice(BUSY), prompt)


def _work(life: Life, doors: Doors, session: Session, past: Past) -> None:
    name, step = f"session {past.sessions}", 1 / 24 / 60  # a minute
    past.sessions += 1
    life.go(session.project)
    with days_ago(session.days):
        doors.hook("hook_prompt", session=name, kept=True, prompt=session.prompt)
    with days_ago(session.days - step):
        _use(doors, session, name, past)
    with days_ago(session.days - 2 * step):
        doors.hook("hook_stop", session=name, kept=True, last_assistant_message="Done.")


def _use(doors: Doors, session: Session, name: str, past: Past) -> None:
    kind, started = session.started
    if not started:
        return
    if kind == COMMAND:
        outcome = doors.hook("hook_expanded", session=name, kept=True, command_name=started, command_args="")
    else:
        tool, said = {
            SKILL: ("Skill", {"skill": started}),
            AGENT: ("Task", {"subagent_type": started, "prompt": session.prompt}),
            MCP_SERVER: (f"mcp__{started}__run", {}),
        }[kind]
        call = {"tool_name": tool, "tool_input": json.dumps(said)}
        if session.fails:
            doors.hook("hook_failed", session=name, kept=True, error="it broke off: no such file", **call)
            return
        outcome = doors.hook("hook_used", session=name, kept=True, **call)
    if not any(event.node for event in outcome.events):
        past.unknown.append(f"{session.project}: {kind} {started}")
    passed = json.dumps({"stdout": "12 passed in 3.1s", "stderr": ""})
    run = {"tool_name": "Bash", "tool_input": json.dumps({"command": "pytest -q"}), "tool_response": passed}
    doors.hook("hook_used", session=name, kept=True, **run)


def _mute(doors: Doors, past: Past) -> None:
    """Mute, once, what is to be muted."""
    store = doors.writes.repertoire.store
    for one in past.owned:
        if one.wish.role == MUTED and one.installed not in store.preferences.muted(project=""):
            with days_ago(_MUTED):
                doors.tool("mute", target=one.installed)
