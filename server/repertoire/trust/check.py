"""Defines a check (rare words that find lines, a pattern, severities by place) and runs many checks over a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from repertoire import linear
from repertoire.domain.trust import CRITICAL, HIGH, LOW, MEDIUM, rank
from repertoire.trust.benign_context import (
    NOT,
    SURELY,
    how_surely_mentioned,
    is_about_security,
    is_bare_order,
    is_only_text,
    is_quoted,
)
from repertoire.trust.scanned_text import CODE, COMMENT, PROSE, RUN, SHELL, Line, ScannedText

# Needles that are looked for in code alone, because in prose they mean nothing.
CODE_WORDS = frozenset(
    (
        *("crontab", "launchagents", "launchdaemons", "enable --now", "autostart/", "schtasks", "find /", "find ~"),
        *(".bashrc", ".profile", "_profile", ".zprofile", ".zshrc", ".zshenv", "config.fish", "/etc/cron"),
        *("currentversion\\run", 'find "$', "find $", "shred ", ".claude/claude.md"),
        *("settings.json", "settings.local.json", "gh auth token", "get aws_secret", ".npmrc", "ssh -", "jq "),
        *("rmtree(", "rmsync(", "remove-item", " /s ", "777 /", ":()", "vssadmin", "git push", "nc -", "/bin/", "| nc"),
        *("socket.socket", "tcpclient", "xxd ", "| rev", "exec(", "eval(", "atob(", "buffer.from(", "\\x", "scp "),
        *("mimikatz", "reg save", "secret-tool", "find-generic", "printenv", "env >", "env |", "os.environ"),
        *("mshta", "regsvr32", "certutil", "start-bitstransfer", "-outfile", "urlretrieve(", "git clone", "dig +short"),
        *("alias ", "os.walk(", "format c:", "diskutil ", "net.socket", "net.connect", "| sh", "| bash", "eval "),
        *(
            "__import__(",
            "transcript_path",
            "rm -r",
            "zip -",
            "tar c",
            "tar -",
            "browser_cookie",
            "browsercookie",
            "permissions",
            "cookies.sqlite",
        ),
        *("process.env", "requests.", "fetch(", "axios", "urlopen", "invoke-", "key4.db", "wallet.dat", "login data"),
    )
)
UNCHECKED = "unchecked-file"
# Characters that are matched, counted for every match: a text made to be slow must not stop an ingest.
_JUDGED = 1_000_000
GRAVE = {RUN: CRITICAL, SHELL: HIGH, PROSE: HIGH, CODE: MEDIUM, COMMENT: CRITICAL}
SERIOUS = {RUN: HIGH, SHELL: MEDIUM, PROSE: MEDIUM, CODE: LOW, COMMENT: HIGH}
NOTABLE = {RUN: MEDIUM, SHELL: LOW, PROSE: LOW, COMMENT: MEDIUM}
SLIGHT = {RUN: LOW}

_ORDERS = re.compile(
    r"(?i)\b(?:run|execut\w*|install\w*|paste|type|enter|copy|launch|invoke|call|first|begin|start|setup|set\s+up|must|always"
    r"|need\s+to|command|via|using|prerequisite\w*|use|then|step|render|embed)\b"
)
_DYNAMIC = re.compile(r"!`[^`]*$")
_ON_TOPIC = {CRITICAL: MEDIUM, HIGH: LOW, MEDIUM: LOW, LOW: LOW}


@dataclass(frozen=True)
class CheckMatch:
    """A match of a check: rule, severity, line and reason."""

    rule: str
    severity: str
    line: Line
    reason: str


Match = re.Match[str] | linear.LinearMatch


class MatchFinder(Protocol):
    """A searcher for the places that a check judges: a regular expression of either kind, or code.

    RE2 has no lookaround. Text that must stand beside a match is matched in a group whose name begins with `before` or
    `after`, at the start or end of the match, and `span_of` removes it.
    """

    def finditer(self, text: str, /) -> Iterator[Match]:
        """Yield the matches in a text, from left to right."""
        ...


@dataclass(frozen=True)
class Check:
    """One pattern of a rule, with severities by place; `weigh` may replace them for a match, by none for no flag."""

    rule: str
    reason: str
    needles: tuple[str, ...]
    pattern: MatchFinder
    severities: Mapping[str, str]
    weigh: Callable[[Match, Line], Mapping[str, str]] | None = None
    span: int = 1  # lines that a match may span
    orders: bool = (
        False  # whether matches address the model; a sentence of its own is then not excused by warnings around it
    )


class ScanBudget:
    """The number of characters that may still be matched; texts derived from one document share its budget."""

    def __init__(self) -> None:
        self._left = _JUDGED

    def take(self, characters: int) -> bool:
        """Take characters from the budget; return whether they fit."""
        self._left -= characters
        return self._left >= 0


class CheckSet:
    """Many checks that run together: each needle is searched once, and only lines that hold it are matched."""

    def __init__(self, checks: Iterable[Check]) -> None:
        """Index the checks by needle; needles of CODE_WORDS are searched in code alone, a third of all text."""
        self._by_needle: dict[str, list[Check]] = {}
        for check in checks:
            for needle in check.needles:
                self._by_needle.setdefault(needle, []).append(check)
        self._foreign = frozenset(needle for needle in self._by_needle if not needle.isascii())

    def run(self, document: ScannedText, room: ScanBudget | None = None) -> Iterator[CheckMatch]:
        """Yield the matches of all checks in a document, until the budget is used up."""
        seen: set[tuple[int, int]] = set()
        room = room or ScanBudget()
        low, fenced, ascii_only = document.lower, document.fenced, document.text.isascii()
        for needle, checks in self._by_needle.items():
            if ascii_only and needle in self._foreign:
                continue
            if needle not in (fenced if needle in CODE_WORDS else low):
                continue
            for index in document.numbers_of(needle):
                for check in checks:
                    if (index, id(check)) in seen:
                        continue
                    seen.add((index, id(check)))
                    found = _judge(check, document, index, room)
                    if found is None:
                        continue
                    yield found
                    if found.rule == UNCHECKED:
                        return


def _judge(check: Check, document: ScannedText, index: int, room: ScanBudget) -> CheckMatch | None:
    raw = document.lines[index]
    text = document.following(index, check.span) if check.span > 1 else raw
    line: Line | None = None
    fits = room.take(len(raw))
    for match in check.pattern.finditer(text) if fits else ():
        line = line or document.line(index)
        severity = _severity(check, document, line, match)
        if severity:
            return CheckMatch(check.rule, severity, line, check.reason)
        fits = room.take(len(raw))
        if not fits:
            break
    reason = "holds so many commands that not all were checked"
    return None if fits else CheckMatch(UNCHECKED, MEDIUM, document.line(index), reason)


def _severity(check: Check, document: ScannedText, line: Line, match: Match) -> str:
    start, end = (min(place, len(line.text)) for place in span_of(match))
    place = line.place
    if place == PROSE and _DYNAMIC.search(line.text[:start]):
        place = RUN
    severities = check.severities if check.weigh is None else check.weigh(match, line)
    severity = severities.get(place, "")
    if not severity:
        return ""
    spoken = how_surely_mentioned(line, start, end)
    if spoken == SURELY or (place == RUN and is_only_text(document, line, start)):
        return ""
    if place == RUN or (check.orders and place == PROSE and is_bare_order(line.text, start, end)):
        return severity
    if spoken != NOT and document.believed:
        return LOW if rank(severity) >= rank(HIGH) and not _teaches(document) else ""
    if place == PROSE and is_quoted(line.text, start, end) and not _ORDERS.search(line.text[:start]):
        return LOW if rank(severity) >= rank(MEDIUM) else ""
    return _ON_TOPIC[severity] if place != COMMENT and _teaches(document) else severity


def _teaches(document: ScannedText) -> bool:
    """Tell whether a believed document teaches about attacks; the answer is cached on it."""
    if document.believed and document.teaches is None:
        document.teaches = is_about_security(document)
    return document.believed and bool(document.teaches)


def span_of(match: Match) -> tuple[int, int]:
    """Return start and end of a match, without its `before` and `after` groups."""
    beside = [(name, len(text)) for name, text in match.groupdict().items() if text]
    before = sum(length for name, length in beside if name.startswith("before"))
    after = sum(length for name, length in beside if name.startswith("after"))
    return match.start() + before, match.end() - after
