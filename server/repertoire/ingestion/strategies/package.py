"""Reads packages of npm and Python: a package's MCP server with its tools, or its command-line programs."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.utils import canonicalize_name

from repertoire.ingestion import dependencies, requirements, technologies
from repertoire.ingestion.packages import manifest, node_tools, package_files, python_tools, readme_tools
from repertoire.ingestion.packages.drafts import PackageContents, drafts, runtimes
from repertoire.ingestion.packages.manifest import PYPI, PackageManifest
from repertoire.ingestion.packages.registered_tools import RegisteredTool, merged, programs
from repertoire.ingestion.parts import ComponentRequirement, FileOutcome, SourceFile, SourceLayout, Strategy, folder
from repertoire.ingestion.signatures import signatures
from repertoire.syntax import PYTHON, language_of

_WARNED = 5
_EXPORTS = 40


def _claims(path: str, layout: SourceLayout) -> bool:
    return package_files.is_manifest(path) and not layout.in_skill(path)


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    stated = _manifest(file)
    if stated is None:
        return FileOutcome(left="describes no package")
    asked_for = layout.is_package and not package_files.root_of(file.path)
    if not (asked_for or stated.programs or stated.server or stated.uses_sdk):
        return FileOutcome(left="a package that starts no program")
    texts = dict(file.companions)
    readme = stated.readme or next((text for path, text in texts.items() if _is_readme(path)), "")
    code = {path: text for path, text in texts.items() if language_of(path)}
    parsed, failed = programs(code)
    tools = merged(
        [
            *python_tools.tools([program for program in parsed if program.language == PYTHON]),
            *node_tools.tools([program for program in parsed if program.language != PYTHON]),
        ]
    )
    own = {stated.name, stated.name.rpartition("/")[2], *stated.programs}  # a server's own name, with its version
    tools = [tool for tool in tools if tool.name not in own]
    is_server = _is_server(stated, tools)
    if is_server and not tools:
        tools = merged(readme_tools.tools(readme))
    if not (is_server or stated.programs or asked_for):
        return FileOutcome(left="a package that starts no program")
    defined = dict(pair for program in parsed for pair in signatures(program.root, program.language))
    found = PackageContents(
        manifest=stated,
        path=_path(file.path, stated),
        digest=file.digest,
        readme=readme,
        tools=tools if is_server else (),
        signatures=tuple(defined.values()),
        fields=technologies.of_programs(
            code,
            packages=stated.packages,
            exports=[*stated.programs, *stated.exports, *(name for name in defined if "." not in name)][:_EXPORTS],
        ),
        needs=_needs(file, stated, code, readme),
        is_server=is_server,
    )
    return FileOutcome(tuple(drafts(found)), tuple(failed[:_WARNED]))


def _manifest(file: SourceFile) -> PackageManifest | None:
    name = file.path.rpartition("/")[2]
    if name == "package.json":
        return manifest.of_package_json(file.text)
    if name == "pyproject.toml":
        return manifest.of_pyproject(file.text)
    if (
        name == "PKG-INFO"
        and "pyproject.toml" in file.companions
        and manifest.of_pyproject(file.companions["pyproject.toml"])
    ):
        return None
    points = next((text for path, text in file.companions.items() if path.endswith(package_files.ENTRY_POINTS)), "")
    return manifest.of_metadata(file.text, points)


def _is_readme(path: str) -> bool:
    return path.rpartition("/")[2].lower().startswith(package_files.README)


def _is_server(stated: PackageManifest, tools: list[RegisteredTool]) -> bool:
    """Tell whether a package is an MCP server: it says so, or registers tools and depends on an MCP SDK."""
    if stated.server or (tools and stated.uses_sdk):
        return True
    return stated.speaks_of_mcp and bool(stated.programs) and (stated.uses_sdk or bool(tools))


def _path(path: str, stated: PackageManifest) -> str:
    """Return a package's path in its source, without the version in a wheel's folder name."""
    above = folder(path)
    if not above.endswith(".dist-info"):
        return path
    called = canonicalize_name(stated.name).replace("-", "_")
    return f"{folder(above)}/{called}.dist-info/METADATA".lstrip("/")


def _needs(
    file: SourceFile, stated: PackageManifest, code: Mapping[str, str], readme: str
) -> tuple[ComponentRequirement, ...]:
    listed = [
        *requirements.of_front_matter(runtimes(stated.engines)),
        *technologies.required_keys(code),
        *technologies.documented_keys(readme),
    ]
    if stated.registry == PYPI and not file.path.endswith(".toml"):
        text = "\n".join(line.partition(":")[2] for line in file.text.splitlines() if line.startswith("Requires-Dist:"))
        listed += dependencies.of_files({"requirements.txt": "\n".join(_plain(line) for line in text.splitlines())})
    else:
        listed += dependencies.of_files({file.path.rpartition("/")[2]: file.text})
    return tuple({(need.kind, need.name): need for need in reversed(listed)}.values())[::-1]


def _plain(line: str) -> str:
    """Return a wheel's requirement without its condition; empty if it belongs to an extra."""
    wanted, _, condition = line.partition(";")
    return "" if "extra" in condition else wanted


STRATEGY = Strategy("package", _claims, _extract, gathers=package_files.belonging)
