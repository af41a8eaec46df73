"""Tells which client a file is written for, where that is not Claude Code: by its folder, its name and its format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from repertoire.domain.component import AGENT, COMMAND, HOOK, PLUGIN, SETTING, SKILL
from repertoire.domain.text import clean_line
from repertoire.ingestion.parts import Draft, SourceLayout, stem

COPILOT, CURSOR, GEMINI, KIRO, OPENCODE = "GitHub Copilot", "Cursor", "Gemini CLI", "Kiro", "OpenCode"
ANOTHER = "another client"
# where clients keep what they read of a repository; Claude Code reads none of these folders
_FOLDERS = {
    ".agents": "clients that share .agents",
    ".amazonq": "Amazon Q",
    ".augment": "Augment",
    ".clinerules": "Cline",
    ".codebuddy": "CodeBuddy",
    ".codex": "Codex",
    ".continue": "Continue",
    ".cursor": CURSOR,
    ".factory": "Factory",
    ".gemini": GEMINI,
    ".github": COPILOT,
    ".goose": "Goose",
    ".junie": "Junie",
    ".kilocode": "Kilo Code",
    ".kiro": KIRO,
    ".opencode": OPENCODE,
    ".qwen": "Qwen Code",
    ".roo": "Roo Code",
    ".trae": "Trae",
    ".vscode": "VS Code",
    ".windsurf": "Windsurf",
}
_KINDS = {
    "agents": AGENT,
    "subagents": AGENT,
    "commands": COMMAND,
    "prompts": COMMAND,
    "skills": SKILL,
} | dict.fromkeys(("instructions", "rules", "steering"), SETTING)
_OF_COPILOT = (".agent.md", ".chatmode.md", ".collection.yaml", ".collection.yml", ".instructions.md", ".prompt.md")
# An agent whose list names none of them is refused when it is called: names are compared letter by letter.
_TOOLS = frozenset(
    """* Agent AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree
    ExitPlanMode ExitWorktree Glob Grep KillBash KillShell LS LSP ListMcpResourcesTool Monitor MultiEdit NotebookEdit
    NotebookRead PowerShell Read ReadMcpResourceTool SendMessage Skill SlashCommand Task TaskCreate TaskGet TaskList
    TaskOutput TaskStop TaskUpdate TeamCreate TeamDelete TodoWrite ToolSearch WebFetch WebSearch Workflow
    Write""".split()
)
_MODELS = frozenset("best default fable haiku inherit opus opusplan sonnet".split())
_MODEL = re.compile(r"(?:[a-z]{2,6}\.)?(?:anthropic\.)?claude-[a-z0-9-]+(?:[@:][a-z0-9:-]+)?\Z")
_EVENT = re.compile(r"[A-Z][A-Za-z]*\Z")  # as all events of Claude Code are written
_EVENTS = {  # two clients share some of theirs: the first that any event is of
    CURSOR: frozenset(
        """afterAgentResponse afterFileEdit afterMCPExecution afterShellExecution beforeMCPExecution beforeReadFile
        beforeShellExecution beforeSubmitPrompt stop""".split()
    ),
    COPILOT: frozenset(
        """agentStop errorOccurred postToolUse preToolUse sessionEnd sessionStart subagentStop
        userPromptSubmitted""".split()
    ),
    GEMINI: frozenset("AfterAgent AfterModel AfterTool BeforeAgent BeforeModel BeforeTool BeforeToolSelection".split()),
}
_VARIABLES = ("${input:", "${file", "${selection", "${selectedText", "${workspaceFolder")
_SHOWN = 3


@dataclass(frozen=True)
class Foreign:
    """What another client reads, and how that shows."""

    client: str
    reason: str


def folder_client(path: str) -> str:
    """Return the client whose folder holds a path; empty where it lies in none."""
    return next((_FOLDERS[part] for part in path.split("/")[:-1] if part in _FOLDERS), "")


def own(paths: Iterable[str]) -> dict[str, str]:
    """Return where each name of a source lies outside other clients' folders, by kind and name."""
    found: dict[str, str] = {}
    for path in paths:
        if (name := _name(path)) and not folder_client(path):
            found.setdefault(name, path)
    return found


