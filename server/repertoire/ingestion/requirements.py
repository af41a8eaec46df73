"""Finds a component's requirements: binaries, environment variables, MCP servers, packages, other components."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repertoire import linear
from repertoire.domain.component import OPTIONAL_WEIGHT
from repertoire.ingestion import values
from repertoire.ingestion.parts import OPTIONAL_SERVER, ComponentRequirement

_TOOL = re.compile(r"[^,\s(]+(?:\([^)]{0,200}\))?")
_MCP_TOOL = re.compile(r"^mcp__(?:plugin_[A-Za-z0-9-]+_)?([A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*?)(?:__.*)?$")
_BASH = re.compile(r"^Bash\(([A-Za-z0-9_.+-]+)")
_VARIABLE = linear.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")  # one with a default (`:-`) needs no value
_BINARY = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,40}$")
# Version ranges of npm (`@1.2.3`, `@^1.2`) and of Python (`==1.2`, `>=1,<2`); `@latest` is none.
_RANGE = re.compile(r"^(?:\[[^\]]*\])?\s*(@?[~^<>=!][^;#]*|@v?\d[^;#\s]*)?")
_RUNTIMES = {"python": "python", "node": "node", "node.js": "node", "nodejs": "node", "bun": "bun", "deno": "deno"}
# Requirements in a skill's prose: "Requires Python 3.10+", "needs Node.js >= 18", "gh CLI", "memory MCP server".
_AT_LEAST = re.compile(
    r"\b(python|node(?:\.?js)?|bun|deno)\s+(?:>=\s*|v)?(\d+(?:\.\d+){0,2})\s*(?:\+|or (?:later|newer|higher))",
    re.IGNORECASE,
)
_OWN_WORDS = re.compile(r"\b(?:requires?|needs?)\b[^.]*(?:\.\d[^.]*)*", re.IGNORECASE)
_CLI = re.compile(r"\b([a-z][a-z0-9_-]{1,30}) CLI\b")
_NAMED_SERVER = re.compile(r"\b([a-z][a-z0-9_-]{1,40}) MCP server\b")
_PACKAGE = re.compile(r"^(?:@[a-z0-9~._-]+/)?[A-Za-z0-9][A-Za-z0-9._-]*")

# Programs that every shell has: they are no requirement worth a name.
_EVERYWHERE = frozenset(
    """[ alias awk basename bash builtin cat cd chmod command cp cut date dirname do done echo else env eval exec exit
    export false fi find for function grep head if kill local ls mkdir mktemp mv printf pwd read return rm sed set sh
    sleep sort source sudo tail tee test then time timeout touch tr true type uniq wc while xargs""".split()
)
_OF_CLAUDE = ("CLAUDE_", "PLUGIN_ROOT")
_RUNNERS = {"npx": "node", "pnpx": "node", "bunx": "bun", "uvx": "uv", "pipx": "pipx"}
# Package managers that run packages by a subcommand (`pnpm dlx`), and the runner that this is equal to.
_RUN_BY_WORD = {
    ("npm", "exec"): "npx",
    ("npm", "x"): "npx",
    ("pnpm", "dlx"): "npx",
    ("yarn", "dlx"): "npx",
    ("bun", "x"): "bunx",
    ("pipx", "run"): "pipx",
    ("uv", "tool"): "uvx",
}
# Options of `docker run` that take no value; all others take the next word.
_DOCKER_SWITCH = re.compile(
    r"-[itdPq]+|--(?:detach|disable-content-trust|help|init|interactive|no-healthcheck|oom-kill-disable|privileged"
    r"|publish-all|quiet|read-only|rm|sig-proxy|tty|use-api-socket)"
)
_NAMES_PACKAGE = {"npx": ("--package", "-p"), "bunx": ("--package", "-p"), "uvx": ("--from",), "pipx": ("--spec",)}
_TAKES_VALUE = frozenset(
    """-c --call --registry --python -p --with --with-editable --index --index-url -i --default-index
    --extra-index-url --cache-dir --directory --project --workspace -w --node-options --env-file --refresh-package
    --pip-args --cache""".split()
)
_SHELLS = frozenset(("bash", "sh", "zsh", "cmd", "cmd.exe", "powershell", "pwsh"))
_OF_EVERY_SHELL = frozenset("HOME HOSTNAME LANG LINENO OSTYPE PATH PWD RANDOM SECONDS SHELL TMPDIR UID USER".split())


def tool_list(value: Any) -> tuple[str, ...]:
    """Parse the allowed tools in front matter: a list, or text with commas or blanks."""
    if isinstance(value, list):
        return values.words([values.name(item) for item in value])
    return tuple(dict.fromkeys(_TOOL.findall(values.name(value) if len(str(value)) < 100 else str(value)[:4000])))


def of_tools(tools: Sequence[str]) -> Iterator[ComponentRequirement]:
    """Yield the MCP servers and binaries that allowed tools name, as requirements.

    A server is required if nothing but its tools is allowed; beside others, being allowed its tools is a permission.
    """
    servers = [found.group(1) for tool in tools if (found := _MCP_TOOL.match(tool))]
    is_all = len(servers) == len(tools) and len(set(servers)) == 1
    kind, weight = ("mcp_server", 0.8) if is_all else (OPTIONAL_SERVER, OPTIONAL_WEIGHT)
    for tool in tools:
        server, binary = _MCP_TOOL.match(tool), _BASH.match(tool)
        if server:
            yield ComponentRequirement(kind, server.group(1), weight, f"allowed tool {tool}")
        elif binary and binary.group(1) not in _EVERYWHERE:
            yield ComponentRequirement("binary", binary.group(1), 0.6, f"allowed tool {tool}")


def of_front_matter(header: Mapping[str, Any]) -> Iterator[ComponentRequirement]:
    """Yield the requirements that front matter declares: skills, MCP servers, packages, binaries, variables."""
    for skill in values.words(header.get("skills")):
        yield ComponentRequirement("component", skill, 0.9, "front matter skills")
    for key in ("mcpServers", "mcp-servers", "mcp_servers"):
        listed = header.get(key)
        for server in listed if isinstance(listed, Mapping) else _server_names(listed):
            yield ComponentRequirement("mcp_server", values.name(server), 0.9, f"front matter {key}")
    for package in values.words(header.get("dependencies")):
        if found := _PACKAGE.match(package):
            yield ComponentRequirement(
                "package", found.group() + _range(package[found.end() :]), 0.8, "front matter dependencies"
            )
    yield from _of_runtimes(header)
    metadata = values.mapping(header.get("metadata"))
    for holder in (header, metadata, *(values.mapping(item) for item in metadata.values())):
        needed = values.mapping(holder.get("requires"))
        for binary in values.words(needed.get("bins")):
            yield ComponentRequirement("binary", binary, 0.9, "front matter requires")
        for variable in values.words(needed.get("env")):
            yield ComponentRequirement("env", variable, 0.9, "front matter requires")


def _range(text: str) -> str:
    found = _RANGE.match(text)
    return "".join((found.group(1) or "").split())[:60] if found else ""


def _of_runtimes(header: Mapping[str, Any]) -> Iterator[ComponentRequirement]:
    for name, wanted in values.mapping(header.get("engines")).items():
        if runtime := _RUNTIMES.get(str(name).lower()):
            yield ComponentRequirement("runtime", runtime + _range(values.name(wanted)), 0.9, "front matter engines")
    stated = values.text(header.get("compatibility"))[:500]
    for name, version in _AT_LEAST.findall(stated):
        yield ComponentRequirement(
            "runtime", f"{_RUNTIMES[name.lower()]}>={version}", 0.8, "front matter compatibility"
        )
    for sentence in _OWN_WORDS.findall(stated):
        for program in _CLI.findall(sentence):
            yield ComponentRequirement("binary", program, 0.7, "front matter compatibility")
        for server in _NAMED_SERVER.findall(sentence):
            yield ComponentRequirement("mcp_server", server, 0.8, "front matter compatibility")


def _server_names(listed: Any) -> Iterator[str]:
    for item in listed if isinstance(listed, list) else values.words(listed):
        if isinstance(item, Mapping):
            yield from item
        else:
            yield str(item)


def of_command(command: str, args: Sequence[str], *, evidence: str) -> Iterator[ComponentRequirement]:
    """Yield the requirements of a command line: the binary, the runtime, and the package that a runner fetches."""
    binary = _program(command)
    while binary in _SHELLS and len(args) > 1 and args[0] in ("-c", "/c", "-lc"):
        if len(args[1].split()) > 1:  # a script; else the words of the command follow one by one
            yield from of_shell(args[1], evidence=evidence)
            return
        command, args = args[1], args[2:]
        binary = _program(command)
    if "/" in command or "${" in command or not _BINARY.match(binary) or binary in _EVERYWHERE:
        return
    yield ComponentRequirement("binary", binary, 0.9, evidence)
    package, wanted = _run_package(command, args)
    if package:
        yield ComponentRequirement("package", package + wanted, 0.9, evidence)
    if binary in _RUNNERS:
        yield ComponentRequirement("runtime", _RUNNERS[binary], 0.7, evidence)


def _program(command: str) -> str:
    return command.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


def package_of(command: str, args: Sequence[str]) -> str:
    """Return the package or image that a runner (npx, uvx, docker run) fetches, without its version; else empty."""
    return _run_package(command, args)[0]


def _run_package(command: str, args: Sequence[str]) -> tuple[str, str]:
    """Return the package that a runner fetches, and its version range (`@1.2.3`, `==1.2`; empty: any)."""
    runner, words = _program(command), list(args)
    if runner in ("docker", "podman"):
        return (next(_images(words), ""), "") if "run" in words else ("", "")
    if words and (runner, words[0]) in _RUN_BY_WORD:
        runner = _RUN_BY_WORD[runner, words[0]]
        words = words[2:] if words[:2] == ["tool", "run"] else words[1:]
    found = _PACKAGE.match(_spec(runner, words)) if runner in _NAMES_PACKAGE or runner in _RUNNERS else None
    if found is None:
        return "", ""
    wanted = _range(found.string[found.end() :])
    if _RUNNERS.get(runner) in ("uv", "pipx") and wanted.startswith("@"):  # `uvx pkg@1.2` means `==1.2`
        wanted = f"=={wanted[1:].removeprefix('v')}"
    return found.group(), wanted


def _spec(runner: str, words: Sequence[str]) -> str:
    """Return the word in a runner's arguments that names the package: an option's value, or the first plain word."""
    naming = _NAMES_PACKAGE.get(runner, _NAMES_PACKAGE["npx"])
    previous = ""
    for word in words:
        option, paired, value = word.partition("=")
        if option in naming and paired:
            return value
        if previous in naming or (not word.startswith("-") and previous not in _TAKES_VALUE):
            return "" if "://" in word else word  # an address is no name
        previous = word
    return ""


def _images(args: Sequence[str]) -> Iterator[str]:
    skip = True  # until after the word `run`
    previous = ""
    for word in args:
        if skip:
            skip = word != "run"
            continue
        takes_value = previous.startswith("-") and "=" not in previous and not _DOCKER_SWITCH.fullmatch(previous)
        if not word.startswith("-") and not takes_value:
            yield word.rpartition("@")[0] or word
            return
        previous = word


def of_shell(line: str, *, evidence: str) -> Iterator[ComponentRequirement]:
    """Yield the requirements of the first program in a shell line."""
    try:
        words = shlex.split(line[:2000], comments=True)
    except ValueError:
        words = line.split()
    words = [word for word in words if "=" not in word.partition("/")[0]][:12]
    if words:
        yield from of_command(words[0], words[1:], evidence=evidence)


def of_variables(text: str, *, evidence: str) -> Iterator[ComponentRequirement]:
    """Yield the environment variables in `${NAME}` form as requirements, except Claude Code's own."""
    for name in dict.fromkeys(_VARIABLE.findall(text)):
        known = name.startswith(_OF_CLAUDE) or name in _OF_EVERY_SHELL or name.upper() != name
        if not known and f"{name}=" not in text:  # a script that sets it does not require it
            yield ComponentRequirement("env", name, 0.9, evidence)
