"""Parses the lines that install a component into steps; a line that is not in our form is left to a person."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PERSONAL = "~/.claude/"
SERVERS = ".mcp.json"
_ADD = "/plugin marketplace add "
_WORD = r"[A-Za-z0-9][A-Za-z0-9._-]*"  # begins with no hyphen, so it is never an option of the client
_PLUGIN = re.compile(rf"{_WORD}@{_WORD}")
_SHORT = re.compile(rf"{_WORD}/{_WORD}")
_SSH = re.compile(rf"{_WORD}@{_WORD}:[\w./~+%-]+")  # which has no place for a password
_SERVER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_FOLDER = re.compile(r"~/\.claude/(?:skills|agents|commands|rules|output-styles)|\.github/workflows")
_OMITTED = "…"  # marks the place where a secret was left out
# what an author writes where a person's own value belongs: `<project-ref>`, `/path/to/files`, `YOUR_TOKEN`, `api-xxxx`
_FILLED_IN = re.compile(r"\$\{[^{}$]*\}")  # by the client
_OWN_VALUE = re.compile(r"<[^<>]+>|\{[\w |-]+\}|/path/to/|\byour[-_/]|x{4}|\bexample\.(?:com|org|net)\b", re.IGNORECASE)


@dataclass(frozen=True)
class AddMarketplace:
    """A step that adds a marketplace to the client."""

    address: str


@dataclass(frozen=True)
class SetPlugin:
    """A step in which the client installs or enables a plugin, `name@marketplace`."""

    verb: str
    plugin: str


@dataclass(frozen=True)
class AddServer:
    """A step that adds an MCP server to the client; `arguments` are those of `claude mcp add`."""

    name: str
    arguments: tuple[str, ...]

    @property
    def started(self) -> str:
        """Return the command that sessions will start, or the address that they will reach."""
        if "--" in self.arguments:
            return shlex.join(self.arguments[self.arguments.index("--") + 1 :])
        return self.arguments[3]


@dataclass(frozen=True)
class CopyIn:
    """A step that copies a file, or a whole folder, into a folder; an empty `name` keeps its own name."""

    source: str
    folder: str
    name: str = ""
    whole: bool = False


@dataclass(frozen=True)
class MergeInto:
    """A step that merges a JSON file into settings or into a list of servers."""

    source: str
    target: str


@dataclass(frozen=True)
class ByHand:
    """A line that only a person can carry out, and the word in it, if any, that stands for a value of theirs."""

    line: str
    own_value: str = ""


Step = AddMarketplace | SetPlugin | AddServer | CopyIn | MergeInto | ByHand


def read(lines: Iterable[str]) -> tuple[Step, ...]:
    """Parse install lines into steps, one for each line."""
    return tuple(_step(line) for line in lines)


def own_values(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the words of install lines that stand for a value of a person's own."""
    own = (step.own_value for step in read(lines) if isinstance(step, ByHand))
    return tuple(dict.fromkeys(filter(None, own)))


def include(steps: Sequence[Step], others: Sequence[Step]) -> bool:
    """Tell whether carrying out steps also does all others, of which there is one at least.

    A step does another that equals it, and a copied folder brings what would be copied out of it.
    """
    copied = [f"{step.source.rstrip('/')}/" for step in steps if isinstance(step, CopyIn) and step.whole]
    within = (isinstance(step, CopyIn) and step.source.startswith(tuple(copied)) for step in others)
    return bool(others) and all(step in steps or inside for step, inside in zip(others, within, strict=True))


def _step(line: str) -> Step:
    match _words(line):
        case ["/plugin", "marketplace", "add", address] if _is_address(address):
            return AddMarketplace(address)
        case ["/plugin", ("install" | "enable") as verb, plugin] if _PLUGIN.fullmatch(plugin):
            return SetPlugin(verb, plugin)
        case ["claude", "mcp", "add", *arguments] if _OMITTED not in line:
            return _server_step(line, arguments)
        case ["mkdir", "-p", folder, "&&", "cp", *options, source, target]:
            return _copy(line, folder, options, source, target)
        case ["merge", source, "into", (("~/.claude/settings.json" | ".mcp.json") as target)] | [
            "Copy",
            "the",
            "programs",
            *_,
            "then",
            "merge",
            source,
            "into",
            ("~/.claude/settings.json" as target),
        ]:
            return MergeInto(source, target)  # a hook is refused where its programs are not there
    return ByHand(line)


def _words(line: str) -> list[str]:
    """Split a line into words as a shell does; the last word of a slash command is kept unchanged."""
    if line.startswith(_ADD):
        return [*_ADD.split(), line.removeprefix(_ADD)]
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _is_address(address: str) -> bool:
    """Tell whether a text is `owner/name`, an https or ssh address or a folder; what could hold a secret is none."""
    if any(ord(character) < 33 for character in address.replace(" ", "")):
        return False
    plain = address.startswith("https://") and "@" not in address and " " not in address
    return plain or address.startswith("/") or bool(_SHORT.fullmatch(address) or _SSH.fullmatch(address))


def _copy(line: str, folder: str, options: list[str], source: str, target: str) -> Step:
    if options and source.endswith("/.") and target == f"{folder}/":  # a whole folder, copied into the one of its name
        return _copy(line, folder.rpartition("/")[0], options, source.removesuffix("/."), folder)
    name = target.removeprefix(f"{folder}/")
    fits = target.startswith(f"{folder}/") and not {"/", "\\"} & set(name) and name not in (".", "..")
    if not _FOLDER.fullmatch(folder) or not fits or options not in ([], ["-R"]):
        return ByHand(line)
    return CopyIn(source, folder, name, whole=options == ["-R"])


def _server_step(line: str, arguments: list[str]) -> Step:
    own = next((word for word in arguments if _OWN_VALUE.search(_FILLED_IN.sub("", word))), "")
    name = "" if own else _server(arguments)  # the client would add a server that can never start
    return AddServer(name, tuple(arguments)) if name else ByHand(line, own)


def _server(arguments: list[str]) -> str:
    """Return the server's name in the arguments of `claude mcp add`; empty if they are not in our form."""
    match arguments:
        case ["--transport", ("http" | "sse"), name, address, *headers] if _is_remote(address, headers):
            return name if _SERVER.fullmatch(name) else ""
        case [name, *_] if "--" in arguments and _SERVER.fullmatch(name):
            return name if _only_variables(arguments[1 : arguments.index("--")]) else ""
    return ""


def _is_remote(address: str, headers: list[str]) -> bool:
    options, told = headers[::2], headers[1::2]
    return (
        ("://" in address or address.startswith("${"))
        and len(options) == len(told)
        and all(option == "--header" for option in options)
    )


def _only_variables(words: list[str]) -> bool:
    """Tell whether words are pairs of an option, `-e` or `--env`, and NAME=VALUE."""
    return len(words) % 2 == 0 and all(
        option in ("-e", "--env") and "=" in value for option, value in zip(words[::2], words[1::2], strict=True)
    )
