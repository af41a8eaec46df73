"""Compares edits: one that puts back another, one that rewrites what another wrote, and those that try nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repertoire.traces.expressions import expression
from repertoire.traces.invocations import digest

KEPT, _LINES = 300, 24  # characters of a side, and lines that are remembered by their hash
APPROACH = 3  # lines that are more than a value: who takes them away tries another way
_SHORT = 4  # characters: a brace alone is nobody's line

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
    """An edit as far as later ones are compared with it."""

    file: str
    before: str  # digests of the two sides
    after: str
    added: frozenset[str]  # digests of lines
    time: int  # how many failures there had been


@dataclass(frozen=True, slots=True)
class Hunk:
    """A part of a file as it was and as it is, cut."""

    file: str
    old: str
    new: str
    round: int = 0


def change_of(file: str, old: str, new: str, time: int) -> Change:
    """Return what later edits are compared with."""
    was, now = _lines(old), _lines(new)
    return Change(
        file, digest(old), digest(new), frozenset(list(dict.fromkeys(x for x in now if x not in was))[:_LINES]), time
    )


def reverses(change: Change, earlier: Change) -> bool:
    """Tell whether an edit puts back what another changed."""
    return change.file == earlier.file and (change.before, change.after) == (earlier.after, earlier.before)


def gone(file: str, old: str, new: str, earlier: Change, *, whole: bool) -> int:
    """Return how many lines an edit takes away that another had written."""
    if file != earlier.file or not earlier.added:
        return 0
    stays, was = set(_lines(new)), set(_lines(old))
    return len(earlier.added - stays if whole and not old else (earlier.added & was) - stays)


def tries_nothing(file: str, old: str, new: str) -> bool:
    """Tell whether an edit only prints, comments or documents: it looks for the cause and does not mend it."""
    if is_document(file):
        return True
    was, now = old.splitlines(), new.splitlines()
    moved = set(was) ^ set(now)
    if not moved and was != now:
        return False  # the same lines in another order
    return all(_PRINTS.match(line) for line in moved if line.strip())


def is_document(file: str) -> bool:
    """Tell whether a file is read by people alone, by its name."""
    return _DOCUMENTS.search(file) is not None and not configures(file)


def skips_tests(old: str, new: str) -> bool:
    """Tell whether an edit has a test not run, or a finding not told: what then passes was given up."""
    if len(_TEST.findall(new)) < len(_TEST.findall(old)):
        return True
    return any(len(each.findall(new)) > len(each.findall(old)) for each in (_SKIPS, _SILENCES))


def is_test(file: str) -> bool:
    """Tell whether a file holds tests, by its name."""
    return _TESTS.search(file) is not None


def configures(file: str) -> bool:
    """Tell whether a file configures or declares packages, by its name."""
    return _CONFIGURES.search(file) is not None


def shown(file: str, old: str, new: str, number: int) -> Hunk:
    """Return the lines of an edit that differ, cut."""
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
