"""Recognises files that are written for another client than Claude Code, by folder, name and format."""

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
# Folders in a repository that other clients read, and Claude Code does not.
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
# Claude Code's tools. It refuses to call an agent whose list names none of them; names are compared exactly.
_TOOLS = frozenset(
    """* Agent AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree
    ExitPlanMode ExitWorktree Glob Grep KillBash KillShell LS LSP ListMcpResourcesTool Monitor MultiEdit NotebookEdit
    NotebookRead PowerShell Read ReadMcpResourceTool SendMessage Skill SlashCommand Task TaskCreate TaskGet TaskList
    TaskOutput TaskStop TaskUpdate TeamCreate TeamDelete TodoWrite ToolSearch WebFetch WebSearch Workflow
    Write""".split()
)
_MODELS = frozenset("best default fable haiku inherit opus opusplan sonnet".split())
_MODEL = re.compile(r"(?:[a-z]{2,6}\.)?(?:anthropic\.)?claude-[a-z0-9-]+(?:[@:][a-z0-9:-]+)?\Z")
_EVENT = re.compile(r"[A-Z][A-Za-z]*\Z")  # the form of all events of Claude Code
_EVENTS = {  # events of other clients; the first client with a matching event counts, because some share events
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
class ForeignClient:
    """The other client that a component is written for, and the evidence."""

    client: str
    reason: str


def folder_client(path: str) -> str:
    """Return the client whose folder holds a path; empty if no client's does."""
    return next((_FOLDERS[part] for part in path.split("/")[:-1] if part in _FOLDERS), "")


def own(paths: Iterable[str]) -> dict[str, str]:
    """Map each component's type and name to its path outside other clients' folders."""
    found: dict[str, str] = {}
    for path in paths:
        if (name := _name(path)) and not folder_client(path):
            found.setdefault(name, path)
    return found


def foreign(draft: Draft, path: str, layout: SourceLayout) -> ForeignClient | None:
    """Return the other client that a component is written for; None if Claude Code can use it as it is.

    A file in another client's folder is that client's version if the source has the same name for Claude Code too.
    Otherwise the format decides: skills, and files in Claude Code's own format, can be used as they are.
    """
    elsewhere = folder_client(path)
    if elsewhere and (ours := layout.own.get(_name(path), "")):
        return ForeignClient(elsewhere, f"its version of {ours}, which is the one that Claude Code reads")
    foreign_format = _FORMATS.get(draft.type, _nothing)(draft, path)
    if foreign_format is None:
        return None
    client = COPILOT if foreign_format.client == ANOTHER and path.endswith(_OF_COPILOT) else foreign_format.client
    return ForeignClient(elsewhere or client, clean_line(foreign_format.reason, 200))


def _name(path: str) -> str:
    above = path.split("/")[:-1]
    if path.rpartition("/")[2].lower() == "skill.md":
        return f"{SKILL} {above[-1]}" if above else ""
    kind = next((_KINDS[part] for part in reversed(above) if part in _KINDS), "")
    return f"{kind} {stem(path)}" if kind else ""


def _nothing(draft: Draft, path: str) -> ForeignClient | None:
    del draft, path
    return None


def _agent(draft: Draft, path: str) -> ForeignClient | None:
    header = draft.front_matter
    if path.endswith(".chatmode.md"):
        return ForeignClient(COPILOT, "a chat mode, which is a whole conversation's and no agent's")
    if isinstance(header.get("tools"), Mapping):
        return ForeignClient(OPENCODE, "its tools are switches, which Claude Code does not read")
    if "allowedTools" in header and not draft.tools:
        return ForeignClient(KIRO, "its tools stand under allowedTools, which Claude Code does not read")
    if draft.tools and not any(_is_ours(tool) for tool in draft.tools):
        return ForeignClient(ANOTHER, f"none of its tools is one of Claude Code's: {', '.join(draft.tools[:_SHOWN])}")
    return _by_model(header)


def _is_ours(tool: str) -> bool:
    name = tool.partition("(")[0].strip()
    return name in _TOOLS or name.startswith("mcp__")


def _command(draft: Draft, path: str) -> ForeignClient | None:
    header = draft.front_matter
    if "subtask" in header:
        return ForeignClient(OPENCODE, "it names a subtask, which Claude Code does not read")
    if path.endswith(".prompt.md") and (used := [mark for mark in _VARIABLES if mark in draft.body]):
        return ForeignClient(COPILOT, f"it asks for {used[0]}…}}, which Claude Code does not fill in")
    return _by_model(header)


def _by_model(header: Mapping[str, Any]) -> ForeignClient | None:
    model = header.get("model")
    if not isinstance(model, str) or not model.strip():
        return None
    named = model.strip().lower().removesuffix("[1m]")
    if named in _MODELS or _MODEL.match(named):
        return None
    return ForeignClient(ANOTHER, f"its model is none of Claude Code's: {model}")


def _hook(draft: Draft, path: str) -> ForeignClient | None:
    del path
    events = [event for event in draft.tags if event]
    if not events or any(_EVENT.match(event) and event not in _EVENTS[GEMINI] for event in events):
        return None
    reason = f"its events are none of Claude Code's: {', '.join(events[:_SHOWN])}"
    return ForeignClient(
        next((client for client, known in _EVENTS.items() if known.intersection(events)), ANOTHER), reason
    )


def _plugin(draft: Draft, path: str) -> ForeignClient | None:
    del draft
    return (
        ForeignClient(COPILOT, "a collection, which Claude Code does not install")
        if path.endswith(_OF_COPILOT)
        else None
    )


_FORMATS = {AGENT: _agent, COMMAND: _command, HOOK: _hook, PLUGIN: _plugin}
