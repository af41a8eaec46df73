"""Checks for wide permissions: tools without asking, permission prompts switched off, hooks on every event."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repertoire import linear
from repertoire.domain.component import COMMAND, HOOK, MCP_SERVER, SETTING, SKILL, Component
from repertoire.domain.trust import HIGH, LOW, MEDIUM
from repertoire.trust.check import Check, CheckMatch
from repertoire.trust.scanned_text import COMMENT, PROSE, RUN, SHELL, Line

RULE = "wide-permission"
_EVERY = re.compile(r"^\s*(?:\*|all|\"\*\")\s*$", re.IGNORECASE)
_ANY_SHELL = re.compile(r"^\s*(?:Bash|PowerShell)\(\s*(?:\*|:\*|\*:\*)\s*\)\s*$")
# shells and root, which run any command: to allow them is to allow everything
_SAME_AS_ANY = re.compile(r"^\s*Bash\(\s*(?:sudo|(?:ba|z|da)?sh|eval|xargs)(?::\*|\s+\*)\s*\)\s*$")
_DELETES = re.compile(r"^\s*Bash\(\s*(?:rm|shred)(?::\*|\s+\*)\s*\)\s*$")
_MANY_EVENTS = 8  # events, of about twelve, from which on a hook listens everywhere
_ALLOWS = re.compile(
    r"\"?permissionDecision\"?\s*:\s*\\?[\"']allow|\\?\"behavior\\?\"\s*:\s*\\?\"allow\\?\"|\\?\"decision\\?\"\s*:\s*\\?\"approve\\?\""
)
_JUDGES = re.compile(r"(?i)\b(?:if|deny|ask|grep|jq|case|test|\[\[|decide|evaluate|check)\b")
_COMMAND = re.compile(r"(?:[A-Z]\w+(?: \([^)]*\))?: )?\s*[^\s{]")  # a command, not a JSON answer shown in a prompt
_EVENT = re.compile(r"(?P<event>[A-Z]\w+)(?P<matcher> \(.*?\))?: ")
_OTHER_EVENTS = re.compile(r"(?:Stop|SubagentStop|UserPromptSubmit|SessionStart|SessionEnd|PreCompact|Notification)\b")
_WHOLE_HOST = re.compile(r"--privileged\b|--(?:pid|ipc|userns)=host\b|--cap-add[= ](?:SYS_ADMIN|ALL)\b")
_HOST = re.compile(r"(?:^|[\s\",\[])(?:--privileged\b|(?:-v|--volume)[\s=\",]+/:/|/:/host|/var/run/docker\.sock)")

CHECKS = (
    Check(
        RULE,
        "starts an agent that asks for no permission",
        ("dangerously", "bypasspermissions"),
        re.compile(
            r"(?i)\bclaude\b[^\n]{0,120}--dangerously-skip-permissions|\bcodex\b[^\n]{0,120}--dangerously-bypass\S*"
            r"|--permission-mode[ =]bypassPermissions"
        ),
        {RUN: HIGH, SHELL: MEDIUM, PROSE: LOW, COMMENT: HIGH},
    ),
    Check(
        RULE,
        "writes settings that switch permissions off",
        ("bypasspermissions", "enableallproject"),
        re.compile(
            r"(?i)(?:[\"']?defaultMode[\"']?\s*[:=]\s*[\"']bypassPermissions"
            r"|enableAllProjectMcpServers[\"']?\s*[:=]\s*true)[^\n]{0,200}(?:settings(?:\.local)?\.json)?"
        ),
        {RUN: HIGH},
    ),
    Check(
        RULE,
        "tells the model to switch permissions off",
        ("bypasspermissions",),
        re.compile(
            r"(?i)(?:^|[.;:,]\s+|^[-*\d.\s]+)(?:then\s+|first\s+|silently\s+)?(?:set|write|add|change|switch|put)\b[^.\n]{0,60}\bbypassPermissions\b"
            r"[^\n]{0,80}\b(?:settings|so\s+that|first|before)\b"
        ),
        {PROSE: HIGH, COMMENT: HIGH},
    ),
    Check(
        RULE,
        "writes settings that allow every command without asking",
        ("permissions",),
        linear.compile(
            r"""(?is) \A[^\n]*permissions.{0,120}?\ballow\b.{0,60}?["'](?:Bash|Bash\(\*\)|\*)["'].{0,300}?(?:json\.dump|writeFile|write_text|\.write\()""",
            verbose=True,
        ),
        {RUN: HIGH},
        span=8,
    ),
    Check(
        RULE,
        "has every agent that it starts ask for no permission",
        ("bypasspermissions",),
        re.compile(
            r"(?i)\b(?:always|must|all)\b[^\n]{0,60}\b(?:use|be\s+spawned|spawn\w*|set|pass|start\w*)\b[^\n]{0,30}mode[\"'`:\s]{1,4}[\"']?bypassPermissions"
        ),
        {},
        lambda *_: {PROSE: MEDIUM, COMMENT: HIGH},
        orders=True,
    ),
)


