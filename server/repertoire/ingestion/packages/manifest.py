"""Parses package manifests (`package.json` of npm, `pyproject.toml` and `METADATA` of Python) into one form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from repertoire.ingestion import toml, values
from repertoire.ingestion.addresses import repository_of

NPM, PYPI = "npm", "pypi"
_MOST_HEADERS = 2_000
_HEADER = re.compile(r"^([A-Za-z][A-Za-z-]*):[ \t]*(.*)$")
_SECTION = re.compile(r"^\s*\[([^\]]*)\]\s*$")
_SCRIPT = re.compile(r"^\s*([\w.+-]+)\s*=\s*([\w.:]+)")
_SDKS = {
    NPM: (re.compile(r"@modelcontextprotocol/(?:sdk|server)|fastmcp|mcp-framework|xmcp|@mastra/mcp|mcp-use|litemcp")),
    PYPI: (re.compile(r"mcp|fastmcp|mcp-server|fastapi-mcp|mcp-use|easy-mcp")),
}
_MCP = re.compile(r"(?<![a-z])mcp(?![a-z])|model[ -]?context[ -]?protocol", re.IGNORECASE)


@dataclass(frozen=True)
class PackageManifest:
    """A package's manifest: its name, description, programs, dependencies and runtimes."""

    registry: str
    name: str
    version: str = ""
    description: str = ""
    licence: str = ""
    repository: str = ""
    keywords: tuple[str, ...] = ()
    programs: Mapping[str, str] = field(default_factory=dict)  # name -> entry point
    packages: tuple[str, ...] = ()  # names of its dependencies
    engines: Mapping[str, str] = field(default_factory=dict)  # runtime -> range
    exports: tuple[str, ...] = ()
    server: str = ""  # its name in the registry of MCP servers
    readme: str = ""

    @property
    def uses_sdk(self) -> bool:
        """Whether the package depends on an SDK for MCP servers."""
        return any(_SDKS[self.registry].fullmatch(name) for name in self.packages)

    @property
    def speaks_of_mcp(self) -> bool:
        """Whether the package's name, programs or keywords mention MCP."""
        return bool(self.server) or any(_MCP.search(word) for word in (self.name, *self.programs, *self.keywords))


def of_package_json(text: str) -> PackageManifest | None:
    """Parse a `package.json`; None if it names no package.

    Raises:
        Unusable: the text is not JSON, or out of bounds.
    """
    data = values.mapping(values.parse_json(text))
    name = values.name(data.get("name"))
    if not name:
        return None
    listed, exported = data.get("bin"), data.get("exports")
    programs = {name.rpartition("/")[2]: listed} if isinstance(listed, str) else values.mapping(listed)
    where = data.get("repository")
    licence = data.get("license")
    dependencies = [*values.mapping(data.get("dependencies")), *values.mapping(data.get("peerDependencies"))]
    return PackageManifest(
        registry=NPM,
        name=name,
        version=values.name(data.get("version")),
        description=values.text(data.get("description")),
        licence=values.name(licence.get("type") if isinstance(licence, Mapping) else licence),
        repository=repository_of(values.text(where.get("url") if isinstance(where, Mapping) else where)),
        keywords=values.words(data.get("keywords")),
        programs={values.name(key): values.name(value) for key, value in programs.items()},
        packages=tuple(values.name(key) for key in dependencies),
        engines={key: values.name(value) for key, value in values.mapping(data.get("engines")).items()},
        exports=tuple(key for key in values.mapping(exported) if key.startswith(".") and key != "./package.json"),
        server=values.name(data.get("mcpName")),
    )


def of_pyproject(text: str) -> PackageManifest | None:
    """Parse a `pyproject.toml`; None if it describes no package.

    Raises:
        Unusable: the text is not TOML, or out of bounds.
    """
    data = toml.parse(text)
    project = values.mapping(data.get("project"))
    poetry = values.mapping(values.mapping(data.get("tool")).get("poetry"))
    stated = project or poetry
    if not values.name(stated.get("name")):
        return None
    wanted = project.get("dependencies")
    listed = wanted if isinstance(wanted, list) else list(values.mapping(poetry.get("dependencies")))
    scripts = {**values.mapping(stated.get("scripts")), **values.mapping(stated.get("gui-scripts"))}
    licence, urls = stated.get("license"), values.mapping(stated.get("urls"))
    python = stated.get("requires-python") or values.mapping(poetry.get("dependencies")).get("python")
    return PackageManifest(
        registry=PYPI,
        name=values.name(stated["name"]),
        version=values.name(stated.get("version")),
        description=values.text(stated.get("description")),
        licence=values.name(licence.get("text") if isinstance(licence, Mapping) else licence),
        repository=_first_repository([values.text(stated.get("repository")), *map(values.text, urls.values())]),
        keywords=values.words(stated.get("keywords")),
        programs={values.name(key): values.name(value) for key, value in scripts.items()},
        packages=tuple(dict.fromkeys(filter(None, (_python_name(str(item)) for item in listed)))),
        engines={"python": values.name(python)} if values.name(python) else {},
    )


def of_metadata(text: str, entry_points: str = "") -> PackageManifest | None:
    """Parse the `METADATA` of a wheel or the `PKG-INFO` of a source archive; None if it names no package."""
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    headers: dict[str, list[str]] = {}
    for line in head.split("\n")[:_MOST_HEADERS]:
        if found := _HEADER.match(line):
            headers.setdefault(found.group(1).lower(), []).append(values.storable(found.group(2).strip()))

    def first(key: str) -> str:
        return next(iter(headers.get(key, ())), "")

    if not values.name(first("name")):
        return None
    addresses = [line.rpartition(",")[2].strip() for line in headers.get("project-url", ())]
    licence = values.name(first("license-expression") or first("license"))
    return PackageManifest(
        registry=PYPI,
        name=values.name(first("name")),
        version=values.name(first("version")),
        description=first("summary") if first("summary") != "UNKNOWN" else "",
        licence=licence,
        repository=_first_repository([*addresses, first("home-page")]),
        keywords=values.words(
            first("keywords").replace(" ", ",") if "," not in first("keywords") else first("keywords")
        ),
        programs=dict(_scripts(entry_points)),
        packages=tuple(dict.fromkeys(filter(None, (_python_name(line) for line in headers.get("requires-dist", ()))))),
        engines={"python": first("requires-python")} if first("requires-python") else {},
        readme=body,
    )


def _first_repository(addresses: list[str]) -> str:
    return next((found for address in addresses if (found := repository_of(address)) and found.count("/") >= 2), "")


def _python_name(text: str) -> str:
    try:
        wanted = Requirement(text)
    except (InvalidRequirement, RecursionError):  # RecursionError: of a thousand brackets
        return values.name(text) if text.isidentifier() or text.replace("-", "_").isidentifier() else ""
    extra = wanted.marker is not None and "extra" in str(wanted.marker)
    return "" if extra else canonicalize_name(wanted.name)


def _scripts(text: str) -> Iterator[tuple[str, str]]:
    inside = False
    for line in text.splitlines()[:_MOST_HEADERS]:
        if section := _SECTION.match(line):
            inside = section.group(1).strip() in ("console_scripts", "gui_scripts")
        elif inside and (found := _SCRIPT.match(line)):
            yield found.group(1), found.group(2)
