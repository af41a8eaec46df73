"""Checks for persistence: start-up files, timers, login items, and the client's settings and rules."""

from __future__ import annotations

import re
from collections.abc import Mapping

from repertoire import linear
from repertoire.domain.trust import CRITICAL, HIGH, LOW, MEDIUM
from repertoire.trust.check import Check, Match
from repertoire.trust.scanned_text import COMMENT, PROSE, RUN, SHELL, Line

RULE = "persistence"
_HOME = r"(?:~|\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE|/root|/home/[\w$*]+|/Users/[\w$*]+)[/\\]"
_STARTUP = (
    r"\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zshenv|zprofile|zlogin|xprofile|xinitrc"
    r"|config/fish/config\.fish)\b"
)
_HARMLESS = re.compile(
    r"(?i)\bexport\s+\w*PATH=|\b(?:eval|source|\.)\s+[\"'\\]*\$?\(?[\w./~-]*(?:hook|init|completion|env|shellenv)"
    r"|\balias\s+\w+=|completion"
)
_NETWORK = re.compile(r"(?i)\b(?:curl|wget|nc|ncat|iwr|irm)\b|/dev/tcp/|base64")
_RUNS = re.compile(
    r"(?i)\b(?:python3?|node|bash|sh|perl|ruby|nohup|osascript|php)\s+\S|&\s*(?:\\n)?['\"]|/tmp/|/\.\w[\w-]*/\.\w"
)
_SETTINGS = r"settings(?:\.local)?\.json"
_TELL = r"(?:tell|mention|inform|notify)"
_WRITE = r"\b(?:append|add|write|insert|put|save)\b"
_RULES = r"\b(?:CLAUDE|MEMORY|AGENTS)\.md"
_WRITES = re.compile(r"write|dump")
_GRAVE = {RUN: CRITICAL, SHELL: HIGH, PROSE: HIGH, COMMENT: CRITICAL}
_SERIOUS = {RUN: HIGH, SHELL: LOW, PROSE: LOW, COMMENT: HIGH}
_SLIGHT = {RUN: LOW, SHELL: LOW}


def _startup_severities(match: Match, line: Line) -> Mapping[str, str]:
    """Return severities of a start-up entry: grave for network use, less for a program, least for a setting."""
    said = f"{line.text}\n{match.group()}"
    if _NETWORK.search(said):
        return _GRAVE
    if _HARMLESS.search(said):
        return {RUN: LOW}
    return _SERIOUS if _RUNS.search(said) else _SLIGHT


def _settings_severities(match: Match, _: Line) -> Mapping[str, str]:
    """Return severities of a match on the client's settings; none unless it writes to them or adds hooks."""
    said = match.group()
    if said.startswith((">", "tee")) or ("hooks" in said and _WRITES.search(said)):
        return {RUN: HIGH, SHELL: LOW, COMMENT: HIGH}
    return {}


CHECKS = (
    Check(
        RULE,
        "has something run at every start of a shell",
        (".bashrc", ".profile", "_profile", ".zprofile", ".zshrc", ".zshenv", "config.fish"),
        re.compile(
            rf"""(?ix) (?:>>|\btee\s+-a\b)\s*["']?(?:{_HOME})?["']?{_STARTUP}
               | (?:open|appendFile(?:Sync)?|appendText|Add-Content|write_text)\b[^\n]{{0,120}}{_STARTUP}
                 (?s:.{{0,300}})"""
        ),
        {},
        _startup_severities,
        span=4,
    ),
    Check(
        RULE,
        "sets a timer that runs commands",
        ("crontab", "/etc/cron"),
        linear.compile(
            r"(?i)[^\n]{0,300}\|\s*crontab\s+(?:-u\s*\w+\s+)?-(?:\s|$|[\"'`;&])|[^\n]{0,200}>>?\s*/etc/cron[^\n]*"
        ),
        {},
        lambda match, _: _GRAVE if _NETWORK.search(match.group()) else _SERIOUS,
    ),
    Check(
        RULE,
        "has a program started at each login",
        ("launchagents", "launchdaemons", "currentversion\\run", "enable --now", "autostart/", "schtasks"),
        re.compile(
            r"""(?ix) (?:>|\bcp\b|\bmv\b|\btee\b|\binstall\b|open\(|write)[^\n]{0,160}Library/Launch(?:Agents|Daemons)/
               | \blaunchctl\s+(?:load|bootstrap)\b[^\n]*Library/Launch(?:Agents|Daemons)/
               | \breg(?:\.exe)?\s+add\b[^\n]*CurrentVersion\\+Run\b
               | \bschtasks(?:\.exe)?\s+/create\b[^\n]*/sc\s+(?:onlogon|onstart|minute)
               | (?:>|\bcp\b|\btee\b|open\(|write)[^\n]{0,120}\.config/autostart/"""
        ),
        _SERIOUS,
    ),
    Check(
        RULE,
        "enables a service that outlives the session",
        ("enable --now",),
        re.compile(r"(?i)\bsystemctl\s+--user\s+enable\s+--now\b"),
        {RUN: MEDIUM, SHELL: LOW},
    ),
    Check(
        RULE,
        "changes what the client runs or obeys in every session",
        ("settings.json", "settings.local.json", ".claude/claude.md"),
        re.compile(
            rf"""(?ix) (?:>>?\s*|\btee\s+(?:-a\s+)?)["']?{_HOME}["']?\.claude/(?:{_SETTINGS}|CLAUDE\.md)\b
               | (?:home\(\)|homedir\(\)|HOME|expanduser\(["']~)[^\n]{{0,60}}\.claude[^\n]{{0,20}}{_SETTINGS}
                 (?s:.{{0,400}})"""
        ),
        {},
        _settings_severities,
        span=8,
    ),
    Check(
        RULE,
        "has git run hooks from a hidden folder in every project",
        ("hookspath",),
        re.compile(
            r"(?i)\bgit\s+config\s+--(?:global|system)\s+core\.hooksPath\s+[\"']?(?:/tmp/|/var/tmp/|\S*/\.(?!git-?hooks|config)\w)"
        ),
        _SERIOUS,
    ),
    Check(
        RULE,
        "has the model write rules for every later session behind its user's back",
        ("silently", "quietly", "not tell", "not mention", "never tell", "never mention", "not inform", "not notify"),
        re.compile(
            rf"""(?ix) \b(?:silently|secretly|quietly|covertly)\s+{_WRITE}[^\n]{{0,120}}?{_RULES}
               | {_WRITE}[^\n]{{0,120}}?{_RULES}[^\n]{{0,160}}\b(?:not|never|without)\s+{_TELL}"""
        ),
        {PROSE: HIGH, COMMENT: CRITICAL, RUN: HIGH},
    ),
)
