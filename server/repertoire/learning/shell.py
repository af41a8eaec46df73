"""Parses a successful shell command into its simple commands, and tells which of them surely succeeded."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*['\"]?(\w+)")
_OPERATORS = re.compile(r"&&|\|\||;;|\|&|&>>?|[<>]&|<<<|<<-?|>>|[;&|()<>\n]")
_SHORT_OPTIONS, _COMMAND_OPTION = re.compile(r"-\w+"), re.compile(r"-\w*c")
_UPWARDS, _ONLY_UPWARDS = re.compile(r"^(?:\.\./)+"), re.compile(r"\.\.(?:/\.\.)*")
_SIGNS = "();<>|&\n"
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_OPENS = frozenset("if while until elif ! for case select".split())  # a command behind these may fail unnoticed
_INSIDE = frozenset("then do else { } fi done esac".split())
_SHELLS = frozenset("bash sh zsh dash".split())
_GROUP = "(:"
_GOES_ON = frozenset(("&&", "||", "|"))
_DEEP = 3  # nested shells at most
_MOST = 20_000  # characters of a command that are parsed


@dataclass(frozen=True)
class ShellCommand:
    """One simple command, without assignments and redirections."""

    words: tuple[str, ...]
    begun: bool  # whether it surely ran
    sure: bool  # whether it surely succeeded
    piped: bool = False  # whether it is part of a pipeline


def commands(text: str, *, depth: int = 0) -> list[ShellCommand]:
    """Return each simple command of a shell command that exited with 0, with whether it surely ran and succeeded.

    Empty if the text cannot be parsed.
    """
    tokens = _tokens(text) if depth < _DEEP else []
    lists = [each for each in _split(_bare(tokens), {";", "&", "\n", ";;"}) if each[0]]
    strict = bool(lists) and _sets_option(lists[0][0], "e")  # `set -e`: any failure ends the command
    piping = any(_sets_option(each, "pipefail") for each, _ in lists)
    found: list[ShellCommand] = []
    for place, (each, end) in enumerate(lists):
        last = place == len(lists) - 1 or (strict and "&&" not in each)  # `set -e` ignores a failure before `&&`
        sure = end != "&" and last and not (_GROUP in each and {"|", "||"} & set(each))
        found.extend(_and_or(each, sure=sure, piping=piping))
    return [inner for ran in found for inner in _inner_commands(ran, depth)]


def place_of(text: str, folder: str, project: str = "") -> str:
    """Return where a shell command works, given the shell's folder before or after it; empty if nothing tells."""
    said = next((each.words[1] for each in commands(text) if each.words[0] == "cd" and len(each.words) > 1), "")
    if not folder.startswith("/"):  # unknown, or of another system than the shell's paths
        return said.rstrip("/")
    if said.startswith("-") or "$" in said:
        return ""
    said = posixpath.normpath(posixpath.expanduser(said)) if said else ""
    moved = _UPWARDS.sub("", said)
    there = posixpath.normpath(posixpath.join(folder, said))
    if moved and not moved.startswith("/") and folder.endswith(f"/{moved}"):
        return folder
    if _ONLY_UPWARDS.fullmatch(said) and is_outside(there, project):  # the client keeps a shell within the project
        return folder
    return there


def is_outside(place: str, project: str) -> bool:
    """Tell whether a place is known to be outside of a project's folder and its repository, by whatever link."""
    if not (place.startswith("/") and project.startswith("/")) or _within(place, project):
        return False
    with suppress(ValueError):  # a NUL character, or half a surrogate pair
        return not _within(posixpath.realpath(place), _top_of(posixpath.realpath(project)))
    return True


def _top_of(folder: str) -> str:
    """Return the nearest folder with a repository, and never a home directory that is one; else the folder itself."""
    home, place = posixpath.realpath(posixpath.expanduser("~")), folder
    while len(place) > 1 and (place == home or not posixpath.lexists(f"{place}/.git")):
        place = posixpath.dirname(place)
    return place if len(place) > 1 else folder