def of_component(component: Component) -> Iterator[CheckMatch]:
    """Yield matches for wide permissions in a component's own declarations."""
    front = component.front_matter
    if component.type in (SKILL, COMMAND):
        yield from _allowed(front.get("allowed-tools", front.get("allowed_tools")))
    if str(front.get("permissionMode", front.get("permission-mode", ""))).strip() == "bypassPermissions":
        yield _match(HIGH, "permissionMode: bypassPermissions", "runs without asking for any permission")
    if component.type == HOOK:
        yield from _hook(component)
    if component.type == SETTING:
        yield from _settings(front)
    if component.type == MCP_SERVER:
        yield from _server(front)


def _allowed(stated: Any) -> Iterator[CheckMatch]:
    for tool in _names(stated):
        if _EVERY.match(tool):
            yield _match(HIGH, f"allowed-tools: {tool}", "may use every tool without being asked for")
        elif _ANY_SHELL.match(tool) or _SAME_AS_ANY.match(tool):
            yield _match(MEDIUM, f"allowed-tools: {tool}", "may run every command without being asked for")
        elif _DELETES.match(tool):
            yield _match(MEDIUM, f"allowed-tools: {tool}", "may delete anything without being asked for")


def _hook(component: Component) -> Iterator[CheckMatch]:
    lines = [line for line in component.body.split("\n") if line]
    stated = [match for line in lines if (match := _EVENT.match(line))]
    events = {match["event"] for match in stated}
    bare = {match.string[match.end() :] for match in stated if not match["matcher"]}
    if len(events) >= _MANY_EVENTS and len(bare) == 1:
        yield _match(MEDIUM, ", ".join(sorted(events)), "runs one program on every event of a session")
    for line in lines:
        if _OTHER_EVENTS.match(line):
            continue
        if _COMMAND.match(line) and _ALLOWS.search(line) and not _JUDGES.search(line):
            yield _match(HIGH, line, "allows tool calls without looking at them")


def _settings(front: Mapping[str, Any]) -> Iterator[CheckMatch]:
    permissions = front.get("permissions")
    permissions = permissions if isinstance(permissions, Mapping) else {}
    if permissions.get("defaultMode") == "bypassPermissions":
        yield _match(HIGH, "permissions.defaultMode: bypassPermissions", "switches all permission prompts off")
    for tool in _names(permissions.get("allow")):
        if _EVERY.match(tool):
            yield _match(HIGH, f"permissions.allow: {tool}", "allows every tool without asking")
        elif _ANY_SHELL.match(tool) or tool.strip() == "Bash":
            yield _match(MEDIUM, f"permissions.allow: {tool}", "allows every command without asking")
    for key in ("enableAllProjectMcpServers", "skipDangerousModePermissionPrompt"):
        if front.get(key) is True:
            yield _match(MEDIUM, f"{key}: true", "switches a question of the client off")


def _server(front: Mapping[str, Any]) -> Iterator[CheckMatch]:
    allowed = front.get("alwaysAllow", front.get("autoApprove"))
    if any(_EVERY.match(tool) for tool in _names(allowed)):
        yield _match(MEDIUM, "autoApprove: *", "lets every tool of the server run without asking")
    run = front.get("run")
    volumes = [*_names(front.get("args")), *_names(run.get("volumes") if isinstance(run, Mapping) else None)]
    line = " ".join(volumes)
    if _HOST.search(line):
        severity = LOW if "docker.sock" in line and not _WHOLE_HOST.search(line) else MEDIUM
        yield _match(severity, line, "gets the whole machine, not a folder of it")


def _names(stated: Any) -> Sequence[str]:
    if isinstance(stated, str):
        return [part.strip() for part in _parted(stated)]
    return [str(item) for item in stated] if isinstance(stated, (list, tuple)) else []


def _parted(stated: str) -> Sequence[str]:
    """Split at commas outside parentheses."""
    parts, end, closing = [], len(stated), False
    for place in range(len(stated) - 1, -1, -1):
        if stated[place] in "()":
            closing = stated[place] == ")"
        elif stated[place] == "," and not closing:
            parts.append(stated[place + 1 : end])
            end = place
    return [stated[:end], *reversed(parts)]


def _match(severity: str, text: str, reason: str) -> CheckMatch:
    return CheckMatch(RULE, severity, Line(0, text, RUN), reason)
