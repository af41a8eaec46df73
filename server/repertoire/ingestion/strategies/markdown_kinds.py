"""Reads components that are Markdown files; a row for each kind says which files it claims, and their type and name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from repertoire.domain.component import AGENT, COMMAND, SETTING, SKILL
from repertoire.domain.pack import SKILL_MARK as MARK
from repertoire.ingestion import front_matter, markdown
from repertoire.ingestion.parts import (
    GUIDANCE_FILES,
    PLAIN_NAME,
    FileOutcome,
    SourceFile,
    SourceLayout,
    Strategy,
    folder,
    in_folder,
    is_document,
    stem,
)

_MISCALLED = "Claude Code on Linux reads SKILL.md, and not {}: rename it"
_TO_FILL_IN = ("{{", "<")  # in a name that is to be filled in
_OFFERED = ("agents-md", "claude-md", "examples", "guidance", "rules", "samples", "templates")
_OF_CLIENTS = (".claude", ".cursor", ".windsurf", ".clinerules", ".kiro")
_TOP = 2_000  # characters in which the mark of a pack's skill stands
_OF_AGENTS = frozenset(("tools", "model", "color"))
_OF_COMMANDS = frozenset(("allowed-tools", "argument-hint"))
_PART = FileOutcome()  # the file is a part of the skill whose folder it lies in
_NEITHER = FileOutcome(left="Markdown without the front matter of an agent or a command")
_PACKS_OWN = FileOutcome(left="the skill of a pack, which stands in the graph itself")
_TEMPLATE = FileOutcome(left="a template, whose name is to be filled in")
_PROJECTS_OWN = FileOutcome(left="guidance for this source itself")


@dataclass(frozen=True)
class MarkdownKind:
    """One kind of Markdown file; `name_of` gets the path and the name in the front matter, else the fallback name."""

    kind: str
    claims: Callable[[str, SourceLayout], bool]
    type_of: Callable[[SourceFile, SourceLayout], str | FileOutcome]  # an outcome: the file holds no component
    name_of: Callable[[str, str, SourceLayout], str] = lambda _, name, __: name
    fallback_name: Callable[[str, SourceLayout], str] = lambda path, _: stem(path).removesuffix(".mdc")
    described: Callable[[str, SourceLayout], str] = lambda *_: ""  # what a manifest says of it

    def extract(self, file: SourceFile, layout: SourceLayout) -> FileOutcome:
        """Return the file's component, or why it holds none."""
        kind = self.type_of(file, layout)
        if isinstance(kind, FileOutcome):
            return kind
        found = markdown.outcome(file, kind, fallback_name=self.fallback_name(file.path, layout))
        [draft] = found.drafts
        name, described = self.name_of(file.path, draft.name, layout), self.described(file.path, layout)
        if any(mark in name for mark in _TO_FILL_IN):
            return _TEMPLATE
        base = file.path.rpartition("/")[2]
        miscalled = (_MISCALLED.format(base),) if self.kind == "skill" and base != "SKILL.md" else ()
        drafts = (replace(draft, name=name, description=described or draft.description),)
        return replace(found, drafts=drafts, warnings=(*found.warnings, *miscalled))


def _is_skill(path: str, _: SourceLayout) -> bool:
    return path.rpartition("/")[2].lower() == "skill.md"


def _skill_type(file: SourceFile, _: SourceLayout) -> str | FileOutcome:
    return _PACKS_OWN if MARK in file.text[:_TOP] and MARK in _keys(file) else SKILL


def _skill_name(path: str, name: str, layout: SourceLayout) -> str:
    """Return the folder's name in plugins, as the client does, but for one at their top or that they name."""
    own, plugin = _folder_name(path), layout.plugin_of(path)
    if plugin is not None and plugin.calls_by_front_matter(folder(path)):
        return name
    # a loose one's folder is named when it is copied
    kept = not layout.plugins_of(path) or (plugin is not None and plugin.root == folder(path))
    return name if kept and (not own or PLAIN_NAME.fullmatch(name)) else own


def _is_agent(path: str, layout: SourceLayout) -> bool:
    if path.endswith(".agent.md") or layout.declared_type(path) == AGENT:
        return True
    return path.endswith(".md") and in_folder(path, "agents", "subagents") and not _guides(path)