def _within(place: str, folder: str) -> bool:
    return f"{place}/".startswith(f"{folder.rstrip('/')}/")


def _tokens(text: str) -> list[str]:
    lexer = shlex.shlex("\n".join(_lines(text[:_MOST].replace("\\\n", " "))), posix=True, punctuation_chars=_SIGNS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError:  # an unclosed quotation mark
        return []


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a script without comments and heredocs."""
    until = ""
    for line in text.split("\n"):
        if until:
            until = "" if line.strip() == until else until
        elif not line.lstrip().startswith("#"):
            yield line
            opened = _HEREDOC.search(line)
            until = opened[1] if opened else ""


def _bare(tokens: Sequence[str]) -> list[str]:
    """Return the words and operators without redirections, command substitutions and closing brackets.

    The token `(:` stands where a group begins.
    """
    bare: list[str] = []
    hidden = skip = 0
    for part in _operators(tokens):
        if hidden or (part == "(" and bare and bare[-1].endswith("$")):
            hidden += (part == "(") - (part == ")")
        elif skip and part != "\n":
            skip = 0
        elif part[0] in "<>" or part.startswith("&>"):
            skip = 1
            if bare and bare[-1].isdigit():
                bare.pop()
        elif part != ")" and not (part == "\n" and bare and bare[-1] in _GOES_ON):
            bare.append({"(": _GROUP, "|&": "|"}.get(part, part))
    return bare


def _operators(tokens: Sequence[str]) -> Iterator[str]:
    for token in tokens:
        if token and all(sign in _SIGNS for sign in token):
            yield from _OPERATORS.findall(token)
        elif token:
            yield token


def _split(tokens: Sequence[str], ends: set[str]) -> Iterator[tuple[list[str], str]]:
    part: list[str] = []
    for token in tokens:
        if token in ends:
            yield part, token
            part = []
        else:
            part.append(token)
    if part:
        yield part, ""


def _and_or(tokens: Sequence[str], *, sure: bool, piping: bool) -> Iterator[ShellCommand]:
    """Yield the commands of pipelines joined by `&&` and `||`; behind `||` a command may not have run."""
    pipelines = list(_split([each for each in tokens if each != _GROUP], {"&&", "||"}))
    after = max((place for place, (_, end) in enumerate(pipelines) if end == "||"), default=-2) + 1
    for place, (pipeline, _) in enumerate(pipelines):
        held = sure and place > after
        begun = place == 0 or held
        parts = [part for part, _ in _split(pipeline, {"|"})]
        for number, part in enumerate(parts):
            words, plain = _words(part)
            if words:
                last = number == len(parts) - 1
                yield ShellCommand(words, begun and plain, held and plain and (last or piping), len(parts) > 1)


def _words(part: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return a simple command's words, and whether its status counts, as it does not in a condition or loop."""
    plain, words = True, list(part)
    while words and (words[0] in _OPENS or words[0] in _INSIDE or _ASSIGNED.match(words[0])):
        plain = plain and bool(_ASSIGNED.match(words[0]) or words[0] in ("{", "}"))
        words.pop(0)
    return tuple(words), plain


def _sets_option(words: Sequence[str], option: str) -> bool:
    options = words[1:] if words and words[0] == "set" else ()
    if len(option) > 1:
        return option in options
    return any(option in each and _SHORT_OPTIONS.fullmatch(each) for each in options)


def _inner_commands(ran: ShellCommand, depth: int) -> list[ShellCommand]:
    """Return the commands in the argument of `sh -c` and its like; else the command itself."""
    name = ran.words[0].rsplit("/", 1)[-1]
    option_at = next((place for place, word in enumerate(ran.words) if _COMMAND_OPTION.fullmatch(word)), 0)
    if name not in _SHELLS or not option_at or option_at + 1 >= len(ran.words):
        return [ran]
    inner = commands(ran.words[option_at + 1], depth=depth + 1)
    return [replace(each, begun=ran.begun and each.begun, sure=ran.sure and each.sure) for each in inner]
