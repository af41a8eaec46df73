"""Checks whether a component's requirements are met on this machine, from names and files; nothing is ever run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repertoire.sources.client_files import as_object, config_folder, json_object, settings, settings_files

_ENVIRONMENTS = (".venv", "venv", "env")
_RANGED = re.compile(r"^(@?[^@<>=!~^\s]+)@?\s*(.*)$")
_PLAIN_VERSION = re.compile(r"\d+(?:\.\d+)*")
_OF_ENVIRONMENT = re.compile(r"^version(?:_info)?[ \t]*=[ \t]*(\S+)", re.MULTILINE)
_OF_NODE = tuple(re.compile(rf"#define NODE_{part}_VERSION (\d+)") for part in ("MAJOR", "MINOR", "PATCH"))
_OF_FOLDER = re.compile(r"(?:[a-z-]*)(\d+\.\d+\.\d+)")
_PROGRAMS = {"python": ("python3", "python"), "node": ("node", "nodejs")}
_PINNED = {"python": (".python-version",), "node": (".nvmrc", ".node-version")}  # with a runtime's version
_MOST = 100_000  # characters that are read of a file with a version


@dataclass(frozen=True)
class RequirementCheck:
    """A requirement such as `binary:docker`, and whether it is met here; None: only running programs could tell."""

    requirement: str
    met: bool | None
    text: str  # the requirement, and the reason why it is not met


class RequirementChecker:
    """The programs, variables, servers and packages of one machine and project; each requirement is checked once."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        project: Path | None = None,
        servers: Iterable[str] = (),
        refused: Iterable[str] = (),
    ) -> None:
        """Take the names of configured `servers`; those in the project's `.mcp.json` are found by themselves.

        Those that are `refused` are configured, too, but settings keep them from running or from the model.
        """
        self._environment = environment
        self._project = project
        self._servers = frozenset(name.lower() for name in servers)
        self._refused = frozenset(name.lower() for name in refused) - self._servers
        self._known: dict[str, RequirementCheck] = {}
        self._variables: frozenset[str] | None = None

    def check(self, requirement: str) -> RequirementCheck:
        """Check whether a requirement, `kind:name`, is met."""
        if requirement not in self._known:
            kind, _, name = requirement.partition(":")
            look = _LOOKS.get(kind)
            met, text = look(self, name) if look else (None, name)
            self._known[requirement] = RequirementCheck(requirement, met, text)
        return self._known[requirement]

    def _binary(self, name: str) -> tuple[bool | None, str]:
        found = shutil.which(name, path=self._environment.get("PATH", ""))
        return found is not None, name if found else f"{name}, not found here"

    def _variable(self, name: str) -> tuple[bool | None, str]:
        if self._variables is None:
            self._variables = frozenset(self._configured_variables())
        found = bool(self._environment.get(name)) or name in self._variables
        return found, name if found else f"{name}, not set here"

    def _server(self, name: str) -> tuple[bool | None, str]:
        if name.lower() in self._refused:
            return False, f"the MCP server {name}, which settings do not let the model use"
        found = name.lower() in self._servers or name in as_object(self._in_project(".mcp.json").get("mcpServers"))
        return found, f"the MCP server {name}" + ("" if found else ", not configured here")

    def _component(self, name: str) -> tuple[bool | None, str]:
        return False, f"the component {name}, not known here"

    def _runtime(self, text: str) -> tuple[bool | None, str]:
        name, wanted = _split(text)
        version = self._pinned(name)
        if version is None:
            paths = (shutil.which(p, path=self._environment.get("PATH", "")) for p in _PROGRAMS.get(name, (name,)))
            program = next((path for path in paths if path), None)
            if program is None:
                return False, f"{name}{_blank(wanted)}, not found here"
            version = _version_beside(name, Path(program))
        if not wanted:
            return True, name
        return _judged(name, wanted, version, npm=name == "node")

    def _package(self, text: str) -> tuple[bool | None, str]:
        # A runner fetches a missing package, so only an installed version that does not fit fails the requirement.
        name, wanted = _split(text)
        for version, npm in ((self._npm_version(name), True), (self._python_version(name), False)):
            if version is not None:
                return (True, name) if not wanted else _judged(name, wanted, version, npm=npm)
        return None, f"{name}{_blank(wanted)}"

    def _pinned(self, name: str) -> str | None:
        if self._project is None:
            return None
        for folder in _ENVIRONMENTS if name == "python" else ():
            found = _OF_ENVIRONMENT.search(_read(self._project / folder / "pyvenv.cfg"))
            if found:
                return _plain(found.group(1))
        for file in _PINNED.get(name, ()):
            if version := _plain(_read(self._project / file)):
                return version
        return None

    def _npm_version(self, name: str) -> str | None:
        if self._project is None or ".." in name:
            return None
        return str(json_object(self._project / "node_modules" / name / "package.json").get("version") or "") or None

    def _python_version(self, name: str) -> str | None:
        if self._project is None:
            return None
        places = [
            str(place)
            for folder in _ENVIRONMENTS
            for pattern in ("lib/python3*/site-packages", "Lib/site-packages")
            for place in sorted((self._project / folder).glob(pattern))
        ]
        return _version_in(places, name) if places else None

    def _configured_variables(self) -> Iterator[str]:
        """Yield the names of environment variables that Claude Code's settings set for each session."""
        for file in settings_files(config_folder(self._environment), self._project):
            yield from as_object(settings(file).get("env"))

    def _in_project(self, name: str) -> Mapping[str, Any]:
        return json_object(self._project / name) if self._project is not None else {}