def _agent_type(file: SourceFile, layout: SourceLayout) -> str | FileOutcome:
    # A skill keeps prompts for its own helpers in agents/: without a name of its own, such a file is a part of it.
    if layout.in_skill(file.path) and not {"name", "description"} <= _keys(file):
        return _PART
    return _NEITHER if _only_documents(file, layout, "name") else AGENT


def _is_command(path: str, layout: SourceLayout) -> bool:
    if layout.declared_type(path) == COMMAND:
        return True
    return path.endswith(".md") and in_folder(path, "commands") and not _guides(path)


def _command_type(file: SourceFile, layout: SourceLayout) -> str | FileOutcome:
    if layout.in_skill(file.path):
        return _PART
    return _NEITHER if _only_documents(file, layout, "description") else COMMAND


def _only_documents(file: SourceFile, layout: SourceLayout, key: str) -> bool:
    """Tell whether a README or the like among components is none: no manifest names it, nor has it this key."""
    return is_document(file.path) and file.path not in layout.declared and key not in _keys(file)


def _command_name(path: str, _: str, layout: SourceLayout) -> str:
    """Return the file's name, as Claude Code does, below a folder that a manifest names with the folders between."""
    if path in layout.commands:
        return layout.commands[path][0]
    above = layout.command_folder(path)
    if not above or in_folder(path, "commands"):  # `call_name` finds the folders itself
        return stem(path)
    between = folder(path).removeprefix(above).split("/")
    return ":".join((*filter(None, between), stem(path)))


def _is_guidance(path: str, layout: SourceLayout) -> bool:
    if layout.in_skill(path):
        return False
    base = path.rpartition("/")[2]
    if _guides(path) or (base.endswith(".mdc") and in_folder(path, "rules")):
        return True
    styles = in_folder(path, "output-styles", "output_styles") or layout.declared_type(path) == SETTING
    return base.endswith(".md") and not is_document(path) and (styles or _is_rule(path, layout))


def _is_rule(path: str, layout: SourceLayout) -> bool:
    """Tell whether Markdown lies where rules do: those of a linter are documented in folders called so, too."""
    if not in_folder(path, "rules", "steering"):
        return False
    plugin = layout.plugin_of(path)
    root = f"{plugin.root}/rules/" if plugin is not None and plugin.root else "rules/"
    return path.startswith(root) or in_folder(path, *_OF_CLIENTS)


def _guidance_type(file: SourceFile, _: SourceLayout) -> str | FileOutcome:
    own = _guides(file.path) and not in_folder(file.path, *_OFFERED)
    return _PROJECTS_OWN if own else SETTING


def _guidance_name(path: str, name: str, _: SourceLayout) -> str:
    return _folder_name(path) if _guides(path) else name


def _guides(path: str) -> bool:
    return path.rpartition("/")[2] in GUIDANCE_FILES


def _is_other(path: str, layout: SourceLayout) -> bool:
    return path.endswith(".md") and not is_document(path) and not layout.in_skill(path)


def _other_type(file: SourceFile, _: SourceLayout) -> str | FileOutcome:
    """Return the type that the front matter shows: agents and commands may lie in any folder."""
    keys = _keys(file) if file.text.startswith("---") else set()
    if {"name", "description"} <= keys and keys & _OF_AGENTS:
        return AGENT
    return COMMAND if "description" in keys and keys & _OF_COMMANDS and "name" not in keys else _NEITHER


def _keys(file: SourceFile) -> set[str]:
    return set(front_matter.split(file.text).front_matter)


def _folder_name(path: str) -> str:
    return folder(path).rpartition("/")[2]


_KINDS = (
    MarkdownKind("skill", _is_skill, _skill_type, _skill_name, lambda path, at: _folder_name(path) or at.name),
    MarkdownKind("agent", _is_agent, _agent_type),
    MarkdownKind(
        "command",
        _is_command,
        _command_type,
        _command_name,
        described=lambda path, layout: layout.commands.get(path, ("", ""))[1],
    ),
    MarkdownKind("guidance", _is_guidance, _guidance_type, _guidance_name),
    MarkdownKind("loose", _is_other, _other_type),
)
SKILLS, AGENTS, COMMANDS, GUIDANCE, LOOSE = (Strategy(row.kind, row.claims, row.extract) for row in _KINDS)
