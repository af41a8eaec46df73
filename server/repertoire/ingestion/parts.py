"""The values of extraction: a file that was read, the layout of its source, and the drafts that a strategy makes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from repertoire.domain.component import COMMAND, SKILL
from repertoire.domain.technologies import Technologies

# names of files that tell a client how to work in a repository
GUIDANCE_FILES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules")
_DOCUMENTS = frozenset(
    "AGENTS AUTHORS CHANGELOG CLAUDE CODEOWNERS CODE_OF_CONDUCT CONTRIBUTING CONTRIBUTORS GEMINI INDEX INSTALL LICENCE "
    "LICENSE NOTICE README ROADMAP SECURITY SUPPORT THIRD_PARTY_NOTICES TODO".split()
)
_PROGRAMS = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".ps1", ".bat", ".cmd")

PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # of a plugin or a skill, as Claude Code takes it
OPTIONAL_SERVER = "optional_mcp_server"  # a kind of requirement


@dataclass(frozen=True)
class SourceFile:
    """A file of a source with its text, and the texts of the files beside it that its strategy reads."""

    path: str
    text: str
    digest: str  # SHA-256 of its bytes, and of its parts' bytes if it has parts
    companions: Mapping[str, str] = field(default_factory=dict)  # texts of the files beside it that its strategy reads


@dataclass(frozen=True)
class ComponentRequirement:
    """A requirement of a component; `kind`: binary, env, mcp_server, runtime, package, plugin, component (by name).

    An `optional_mcp_server` is used where it is configured: no check misses it.
    """

    kind: str  # also `setting`, which Docker keeps: no check misses it
    name: str
    weight: float
    evidence: str


@dataclass(frozen=True)
class Draft:
    """A component as a strategy read it from its file, before its id, plugin and licence are known."""

    type: str
    name: str
    description: str = ""
    body: str = ""
    anchor: str = ""  # tells components of one file apart
    path: str = ""  # its path, if it is not the file's
    digest: str = ""
    front_matter: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    signatures: str = ""  # code in addition to the fenced code in the body
    tags: tuple[str, ...] = ()
    needs: tuple[ComponentRequirement, ...] = ()
    licence: str = ""
    repository: str = ""
    plugin: str = ""
    marketplace: str = ""
    install: tuple[str, ...] = ()
    part_of: str = ""  # the path of a file whose first component this one is a part of
    made_of: Technologies = field(default_factory=Technologies)  # technologies of its own programs
    commands: str = ""  # what it runs, uncut and with its secrets: for the static checks alone, and never stored


@dataclass(frozen=True)
class FileOutcome:
    """The result of a strategy for one file: its drafts, or why it has none, and warnings about the file."""

    drafts: tuple[Draft, ...] = ()
    warnings: tuple[str, ...] = ()
    part_of: str = ""  # if there are no drafts: the file that this one is a part of
    left: str = ""  # if there are no drafts: the reason


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
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # path -> name and description for it
    instead: frozenset[str] = frozenset()  # types whose usual folder is not read, as the manifest names their places
    details: Mapping[str, Any] = field(default_factory=dict)
    remote: bool = False  # listed here, kept elsewhere
    taken: bool = True  # whether the client accepts the manifest
    starts_on: bool | None = None  # whether it is on once it is installed; where nothing is said, it is
    shares: bool = False  # its folder holds other plugins, too; each has what it declares

    @property
    def about(self) -> str:
        """What it says of itself, or at least its name."""
        return self.description or f"Plugin {self.name}"

    @property
    def key(self) -> str:
        """What tells it apart from all plugins of its source: its folder, with its name if others share this."""
        return f"{self.root}#{self.name}" if self.shares else self.root

    def calls_by_front_matter(self, skill: str) -> bool:
        """Tell whether a skill's folder is named in the manifest itself, and not found in the usual folder before."""
        usual = SKILL not in self.instead and folder(skill) == f"{self.root}/skills".lstrip("/")
        return self.declared.get(skill) == SKILL and not usual

    def declares(self, path: str) -> bool:
        """Tell whether its manifest names a file, or a folder that the file lies in."""
        return any(path == place or path.startswith(f"{place}/") for place in self.declared)


