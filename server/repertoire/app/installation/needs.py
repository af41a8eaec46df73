"""Finds what components still require on this machine once they are installed, and what settings keep from running."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from repertoire.app.installation.installable import InstallPart
from repertoire.domain.component import DEPENDS_ON, HOOK, MCP_SERVER, REQUIREMENT, Component
from repertoire.domain.errors import InstallRefused
from repertoire.domain.text import few
from repertoire.sources.policy import Policy
from repertoire.sources.requirement_checks import RequirementChecker
from repertoire.sources.withheld import Withheld
from repertoire.store.database import Store

_RUNNING = (HOOK, MCP_SERVER)
_TOLD = 6  # requirements of one component's installation that are named
_DENIED = "settings deny it to the model in this project"
_WHERE = ". Set variables in the environment that starts Claude Code, or under `env` in its settings.json"


def servers_of(parts: Iterable[InstallPart]) -> frozenset[str]:
    """Return the names of the MCP servers that an installation brings."""
    found = (one for part in parts for one in (part.component, *part.along))
    return frozenset(one.name for one in found if one.type == MCP_SERVER)


def refuse_forbidden(component: Component, allowed: Policy, *, alone: bool) -> None:
    """Refuse to install what settings forbid; what is copied `alone` comes in no plugin then.

    Raises:
        InstallRefused: Claude Code would refuse it, or not load it; the message has the reason.
    """
    why = "" if component.installed else allowed(component) or (alone and allowed(replace(component, install=())))
    if why:
        message = f"{component.name} cannot be used here: {why}; ask who wrote them, or choose another component"
        raise InstallRefused(message)


def idle(part: InstallPart, allowed: Policy, kept: Withheld) -> InstallPart:
    """Return a part that says what of it will not run or is denied to the model, because of settings."""
    if not part.files and not part.commands:
        return part
    notes: dict[str, list[str]] = {}
    for one in (part.component, *part.along):
        why = allowed(replace(one, installed=False, install=part.component.install))
        why = why or (_DENIED if kept(one.type, one.call_name, one.plugin) else "")
        if why:
            notes.setdefault(why, []).append(one.name)
    told = [f"of no use here: {few(names, _TOLD)} ({why})" for why, names in notes.items()]
    return replace(part, notes=(*part.notes, *told))


def noted(store: Store, part: InstallPart, checker: RequirementChecker) -> InstallPart:
    """Return a part that says which requirements of its component, and of what sessions will start, are not met."""
    if not part.files and not part.commands:
        return part
    started = [one for one in part.along if one.type in _RUNNING]
    lacking = dict(_lacking(store, (part.component, *started), checker))
    if not lacking:
        return part
    texts = [*dict.fromkeys(lacking.values())]  # a program may be wanted as a binary and as a runtime
    shown = [*texts[:_TOLD], "…"] if len(texts) > _TOLD else texts
    variables = any(key.startswith("env:") for key in lacking)
    return replace(part, notes=(*part.notes, f"it requires {'; '.join(shown)}{_WHERE if variables else ''}"))


def _lacking(store: Store, components: Iterable[Component], checker: RequirementChecker) -> Iterator[tuple[str, str]]:
    names = {
        link.other_name: None
        for component in components
        for link in store.graph.links(component.id)
        if link.relation == DEPENDS_ON and link.outgoing and link.other_type == REQUIREMENT
    }
    checks = (checker.check(name) for name in names)
    yield from ((one.requirement, one.text) for one in checks if one.met is False)