def foreign(draft: Draft, path: str, layout: SourceLayout) -> Foreign | None:
    """Tell whose a component is that Claude Code cannot use as it lies; None where it can.

    What lies in another client's folder is its version of what the same source has for Claude Code under that name.
    Otherwise the format decides: skills, and all that keeps to Claude Code's own, are taken over as they are.
    """
    elsewhere = folder_client(path)
    if elsewhere and (ours := layout.own.get(_name(path), "")):
        return Foreign(elsewhere, f"its version of {ours}, which is the one that Claude Code reads")
    told = _FORMATS.get(draft.type, _nothing)(draft, path)
    if told is None:
        return None
    client = COPILOT if told.client == ANOTHER and path.endswith(_OF_COPILOT) else told.client
    return Foreign(elsewhere or client, clean_line(told.reason, 200))


def _name(path: str) -> str:
    above = path.split("/")[:-1]
    if path.rpartition("/")[2].lower() == "skill.md":
        return f"{SKILL} {above[-1]}" if above else ""
    kind = next((_KINDS[part] for part in reversed(above) if part in _KINDS), "")
    return f"{kind} {stem(path)}" if kind else ""


def _nothing(draft: Draft, path: str) -> Foreign | None:
    del draft, path
    return None


def _agent(draft: Draft, path: str) -> Foreign | None:
    header = draft.front_matter
    if path.endswith(".chatmode.md"):
        return Foreign(COPILOT, "a chat mode, which is a whole conversation's and no agent's")
    if isinstance(header.get("tools"), Mapping):
        return Foreign(OPENCODE, "its tools are switches, which Claude Code does not read")
    if "allowedTools" in header and not draft.tools:
        return Foreign(KIRO, "its tools stand under allowedTools, which Claude Code does not read")
    if draft.tools and not any(_is_ours(tool) for tool in draft.tools):
        return Foreign(ANOTHER, f"none of its tools is one of Claude Code's: {', '.join(draft.tools[:_SHOWN])}")
    return _by_model(header)


def _is_ours(tool: str) -> bool:
    name = tool.partition("(")[0].strip()
    return name in _TOOLS or name.startswith("mcp__")


def _command(draft: Draft, path: str) -> Foreign | None:
    header = draft.front_matter
    if "subtask" in header:
        return Foreign(OPENCODE, "it names a subtask, which Claude Code does not read")
    if path.endswith(".prompt.md") and (used := [mark for mark in _VARIABLES if mark in draft.body]):
        return Foreign(COPILOT, f"it asks for {used[0]}…}}, which Claude Code does not fill in")
    return _by_model(header)


def _by_model(header: Mapping[str, Any]) -> Foreign | None:
    model = header.get("model")
    if not isinstance(model, str) or not model.strip():
        return None
    named = model.strip().lower().removesuffix("[1m]")
    if named in _MODELS or _MODEL.match(named):
        return None
    return Foreign(ANOTHER, f"its model is none of Claude Code's: {model}")


def _hook(draft: Draft, path: str) -> Foreign | None:
    del path
    events = [event for event in draft.tags if event]
    if not events or any(_EVENT.match(event) and event not in _EVENTS[GEMINI] for event in events):
        return None
    told = f"its events are none of Claude Code's: {', '.join(events[:_SHOWN])}"
    return Foreign(next((client for client, known in _EVENTS.items() if known.intersection(events)), ANOTHER), told)


def _plugin(draft: Draft, path: str) -> Foreign | None:
    del draft
    return Foreign(COPILOT, "a collection, which Claude Code does not install") if path.endswith(_OF_COPILOT) else None


_FORMATS = {AGENT: _agent, COMMAND: _command, HOOK: _hook, PLUGIN: _plugin}
