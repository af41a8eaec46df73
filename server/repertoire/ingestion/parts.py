"""The values that extraction passes along: a file as read, the ground it stands on, and what a strategy makes of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from repertoire.domain.fields import Fields

_DOCUMENTS = frozenset(
    "AGENTS AUTHORS CHANGELOG CLAUDE CODEOWNERS CODE_OF_CONDUCT CONTRIBUTING CONTRIBUTORS GEMINI INDEX INSTALL LICENCE "
    "LICENSE NOTICE README ROADMAP SECURITY SUPPORT THIRD_PARTY_NOTICES TODO".split()
)
_PROGRAMS = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".ps1", ".bat", ".cmd")


@dataclass(frozen=True)
class SourceFile:
    """A file of a source as it was read."""

    path: str
    text: str
    digest: str  # SHA-256 of its bytes, or of its bytes and those of its parts
    companions: Mapping[str, str] = field(default_factory=dict)  # texts of the files beside it that its strategy reads


@dataclass(frozen=True)
class ComponentRequirement:
    """What a component requires; `kind`: binary, env, mcp_server, runtime, package, plugin, component (by name)."""

    kind: str
    name: str
    weight: float
    evidence: str


@dataclass(frozen=True)
class Draft:
    """What a strategy read about one component, before everything around it is known."""

    type: str
    name: str
    description: str = ""
    body: str = ""
    anchor: str = ""  # tells components of one file apart
    path: str = ""  # where it is not the file's
    digest: str = ""
    front_matter: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    signatures: str = ""  # code beyond what is fenced in the body
    tags: tuple[str, ...] = ()
    needs: tuple[ComponentRequirement, ...] = ()
    licence: str = ""
    repository: str = ""
    plugin: str = ""
    marketplace: str = ""
    install: tuple[str, ...] = ()
    part_of: str = ""  # the path of a file whose first component this one is a part of
    made_of: Fields = field(default_factory=Fields)  # what its own programs are


@dataclass(frozen=True)
class FileOutcome:
    """What became of one file: components, or none where it is a part of another; and what had to be tolerated."""

    drafts: tuple[Draft, ...] = ()
    warnings: tuple[str, ...] = ()
    part_of: str = ""  # without drafts: the file that it is read with
    left: str = ""  # without drafts: why it is no component


@dataclass(frozen=True)
class PluginFacts:
    """A plugin as manifests describe it; `root` is its folder in the source."""

    root: str
    name: str
    manifest: str = ""
    description: str = ""
    marketplace: str = ""
    listed_as: str = ""  # its name in the marketplace, which is the one that installs it
    licence: str = ""
    repository: str = ""
    tags: tuple[str, ...] = ()
    needs: tuple[ComponentRequirement, ...] = ()
    declared: Mapping[str, str] = field(default_factory=dict)  # path -> component type
    details: Mapping[str, Any] = field(default_factory=dict)
    remote: bool = False  # listed here, kept elsewhere
    taken: bool = True  # by the client, which refuses some manifests


@dataclass(frozen=True)
class SourceLayout:
    """What is known about a source before its files are read one by one."""

    name: str = ""  # what the source is called, for a component that has no other name
    plugins: Mapping[str, PluginFacts] = field(default_factory=dict)  # by root
    declared: Mapping[str, str] = field(default_factory=dict)  # path or folder -> component type
    skills: frozenset[str] = frozenset()  # folders with a SKILL.md
    own: Mapping[str, str] = field(default_factory=dict)  # kind and name -> path of what is in no other client's folder
    elsewhere: frozenset[str] = frozenset()  # plugins listed here that a source of their own describes
    is_package: bool = False  # the source was asked for as a package, whatever that holds

    def plugin_of(self, path: str) -> PluginFacts | None:
        """Return the innermost plugin that holds a path."""
        above = path
        while above:
            above = folder(above)
            if above in self.plugins:
                return self.plugins[above]
        return None

    def declared_type(self, path: str) -> str:
        """Return the component type that a manifest gives a file, by itself or by its folder; or an empty string."""
        own = self.declared.get(path)
        if own or not path.endswith(".md") or is_document(path):
            return own or ""
        return self.declared.get(folder(path), "")

    def in_skill(self, path: str) -> bool:
        """Tell whether a file lies in a skill's folder, which makes it a part of the skill."""
        return skill_of(path, self.skills) is not None


@dataclass(frozen=True)
class Strategy:
    """One kind of file that components are read from.

    `claims` decides by the path and what manifests declare; `extract` reads, and raises `Unusable` with the reason.
    """

    kind: str
    claims: Callable[[str, SourceLayout], bool]
    extract: Callable[[SourceFile, SourceLayout], FileOutcome]
    beside: tuple[str, ...] = ()  # names of files in the same folder that it reads too
    gathers: Callable[[str, Sequence[str]], tuple[str, ...]] | None = None  # of all paths, the parts that it reads


def entry_digest(text: str) -> str:
    """Return the SHA-256 of a part of a file that is a component of its own."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def stem(path: str) -> str:
    """Return the last part of a path without its extensions."""
    name = path.rpartition("/")[2]
    for suffix in (
        ".agent.md",
        ".prompt.md",
        ".chatmode.md",
        ".instructions.md",
        ".mdc",
        ".md",
        ".json",
        ".yaml",
        ".yml",
    ):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def skill_of(path: str, skills: frozenset[str]) -> str | None:
    """Return the innermost skill folder that holds a file, or None.

    A SKILL.md at the top does not make a whole repository its part: only what lies directly beside it.
    """
    above = folder(path)
    if not above:
        return "" if "" in skills else None
    while above:
        if above in skills:
            return above
        above = folder(above)
    return None


HOOK_FILES = ("hooks.json", "settings.json", "settings.local.json")


def hook_scripts(path: str, paths: Iterable[str]) -> list[str]:
    """Return the programs that hooks may start: those beside a `hooks.json`, or in the folders for such near it."""
    above = folder(path)
    root = folder(above) if above.rpartition("/")[2] == "hooks" else above
    beside = {above} if path.rpartition("/")[2] == HOOK_FILES[0] else set()  # beside settings lies everything
    homes = {*beside, *(f"{root}/{name}".lstrip("/") for name in ("hooks", "hooks-handlers", "scripts", "bin"))} - {""}
    return [
        other
        for other in paths
        if other.lower().endswith(_PROGRAMS) and any(other.startswith(f"{home}/") for home in homes)
    ]


def in_folder(path: str, *names: str) -> bool:
    """Tell whether a path has a folder of one of these names."""
    return not set(path.split("/")[:-1]).isdisjoint(names)


def is_document(path: str) -> bool:
    """Tell whether a Markdown file is documentation by its name."""
    name = path.rpartition("/")[2].partition(".")[0]
    return name in _DOCUMENTS or name.lower() in ("changelog", "contributing", "licence", "license", "readme")


def folder(path: str) -> str:
    """Return the path of the folder that holds a path; empty at the top."""
    return path.rpartition("/")[0]
