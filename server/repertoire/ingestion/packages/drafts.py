"""Makes the drafts of a package: the package, its MCP server with the tools, or its command-line programs."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packaging.utils import canonicalize_name

from repertoire.domain.component import BODY_INDEXED, MCP_SERVER, PACKAGE, TOOL
from repertoire.domain.digest import digest_of
from repertoire.domain.technologies import Technologies
from repertoire.ingestion import install, prose, requirements
from repertoire.ingestion.packages.manifest import NPM, PackageManifest
from repertoire.ingestion.packages.package_files import root_of
from repertoire.ingestion.packages.registered_tools import RegisteredTool
from repertoire.ingestion.parts import ComponentRequirement, Draft

_MOST_TOOLS, _MOST_PROGRAMS = 200, 10
_LINE, _README, _SIGNATURES = 300, 6_000, 4_000
_SERVER = re.compile(r"(?<![a-z])(?:mcp|server)(?![a-z])", re.IGNORECASE)
_TAGS = 20


@dataclass(frozen=True)
class PackageContents:
    """Everything that was read of a package; `path` is the part of its id after the source."""

    manifest: PackageManifest
    path: str
    digest: str
    readme: str = ""
    tools: Sequence[RegisteredTool] = ()
    signatures: Sequence[str] = ()
    fields: Technologies = field(default_factory=Technologies)
    needs: tuple[ComponentRequirement, ...] = ()
    is_server: bool = False


def drafts(contents: PackageContents) -> Iterator[Draft]:
    """Yield the drafts of a package: the package first, then its server or programs, then tools."""
    yield _package(contents)
    if contents.is_server:
        yield from _server(contents)
    else:
        yield from _programs(contents)


def _package(contents: PackageContents) -> Draft:
    manifest = contents.manifest
    shown = {"registry": manifest.registry, "package": manifest.name, "version": manifest.version}
    if manifest.server:
        shown["server"] = manifest.server
    return Draft(
        type=PACKAGE,
        name=manifest.name,
        description=_described(contents),
        body="\n\n".join(piece for piece in (manifest.description, contents.readme[:_README]) if piece),
        path=contents.path,
        digest=contents.digest,
        front_matter={key: value for key, value in shown.items() if value},
        made_of=contents.fields,
        signatures="\n".join(contents.signatures)[:_SIGNATURES],
        tags=manifest.keywords[:_TAGS],
        needs=contents.needs,
        licence=manifest.licence,
        repository=manifest.repository,
        install=() if contents.is_server else (_install(manifest),),
    )


def _server(contents: PackageContents) -> Iterator[Draft]:
    manifest = contents.manifest
    program = _server_program(manifest)
    path = _program_path(contents, program)
    name = program or manifest.name.rpartition("/")[2]
    command, arguments = _command(manifest, program)
    names = [tool.name for tool in contents.tools]
    lines = [f"- {tool.name}: {_one_line(tool.description)}".rstrip(": ") for tool in contents.tools[:_MOST_TOOLS]]
    described = _described(contents)
    head = f"{described}\nRuns: {' '.join([command, *arguments])}"
    yield Draft(
        type=MCP_SERVER,
        name=name,
        description=f"{described.rstrip('.')}. Tools: {', '.join(names[:12])}" if names else described,
        body="\n".join([head, *_all_searched(lines, BODY_INDEXED - len(head))]),
        anchor=name,
        path=path,
        digest=digest_of(f"{contents.digest} {name}"),
        front_matter={"command": command, "args": arguments},
        commands=" ".join([command, *arguments]),
        made_of=contents.fields,
        tools=tuple(names[:_MOST_TOOLS]),
        signatures="\n".join(_signature(tool) for tool in contents.tools)[:_SIGNATURES],
        tags=manifest.keywords[:_TAGS],
        needs=(*contents.needs, *requirements.of_command(command, arguments, evidence=f"started by {command}")),
        licence=manifest.licence,
        repository=manifest.repository,
        install=(_add_server(name, command, arguments, contents.needs),),
        part_of=contents.path,
    )
    for tool in contents.tools[:_MOST_TOOLS]:
        yield Draft(
            type=TOOL,
            name=tool.name,
            description=prose.unmarked(tool.description) or f"Tool of the MCP server {name}",
            body=f"{tool.description}\n\n{_signature(tool)}\n\nTool of the MCP server {name}, package {manifest.name}.",
            anchor=f"{name}/{tool.name}",
            path=path,
            digest=digest_of(repr(tool)),
            signatures=_signature(tool),
            licence=manifest.licence,
            repository=manifest.repository,
            part_of=path,
        )


def _programs(contents: PackageContents) -> Iterator[Draft]:
    manifest = contents.manifest
    for program in sorted(manifest.programs)[:_MOST_PROGRAMS]:
        run, arguments = _command(manifest, program)
        described = _described(contents)
        yield Draft(
            type=TOOL,
            name=program,
            description=described,
            body=f"{described}\nOn the command line: {program}, or, not installed: {shlex.join([run, *arguments])}",
            anchor=program,
            path=_program_path(contents, program),
            digest=digest_of(f"{contents.digest} {program}"),
            front_matter={"command": program},
            tags=manifest.keywords[:_TAGS],
            needs=tuple(need for need in contents.needs if need.kind != "package"),
            licence=manifest.licence,
            repository=manifest.repository,
            install=(_install(manifest),),
            part_of=contents.path,
        )


def _described(contents: PackageContents) -> str:
    return (
        contents.manifest.description or prose.first_paragraph(contents.readme) or f"Package {contents.manifest.name}"
    )


def _one_line(text: str) -> str:
    return prose.unmarked(text)[:_LINE]


def _all_searched(lines: Sequence[str], room: int) -> list[str]:
    """Return lines cut so that the beginning of each is in the searched part of the text; the whole lines follow.

    A search for what one tool does should find its server, even for the last of sixty tools.
    """
    fits = next((most for most in range(2 * _LINE, 9, -10) if sum(_taken(line, most) for line in lines) <= room), 0)
    if not fits or all(len(line) <= fits for line in lines):
        return list(lines)
    return [*(line[:fits] for line in lines), *(line for line in lines if len(line) > fits)]


def _taken(line: str, most: int) -> int:
    return min(len(line), most) + 1  # 1 for the line break


def _signature(tool: RegisteredTool) -> str:
    described = _one_line(tool.description)
    return f"{tool.name}({', '.join(tool.arguments)})" + (f"  # {described}" if described else "")


def _server_program(manifest: PackageManifest) -> str:
    listed = sorted(manifest.programs, key=lambda name: (_SERVER.search(name) is None, len(name), name))
    return listed[0] if listed else ""


def _program_path(contents: PackageContents, program: str) -> str:
    """Return the path of a program's entry point, which its components' ids keep over versions."""
    started = contents.manifest.programs.get(program, "")
    root = root_of(contents.path)
    if contents.manifest.registry != NPM:
        started = started.partition(":")[0].replace(".", "/")
    inner = posixpath.normpath(started) if started else "."
    inner = "server" if inner in (".", "..") or inner.startswith(("../", "/")) else inner
    return f"{root}/{inner}".lstrip("/")


def _command(manifest: PackageManifest, program: str) -> tuple[str, list[str]]:
    """Return the command and arguments that run a package's program without installation."""
    base = manifest.name.rpartition("/")[2]
    if manifest.registry == NPM:
        if len(manifest.programs) > 1 and program != base:
            return "npx", ["-y", "--package", manifest.name, program]
        return "npx", ["-y", manifest.name]
    if not program or canonicalize_name(program) == canonicalize_name(manifest.name):
        return "uvx", [manifest.name]
    return "uvx", ["--from", manifest.name, program]


def _add_server(name: str, command: str, arguments: Sequence[str], needs: Sequence[ComponentRequirement]) -> str:
    variables = {need.name: "" for need in needs if need.kind == "env"}
    return install.stdio_server_line(name, variables, [command, *arguments])


def _install(manifest: PackageManifest) -> str:
    if manifest.registry == NPM:
        return f"npm install {'--global ' if manifest.programs else ''}{shlex.quote(manifest.name)}"
    return f"{'uv tool install' if manifest.programs else 'pip install'} {shlex.quote(manifest.name)}"


def runtimes(engines: Mapping[str, str]) -> dict[str, Any]:
    """Return a manifest's `engines` as the front-matter header in which requirements are looked for."""
    return {"engines": dict(engines)}
