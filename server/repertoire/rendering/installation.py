"""Renders an installation before, after, and undone; strangers' text is capped."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from repertoire.app.installation.install import InstallPlan
from repertoire.app.installation.installable import InstallPart
from repertoire.domain.component import Component
from repertoire.domain.text import clean_line, counted
from repertoire.installing.changing import PlannedFile, UndoneInstallation
from repertoire.installing.journal import UNDONE, JournalEntry
from repertoire.rendering.answers import LINE, NAME, type_name

_FILES, _ALONG = 40, 12
_PATH = 400


def plan_text(plan: InstallPlan) -> str:
    """Render all that an installation changes, component by component."""
    lines = [line for part in plan.parts for line in _part(part)]
    idle = not plan.changes and not any(part.unread for part in plan.parts)
    return "\n".join([*lines, "Nothing to do."] if idle else lines)


def done_text(entry: JournalEntry) -> str:
    """Render the changes of an installation, and the command that undoes them."""
    what = counted(len(entry.files), "file") + " written" if entry.files else ""
    told = counted(len(entry.commands), "command") + " of the client run" if entry.commands else ""
    changed = ", and ".join(filter(None, (what, told))) or "nothing new was needed"
    return f"Installed: {changed}. New sessions have it.\n`repertoire install --undo {entry.name}` undoes it."


def undone_text(undone: UndoneInstallation) -> str:
    """Render the changes that were undone."""
    entry = undone.entry
    lines = [f"Installation {entry.name} of {entry.at[:10]} was undone: {', '.join(_ids(entry.ids))}."]
    new = {item.path for item in entry.files if not item.before}
    lines += [
        f"  {'removed' if path in new else 'as it was'}: {clean_line(path, _PATH)}" for path in undone.files[:_FILES]
    ]
    lines += _more(len(undone.files) - _FILES)
    lines += [f"  ran: {_command(undo)}" for undo in _ran(entry)]
    return "\n".join([*lines, *(f"  note: {clean_line(note, _PATH)}" for note in undone.notes)])


def _ran(entry: JournalEntry) -> list[tuple[str, ...]]:
    return [command.undo for command in reversed(entry.commands) if command.state == UNDONE]


def plan_data(plan: InstallPlan, *, journal: str = "") -> dict[str, Any]:
    """Return an installation plan as a JSON object: files by path and size only, and the name of the journal."""
    return {
        "components": [part.component.id for part in plan.parts],
        "files": [{"path": str(file.path), "bytes": len(file.content)} for file in plan.files],
        "adds": [line for part in plan.parts for line in part.adds],
        "commands": [["claude", *command.arguments] for command in plan.commands],
        "runs": [line for part in plan.parts for line in part.runs],
        "along": [other.id for part in plan.parts for other in part.along],
        "notes": [note for part in plan.parts for note in part.notes],
        "journal": journal,
    }


def undone_data(undone: UndoneInstallation) -> dict[str, Any]:
    """Return an undone installation as a JSON object."""
    entry = undone.entry
    return {
        "journal": entry.name,
        "at": entry.at,
        "components": list(entry.ids),
        "files": list(undone.files),
        "commands": [["claude", *undo] for undo in _ran(entry)],
        "notes": list(undone.notes),
    }


def _part(part: InstallPart) -> list[str]:
    component = part.component
    kinds: dict[str, list[Component]] = {}
    for other in part.along:
        kinds.setdefault(type_name(other), []).append(other)
    adds = [f"  adds to {clean_line(str(part.files[0].path), _PATH)}:"] if part.adds else []
    return [
        f"{clean_line(component.name, NAME)} ({type_name(component)})",
        *(adds or _written(part.files)),
        *(f"    {clean_line(line, _PATH)}" for line in part.adds),
        *(f"  runs now: {_command(command.arguments)}" for command in part.commands),
        *(f"  sessions will start: {clean_line(line, LINE)}" for line in part.runs[:_FILES] if not part.adds),
        *_more(len(part.runs) - _FILES if not part.adds else 0, "program"),
        *(f"  also installs: {_names(kind, others)}" for kind, others in sorted(kinds.items())),
        *(f"  note: {clean_line(note, _PATH)}" for note in part.notes),
        f"  id: {clean_line(component.id, 300)}",
    ]


def _written(files: Sequence[PlannedFile]) -> list[str]:
    shown = [
        f"  {'writes' if file.before is None else 'replaces'} {clean_line(str(file.path), _PATH)} "
        f"({len(file.content):,} bytes)"
        for file in files[:_FILES]
    ]
    return [*shown, *_more(len(files) - _FILES)]


def _more(count: int, what: str = "file") -> list[str]:
    return [f"  and {counted(count, f'more {what}')}"] if count > 0 else []


def _names(kind: str, others: Sequence[Component]) -> str:
    listed = ", ".join(clean_line(other.name, NAME) for other in others[:_ALONG])
    return f"{counted(len(others), kind)}: {listed}" + (", …" if len(others) > _ALONG else "")


def _command(arguments: Iterable[str]) -> str:
    return clean_line(shlex.join(["claude", *arguments]), 4_000)


def _ids(ids: Iterable[str]) -> list[str]:
    return [clean_line(one, 300) for one in ids]
