"""Reads the packages that a program's package.json, pyproject.toml or requirements.txt requires."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from packaging.requirements import InvalidRequirement, Requirement

from repertoire.ingestion import toml, values
from repertoire.ingestion.parts import ComponentRequirement
from repertoire.ingestion.values import Unusable

FILES = ("package.json", "pyproject.toml", "requirements.txt")
_MOST = 60  # packages that are read of one manifest
_ANY = ("", "*", "latest")
_WANTED = re.compile(r"[v=^~<>*\dxX][^:/]*")  # an npm version range, neither a tag nor an address
_LOCAL = re.compile(r"^(?:\.{1,2}/|\$\{?\w|/)|\.(?:[cm]?[jt]s|py)$")
_RUNS_LOCAL = frozenset(
    ("node", "python", "python3", "bun", "deno", "tsx", "ts-node", "uv", "npm", "pnpm", "yarn", "poetry")
)


def runs_own_code(command: str, args: Sequence[str]) -> bool:
    """Tell whether a command starts a program from its own folder, not one that a runner fetches."""
    program = command.rpartition("/")[2]
    return bool(_LOCAL.search(command)) or (
        program in _RUNS_LOCAL and any(_LOCAL.search(word) or word in ("-m", "run", "start") for word in args)
    )


def of_files(texts: Mapping[str, str]) -> Iterator[ComponentRequirement]:
    """Yield the packages that manifests require at run time: `name@^1.2` for npm, `name>=1.2` for Python."""
    for file, read in (("package.json", _npm), ("pyproject.toml", _project), ("requirements.txt", _lines)):
        if texts.get(file):
            for name in islice(read(texts[file]), _MOST):
                yield ComponentRequirement("package", name, 0.7, file)


def _npm(text: str) -> Iterator[str]:
    try:
        listed = values.mapping(values.mapping(values.parse_json(text)).get("dependencies"))
    except Unusable:
        return
    for named, wanted in listed.items():
        stated = values.name(wanted)
        alias, _, aliased = stated.removeprefix("npm:").rpartition("@")  # `npm:real@1.2`: another under this name
        name, version = (alias, aliased) if stated.startswith("npm:") else (values.name(named), stated)
        if version in _ANY:
            yield name
        elif _WANTED.fullmatch(version):
            yield f"{name}@{version}"


def _project(text: str) -> Iterator[str]:
    try:
        listed = values.mapping(toml.parse(text).get("project")).get("dependencies")
    except Unusable:
        return
    for stated in listed if isinstance(listed, list) else ():
        yield from _python(str(stated))


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from _python(line.partition(" #")[0].partition(" --hash")[0].rstrip("\\ "))


def _python(text: str) -> Iterator[str]:
    try:
        found = Requirement(text.strip())
    except (InvalidRequirement, RecursionError):  # an option, an address, a comment; a thousand brackets
        return
    if found.url is None:
        yield f"{found.name}{found.specifier}"