_LOOKS: Mapping[str, Callable[[RequirementChecker, str], tuple[bool | None, str]]] = {
    "binary": RequirementChecker._binary,  # noqa: SLF001 - the class's own table of checks
    "env": RequirementChecker._variable,  # noqa: SLF001
    "mcp_server": RequirementChecker._server,  # noqa: SLF001
    "component": RequirementChecker._component,  # noqa: SLF001
    "runtime": RequirementChecker._runtime,  # noqa: SLF001
    "package": RequirementChecker._package,  # noqa: SLF001
}


def satisfies(version: str, wanted: str, *, npm: bool) -> bool | None:
    """Tell whether a version is in a range, by the rules of npm or of Python; None if one of them cannot be parsed."""
    if npm:
        import nodesemver  # noqa: PLC0415 - few answers compare versions

        try:
            # A range that cannot be parsed would match nothing; `valid_range` tells such a one from a range that fails.
            readable = nodesemver.valid_range(wanted, loose=True) is not None
            return bool(nodesemver.satisfies(_three_parts(version), wanted, loose=True)) if readable else None
        except ValueError:
            return None
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415

    try:
        return SpecifierSet(wanted).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return None


def _version_in(places: list[str], name: str) -> str | None:
    from importlib.metadata import distributions  # noqa: PLC0415 - few answers look into an environment

    from packaging.utils import canonicalize_name  # noqa: PLC0415

    found = distributions(path=places, name=canonicalize_name(name))
    return next((str(distribution.version) for distribution in found), None)


def _judged(name: str, wanted: str, version: str | None, *, npm: bool) -> tuple[bool | None, str]:
    text = f"{name}{_blank(wanted)}"
    if version is None:
        return None, text
    fits = satisfies(version, wanted, npm=npm)
    return fits, f"{text}, here is {version}" if fits is False else text


def _version_beside(name: str, program: Path) -> str | None:
    """Return the version of a program, from its real name, its folder or the headers beside it; None if unknown."""
    real = program.resolve()
    if name == "python":
        return _plain(real.name.removeprefix("python"), parts=2) or _in_path(real)
    if name == "node":
        header = _read(real.parent.parent / "include" / "node" / "node_version.h")
        parts = [part.search(header) for part in _OF_NODE]
        numbers = [found.group(1) for found in parts if found]
        return ".".join(numbers) if len(numbers) == len(parts) else _in_path(real)
    return _in_path(real)


def _in_path(program: Path) -> str | None:
    folders = [found.group(1) for part in program.parts if (found := _OF_FOLDER.fullmatch(part))]
    return folders[-1] if folders else None


def _split(text: str) -> tuple[str, str]:
    found = _RANGED.match(text)
    return (found.group(1), found.group(2)) if found else (text, "")


def _plain(text: str, *, parts: int = 1) -> str | None:
    found = _PLAIN_VERSION.match(text.strip().removeprefix("v"))
    return found.group() if found and found.group().count(".") + 1 >= parts else None


def _three_parts(version: str) -> str:
    core = version.partition("-")[0].count(".")
    return version if core >= 2 or "-" in version else version + ".0" * (2 - core)


def _blank(wanted: str) -> str:
    return f" {wanted}" if wanted else ""


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MOST)
    except (OSError, ValueError):  # no name of a file at all: it holds a NUL
        return ""
