"""Plans the reading of a source by the names of its files: what is read, and which files are parts of others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from repertoire.ingestion import clients, licences, manifests
from repertoire.ingestion.fixtures import is_fixture
from repertoire.ingestion.parts import (
    HOOK_FILES,
    SourceFile,
    SourceLayout,
    Strategy,
    below,
    folder,
    hook_scripts,
    is_program,
    skill_of,
)
from repertoire.ingestion.registry import STRATEGIES, strategy_for

_MANIFESTS, _MANIFEST_FILES = ("marketplace", "plugin"), ("marketplace.json", "plugin.json")
_BY_LOOKS = ("loose", "python_agents", "readme")  # strategies that claim many files that are no components

Pick = Callable[[str, SourceLayout], Strategy | None]


@dataclass(frozen=True)
class ExtractionPlan:
    """The plan of an extraction: which files are read, and which are parts of others."""

    read: tuple[str, ...]
    parts: Mapping[str, tuple[str, ...]]  # SKILL.md -> the files beside it
    layout: SourceLayout
    paths: tuple[str, ...] = ()  # paths of all files in the source


def manifests_first(paths: Sequence[str], layout: SourceLayout) -> ExtractionPlan:
    """Decide which files are read before all others: what a manifest points to has no telling name of its own."""
    named = [path for path in paths if path.endswith(_MANIFEST_FILES) and not is_fixture(path)]
    return ExtractionPlan(tuple(named), {}, layout)


def declaring(manifest_files: Mapping[str, SourceFile], layout: SourceLayout) -> SourceLayout:
    """Return a layout that also holds the types of the files that these manifests point to."""
    return dataclasses.replace(layout, declared=read_manifests(manifest_files, layout, strategy_for).declared)


def plan_extraction(paths: Sequence[str], layout: SourceLayout) -> ExtractionPlan:
    """Decide by their names which files are read, and which are parts of others."""
    offered = [path for path in paths if not is_fixture(path)]
    skills = {folder(path): path for path in offered if path.rpartition("/")[2].lower() == "skill.md"}
    layout = dataclasses.replace(layout, skills=frozenset(skills), own=clients.own(offered))
    beside = {name for strategy in STRATEGIES for name in strategy.beside}
    ordered = sorted(paths)
    programs = [path for path in ordered if is_program(path)]
    read: list[str] = []
    parts: dict[str, list[str]] = {}
    for path in paths:
        strategy = strategy_for(path, layout)
        if strategy is not None and strategy.gathers is not None:
            parts[path] = list(strategy.gathers(path, ordered))
        if strategy is not None or licences.is_licence_file(path) or path.rpartition("/")[2] in beside:
            read.append(path)
        owner = skill_of(path, layout.skills)
        if owner is not None and path != skills[owner]:
            parts.setdefault(skills[owner], []).append(path)
    parts.update({path: hook_scripts(path, programs) for path in read if path.rpartition("/")[2] in HOOK_FILES})
    read.sort(key=lambda path: path.endswith(".py"))  # last: code must not use up the room that texts need
    return ExtractionPlan(tuple(read), {path: tuple(listed) for path, listed in parts.items()}, layout, tuple(paths))


def looks_like_component(path: str, layout: SourceLayout) -> bool:
    """Tell by its name alone whether a file would be a component if it could be read."""
    strategy = strategy_for(path, layout)
    return strategy is not None and strategy.kind not in _BY_LOOKS


def read_manifests(files: Mapping[str, SourceFile], layout: SourceLayout, pick: Pick) -> SourceLayout:
    """Return a layout with what those of the files say that are manifests; `pick` finds what reads a path."""
    claimed = []
    for path, file in files.items():
        strategy = pick(path, layout)
        if strategy is not None and strategy.kind in _MANIFESTS:
            claimed.append(file)
    return manifests.read_layout(claimed, base=layout)


def absent_plugins(layout: SourceLayout, paths: Sequence[str]) -> list[str]:
    """Return a warning for each plugin that a marketplace keeps in a folder of this source in which no file lies."""
    ordered = sorted(paths)
    return [
        f"{facts.manifest}: {facts.name}: no file lies in {root}, its `source`, so Claude Code cannot install it"
        for root, facts in layout.plugins.items()
        if root and not facts.remote and facts.manifest.endswith("marketplace.json") and not below(root, ordered)
    ]
