"""Recognises shell commands that undo edits, such as `git restore`, `git reset --hard` and `git stash drop`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

# revisions that the work began with; files from any other branch are new work
_SAME = re.compile(r"(?:HEAD|@)\S*|[0-9a-f]{7,40}|(?:(?:origin|upstream)/)?(?:main|master|develop)")
_FILE = re.compile(r"\.|\.{1,2}/.*|.*/|(?!v?\d+\.)(?:.*/)?[^/]*\.(?!\d)\w{1,10}")
_LOCK = re.compile(r"(?:.*/)?(?:[\w.-]*[-.]lock(?:\.\w+)?|go\.sum|npm-shrinkwrap\.json)")
_VALUES = frozenset(("-C", "-c", "-s", "--git-dir", "--work-tree"))


def undoes(words: Sequence[str]) -> bool:
    """Tell whether a simple command undoes edits."""
    name, rest = words[0].rsplit("/", 1)[-1], list(words[1:])
    if name == "git":
        return _git(rest)
    if name == "patch":
        return bool({"-R", "--reverse"} & set(rest))
    return (name, rest[0] if rest else "") in {("hg", "revert"), ("svn", "revert"), ("jj", "undo"), ("jj", "restore")}


def restores_stash(words: Sequence[str]) -> bool:
    """Tell whether a simple command restores stashed edits."""
    return tuple(words[:3]) in {("git", "stash", "pop"), ("git", "stash", "apply")}


def _git(words: list[str]) -> bool:
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in _VALUES else 1 :]
    rule = _RULES.get(words[0]) if words else None
    rest = words[1:]
    return rule is not None and rule(rest, {word for word in rest if word.startswith("-")})


def _revert(rest: list[str], options: set[str]) -> bool:
    return bool(set(rest) - options) and not options & {"--abort", "--continue", "--quit", "--skip"}


def _clean(_: list[str], options: set[str]) -> bool:
    short = _short(options)
    spared = {"n", "X", "i"} & short or "--dry-run" in options  # -X removes ignored files only
    return ("f" in short or "--force" in options) and not spared


def _short(options: set[str]) -> set[str]:
    return {letter for option in options if not option.startswith("--") for letter in option[1:]}


def _checkout(rest: list[str], options: set[str]) -> bool:
    if options & {"-b", "-B", "--orphan", "-t", "--track", "--ours", "--theirs", "--detach", "-m", "--merge"}:
        return False
    if "--" in rest:
        at = rest.index("--")
        return _put_back([word for word in rest[:at] if word not in options], rest[at + 1 :])
    named = [word for word in rest if word not in options]
    if len(named) == 1 and _FILE.fullmatch(named[0]):
        return _put_back([], named)
    return _put_back(named[:1], named[1:]) if len(named) > 1 else bool(options & {"-f", "--force"})


def _restore(rest: list[str], options: set[str]) -> bool:
    short = _short(options)
    staged, worktree = "S" in short or "--staged" in options, "W" in short or "--worktree" in options
    source = [option.partition("=")[2] for option in options if option.startswith("--source=")]
    flag = next((flag for flag in ("-s", "--source") if flag in rest[:-1]), "")
    if flag:
        source.append(rest.pop(rest.index(flag) + 1))
    return (worktree or not staged) and _put_back(source, [word for word in rest if word not in options])


def _put_back(source: list[str], paths: list[str]) -> bool:
    if not paths or all(_LOCK.fullmatch(path) for path in paths):  # lock files that a package manager changed
        return False
    if source and _FILE.fullmatch(source[0]) and not _SAME.fullmatch(source[0]):
        return True  # all words are files
    return not source or _SAME.fullmatch(source[0]) is not None


_RULES: Mapping[str, Callable[[list[str], set[str]], bool]] = {
    "checkout": _checkout,
    "restore": _restore,
    "revert": _revert,
    "clean": _clean,
    "reset": lambda _, options: "--hard" in options,
    "stash": lambda rest, _: rest[:1] in (["drop"], ["clear"]),  # a plain stash is mostly restored later
    "apply": lambda _, options: bool(options & {"-R", "--reverse"}),
    "switch": lambda _, options: bool(options & {"--discard-changes", "-f", "--force"}),
}