@dataclass(frozen=True)
class SourceLayout:
    """The layout of a source: its plugins, skill folders and declared files, known before files are read one by one."""

    name: str = ""  # name of the source, for a component without a name of its own
    plugins: Mapping[str, PluginFacts] = field(default_factory=dict)  # by root
    shared: Mapping[str, tuple[PluginFacts, ...]] = field(default_factory=dict)  # by root, where it is that of several
    declared: Mapping[str, str] = field(default_factory=dict)  # path or folder -> component type
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # path -> a manifest's name and description
    skills: frozenset[str] = frozenset()  # folders with a SKILL.md
    own: Mapping[str, str] = field(default_factory=dict)  # type and name -> path outside other clients' folders
    elsewhere: frozenset[str] = frozenset()  # plugins listed here that a source of their own describes
    is_package: bool = False  # the person ingested it as a package, so it is one whatever it holds

    def plugins_of(self, path: str) -> tuple[PluginFacts, ...]:
        """Return the innermost plugin that holds a path, with those that share its folder."""
        above = path
        while above:
            above = folder(above)
            if above in self.shared:
                return self.shared[above]
            if above in self.plugins:
                return (self.plugins[above],)
        return ()

    def plugin_of(self, path: str) -> PluginFacts | None:
        """Return the innermost plugin that holds a path; of several in one folder the one that declares it."""
        return next((one for one in self.plugins_of(path) if not one.shares or one.declares(path)), None)

    def plugin_in(self, root: str, name: str) -> PluginFacts | None:
        """Return the plugin of a folder; of several the one of this name."""
        return next((one for one in self.shared.get(root, ()) if one.name == name), self.plugins.get(root))

    def declared_type(self, path: str) -> str:
        """Return the component type that a manifest declares for a file or its folder; empty if none does."""
        own = self.declared.get(path)
        if own or not path.endswith(".md"):
            return own or ""
        if self.command_folder(path):
            return COMMAND
        return "" if is_document(path) else self.declared.get(folder(path), "")

    def command_folder(self, path: str) -> str:
        """Return the innermost folder above a file that a manifest names as one of commands; empty if there is none."""
        above = folder(path)
        while above and self.declared.get(above) != COMMAND:
            above = folder(above)
        return above

    def in_skill(self, path: str) -> bool:
        """Tell whether a file lies in a skill's folder, and so is a part of the skill."""
        return skill_of(path, self.skills) is not None


@dataclass(frozen=True)
class Strategy:
    """A reader for one kind of file.

    `claims` decides by path and manifests whether it reads a file; `extract` reads it, or raises `Unusable`.
    """

    kind: str
    claims: Callable[[str, SourceLayout], bool]
    extract: Callable[[SourceFile, SourceLayout], FileOutcome]
    beside: tuple[str, ...] = ()  # names of files in the same folder that it reads too
    gathers: Callable[[str, Sequence[str]], tuple[str, ...]] | None = None  # selects its parts from all paths, sorted


def stem(path: str) -> str:
    """Return a file's name without its folder and extensions."""
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


def hook_scripts(path: str, programs: Sequence[str]) -> list[str]:
    """Return those of sorted programs that hooks may start: beside a `hooks.json`, or in folders like `scripts`."""
    above = folder(path)
    root = folder(above) if above.rpartition("/")[2] == "hooks" else above
    beside = {above} if path.rpartition("/")[2] == HOOK_FILES[0] else set()  # beside settings lies everything
    homes = {*beside, *(f"{root}/{name}".lstrip("/") for name in ("hooks", "hooks-handlers", "scripts", "bin"))} - {""}
    return sorted({program for home in homes for program in below(home, programs)})


def is_program(path: str) -> bool:
    """Tell by its ending whether a file is a program that a hook may start."""
    return path.lower().endswith(_PROGRAMS)


def below(above: str, paths: Sequence[str]) -> Sequence[str]:
    """Return those of sorted paths that lie below a folder."""
    if not above:
        return paths
    first = bisect_left(paths, f"{above}/")
    return paths[first : bisect_left(paths, f"{above}0", first)]  # 0 is the character that follows a slash


def in_folder(path: str, *names: str) -> bool:
    """Tell whether one of a path's folders has one of these names."""
    return not set(path.split("/")[:-1]).isdisjoint(names)


def is_document(path: str) -> bool:
    """Tell by a file's name, whatever its ending, whether it is documentation, such as README or CHANGELOG."""
    name = path.rpartition("/")[2].partition(".")[0]
    return name in _DOCUMENTS or name.lower() in ("changelog", "contributing", "licence", "license", "readme")


def folder(path: str) -> str:
    """Return the path of a file's folder; empty at the top."""
    return path.rpartition("/")[0]
