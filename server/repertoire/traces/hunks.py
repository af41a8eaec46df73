"""Compares edits: recognises those that undo or rewrite an earlier one, and those that attempt no solution."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repertoire.traces.expressions import expression
from repertoire.traces.invocations import digest

KEPT, _LINES = 300, 24  # characters kept of each side of an edit; lines whose hash is kept
APPROACH = 3  # lines: removing at least this many of an earlier attempt means another approach
_SHORT = 4  # characters: shorter lines, such as a brace, are not compared

_PRINTS = expression(
    r"""^\s*(?:print(?:ln|f)?!?\b|console\.\w+\(|e?println!|dbg!|p[ ]|pp[ ]|puts[ ]|var_dump|dd\(|dump\(|echo[ ]
    |fmt\.Print|t\.Log
    |log(?:ger|ging)?\.(?:debug|info|warn|error|print\w*)\(|System\.(?:out|err)\.|breakpoint\(\)|import[ ]i?pdb
    |debugger\b|std::c(?:out|err)
    |f?printf\(|Debug\.|NSLog|\#|//|import[ ](?:pprint|traceback|logging|sys)\b|traceback\.print).*$"""
)
_SKIPS = expression(
    r"""(?i)@(?:pytest\.mark\.|unittest\.)?(?:skip|xfail|ignore|disabled)|\b(?:it|test|describe)\.(?:skip|todo)\b
    |\bx(?:it|describe|test)\(
    |pytest\.skip\(|t\.Skip\(|\#\[ignore|\bskip_?test|testPathIgnorePatterns|--deselect|collect_ignore"""
)
_SILENCES = expression(
    r"""(?i)\#[ ]*type:[ ]*ignore|@ts-(?:ignore|expect-error|nocheck)|\#[ ]*noqa|eslint-disable|\#!?\[allow\(
    |//[ ]*nolint|@SuppressWarnings"""
)
_TEST = expression(
    r"""(?m)^[ \t]*(?:async[ ])?(?:def[ ]test\w*|(?:it|test)(?:\.\w+)?\(|func[ ]Test\w+|@Test\b
    |\#\[(?:tokio::)?test\]|fun[ ]`)"""
)
_TESTS = expression(
    r"(?i)(?:^|[/\\])(?:tests?|__tests__|spec|specs)[/\\]|(?:^|[/\\_.-])(?:test|spec)s?[_.-]|(?:_|\.)(?:test|spec)s?\.\w+$"
)
_CONFIGURES = expression(
    r"""(?i)\.(?:json|ya?ml|toml|ini|cfg|conf|env|properties|gradle|kts|xml|lock|tf|hcl|csproj|props|nix|mk|cmake)$
    |\.config\.\w+$
    |(?:^|[/\\])(?:Dockerfile|Makefile|Gemfile|Rakefile|Procfile|Pipfile|CMakeLists|requirements|constraints|setup
    |conftest|settings|go\.mod
    |build\.rs|build\.sbt|mix\.exs|\.\w+rc|\.env)[^/\\]*$"""
)
_DOCUMENTS = expression(r"(?i)\.(?:md|rst|txt|adoc)$|(?:^|[/\\])(?:LICENSE|CHANGELOG|TODO)\b")


@dataclass(frozen=True, slots=True)
class Change:
    """The digests of an edit with which later edits are compared."""

    file: str
    before: str  # digests of the text before and after
    after: str
    added: frozenset[str]  # digests of the added lines
    time: int  # the number of failures before the edit


@dataclass(frozen=True, slots=True)
class Hunk:
    """A changed part of a file before and after, cut to a length."""

    file: str
    old: str
    new: str
    round: int = 0


def change_of(file: str, old: str, new: str, time: int) -> Change:
    """Return the digests of an edit."""
    was, now = _lines(old), _lines(new)
    return Change(
        file, digest(old), digest(new), frozenset(list(dict.fromkeys(x for x in now if x not in was))[:_LINES]), time
    )


def reverses(change: Change, earlier: Change) -> bool:
    """Tell whether an edit undoes an earlier one."""
    return change.file == earlier.file and (change.before, change.after) == (earlier.after, earlier.before)


def gone(file: str, old: str, new: str, earlier: Change, *, whole: bool) -> int:
    """Return the number of lines that an edit removes and an earlier one had added."""
    if file != earlier.file or not earlier.added:
        return 0
    stays, was = set(_lines(new)), set(_lines(old))
    return len(earlier.added - stays if whole and not old else (earlier.added & was) - stays)


def tries_nothing(file: str, old: str, new: str) -> bool:
    """Tell whether an edit only adds prints, comments or documentation, which cannot solve a problem."""
    if is_document(file):
        return True
    was, now = old.splitlines(), new.splitlines()
    moved = set(was) ^ set(now)
    if not moved and was != now:
        return False  # the same lines in another order
    return all(_PRINTS.match(line) for line in moved if line.strip())


def is_document(file: str) -> bool:
    """Tell by its name whether a file is documentation."""
    return _DOCUMENTS.search(file) is not None and not configures(file)


def skips_tests(old: str, new: str) -> bool:
    """Tell whether an edit removes or skips a test, or silences a check, so that a pass afterwards is no solution."""
    if len(_TEST.findall(new)) < len(_TEST.findall(old)):
        return True
    return any(len(each.findall(new)) > len(each.findall(old)) for each in (_SKIPS, _SILENCES))


def is_test(file: str) -> bool:
    """Tell by its name whether a file contains tests."""
    return _TESTS.search(file) is not None


def configures(file: str) -> bool:
    """Tell by its name whether a file is a configuration or declares packages."""
    return _CONFIGURES.search(file) is not None


def shown(file: str, old: str, new: str, number: int) -> Hunk:
    """Return the changed lines of an edit, cut to a length."""
    was, now = old.splitlines(), new.splitlines()
    first = next((at for at, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    tail = _common_tail(was[first:], now[first:])
    return Hunk(file[-160:], _cut(was[first : len(was) - tail]), _cut(now[first : len(now) - tail]), number)


def _common_tail(one: list[str], other: list[str]) -> int:
    count = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        count += 1
    return count


def _cut(lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return text if len(text) <= KEPT else text[: KEPT - 1] + "…"


def _lines(text: str) -> list[str]:
    return [digest(line) for line in map(str.strip, text.splitlines()) if len(line) >= _SHORT]
