"""Parses a hooks configuration: the actions it runs on each event, and their requirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repertoire import linear
from repertoire.domain.component import HOOK
from repertoire.domain.digest import digest_of
from repertoire.domain.text import clean_line
from repertoire.ingestion import requirements, values
from repertoire.ingestion.parts import ComponentRequirement, Draft

_ACTIONS = ("command", "bash", "powershell", "script", "prompt", "url", "tool")
# A file in one of the folders into which authors have their programs copied.
_OWN_FILE = linear.compile(r"(?:~|\$\{?\w+\}?)?[\w./-]*\.claude/(?:hooks|scripts)/[\w./-]*\w")
_UNQUOTED = str.maketrans("\"'", "  ")
_KEPT = 20_000  # characters of the text that are kept; the checks get all of it


@dataclass(frozen=True)
class Action:
    """One action of a hook: its event, tools, command line and requirements."""

    event: str
    matcher: str
    line: str
    needs: tuple[ComponentRequirement, ...]


@dataclass(frozen=True)
class HookSummary:
    """A hooks configuration in words: a sentence, its actions as text, its events and requirements."""

    sentence: str
    text: str  # of any length
    commands: str
    events: tuple[str, ...]
    needs: tuple[ComponentRequirement, ...]


def from_events(listed: Sequence[Any]) -> dict[str, Any]:
    """Convert a configuration that is a list of events into Claude Code's form, a mapping."""
    found: dict[str, list[Any]] = {}
    for item in listed:
        entry = values.mapping(item)
        event = values.name(entry.get("event") or entry.get("type"))
        if event:
            found.setdefault(event, []).append(dict(item))
    return found


def with_modules(configuration: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a configuration with the JavaScript modules that it names, which the client runs too, as an event."""
    listed = configuration.get("modules")
    modules = [{"script": one} for one in listed[:100] if isinstance(one, str)] if isinstance(listed, list) else []
    if not modules:
        return configuration
    return {**configuration, "hooks": {**values.mapping(configuration.get("hooks")), "Module": [{"hooks": modules}]}}


def actions(hooks: Mapping[str, Any]) -> Iterator[Action]:
    """Yield all actions of a hooks configuration."""
    for event, groups in hooks.items():
        for group in groups if isinstance(groups, list) else ():
            matcher = values.name(values.mapping(group).get("matcher"))
            inner = values.mapping(group).get("hooks")
            for hook in inner if isinstance(inner, list) else [group]:
                yield _action(event, matcher, values.mapping(hook))


def _action(event: str, matcher: str, hook: Mapping[str, Any]) -> Action:
    key = next((key for key in _ACTIONS if isinstance(hook.get(key), str) and hook[key]), "")
    line = values.text(hook.get(key))
    listed = hook.get("args")
    args = [str(word) for word in listed] if isinstance(listed, list) else []
    evidence = f"hook on {event}"
    needs: list[ComponentRequirement] = []
    if hook.get("type") == "mcp_tool":
        line = f"{values.name(hook.get('server'))} {line}"
        needs.append(
            ComponentRequirement("mcp_server", values.name(hook.get("server")).rpartition(":")[2], 0.9, evidence)
        )
    elif key in ("command", "bash", "script"):
        found = (
            requirements.of_command(line, args, evidence=evidence)
            if args
            else requirements.of_shell(line, evidence=evidence)
        )
        needs = [*found, *requirements.of_variables(line, evidence=evidence)]
    described = values.text(hook.get("description") or hook.get("purpose") or hook.get("statusMessage"))
    shown = " ".join([line, *args])
    return Action(
        event,
        matcher,
        f"{described}: {shown}" if described else shown,
        tuple(needs),
    )


def summarise(hooks: Mapping[str, Any]) -> HookSummary:
    """Summarise a hooks configuration in words."""
    listed = list(actions(hooks))
    events = tuple(dict.fromkeys(action.event for action in listed))
    lines = [f"{when(action)}: {action.line}" for action in listed]
    first = clean_line(listed[0].line, 120) if listed else "nothing"
    needs = {(need.kind, need.name): need for action in listed for need in action.needs}
    return HookSummary(
        sentence=f"Runs on {', '.join(events) or 'no event'}: {first}",
        text="\n".join(lines),
        commands="\n".join(action.line for action in listed)[:4_000],
        events=events,
        needs=tuple(needs.values()),
    )


def started_files(lines: str) -> list[str]:
    """Return the files in Claude Code's folders of hooks and scripts that command lines name, sorted."""
    joined = lines.replace('"/', "/")  # "$CLAUDE_PROJECT_DIR"/.claude/hooks/x is one word
    words = [word.strip(";|&()") for word in joined.translate(_UNQUOTED).split()]
    beside = zip(["", *words], words, strict=False)  # what a command writes to is no program of the hook
    return sorted({word for before, word in beside if not before.endswith(">") and _OWN_FILE.fullmatch(word)})


def draft(name: str, hooks: Mapping[str, Any], *, description: str = "") -> Draft:
    """Return the draft of a hooks configuration."""
    summary = summarise(hooks)
    return Draft(
        type=HOOK,
        name=name,
        description=description or summary.sentence,
        body=summary.text[:_KEPT],
        digest=digest_of(summary.text),
        signatures=summary.commands,
        tags=summary.events,
        needs=summary.needs,
        commands=summary.text,
    )


def when(action: Action) -> str:
    """Return the event and the tools of an action as text: `PreToolUse (Bash)`."""
    return f"{action.event} ({action.matcher})" if action.matcher and action.matcher != "*" else action.event
