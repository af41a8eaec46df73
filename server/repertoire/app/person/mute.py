"""Mutes a component, a trace, a source or a project, everywhere or in one project, until a person unmutes it."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass

from repertoire.app.lookup import find_suggested, unknown_component_text
from repertoire.domain.component import PART_OF, PLUGIN
from repertoire.domain.errors import InvalidRequest, UnknownComponent
from repertoire.ingestion.addresses import repository_of
from repertoire.ports import StoredComponent
from repertoire.retrieval.naming import find_by_name
from repertoire.store.database import Store
from repertoire.store.light.exact_copies import muted_at

COMPONENT, SOURCE, PROJECT, TRACE = "component", "source", "project", "trace"
_EVERYTHING = frozenset(("all", "everything", "suggestions", "*"))
_SWITCH = (
    "no single target stands for all suggestions: `project` stands for those in the present project, and everywhere "
    "they are turned off by the switch in the plugin's settings (/plugin), or by REPERTOIRE_OFF=1 in the environment"
)


@dataclass(frozen=True)
class Muted:
    """The targets that were muted, or unmuted if `undone`."""

    targets: tuple[str, ...]
    scope: str
    undone: bool = False
    project: str = ""  # the mute holds in this project only; empty: everywhere
    plugin: bool = False  # a plugin, whose parts are silent with it
    silenced_by: tuple[str, ...] = ()  # muted sources and plugins that keep silent what was unmuted


def mute(store: Store, target: str, *, project: str, now: str, here: bool = False) -> Muted:
    """Mute a component by id or name, a trace by key, a source, or, with `project`, the current project.

    Of several components of a name the one that was suggested last is meant. With `here` the mute holds in the current
    project only. Exact copies of a component are muted with it, what says nearly the same under its name, and the parts
    of a plugin.

    Raises:
        UnknownComponent: the target is unknown; the message suggests similar names.
        InvalidRequest: several different components have this name, and none was suggested.
    """
    targets, scope = _targets_of(store, target, project)
    if not targets and target.strip().casefold() in _EVERYTHING:
        raise UnknownComponent(_SWITCH)
    if not targets:
        raise UnknownComponent(
            unknown_component_text(store, target, also=", is a source's key from `status`, or `project`")
        )
    if len(targets) > 1:
        targets = tuple(found.component.id for found in find_suggested(store, target, project=project))
    where = project if here and scope != PROJECT else ""
    with store.transaction():
        for found in targets:
            store.preferences.mute(found, scope, project=where, now=now)
    return Muted(targets, scope, project=where, plugin=any(_is_plugin(store, found) for found in targets))


def unmute(store: Store, target: str, *, project: str) -> Muted:
    """Unmute a target and what is muted with it everywhere; a component that no longer exists is found by its id.

    Raises:
        InvalidRequest: the target is not muted.
    """
    muted = store.preferences.muted(project=project)
    targets, scope = _targets_of(store, target, project)
    meant = {target, *targets, *(muted_at(project) if scope == PROJECT else ())}
    # a person may name another copy than the muted one
    candidates = meant.union(*store.graph.copies(meant), store.graph.namesakes(meant))
    silent, wholes = tuple(sorted(candidates & set(muted))), _muted_wholes(store, candidates, set(muted) - candidates)
    if not silent:
        if wholes:
            message = f"{target!r} is muted with what it is part of; undo that of {', '.join(wholes)}"
        else:
            message = f"{target!r} is not muted; muted now: {', '.join(muted) or 'nothing'}"
        raise InvalidRequest(message)
    with store.transaction():
        for found in silent:
            store.preferences.unmute(found, project=project)
    return Muted(silent, muted[silent[0]], undone=True, silenced_by=wholes)


def _muted_wholes(store: Store, keys: Collection[str], muted: Container[str]) -> tuple[str, ...]:
    """Return the muted sources and plugins of components, if each of them lies in one."""
    found = [entry for key in sorted(keys) if (entry := store.graph.by_key(key)) is not None]
    around = [[one for one in _wholes(store, entry) if one in muted] for entry in found]
    return tuple(dict.fromkeys(one for wholes in around for one in wholes)) if all(around) else ()


def _is_plugin(store: Store, key: str) -> bool:
    entry = store.graph.by_key(key)
    return entry is not None and entry.component.type == PLUGIN


def _wholes(store: Store, entry: StoredComponent) -> tuple[str, ...]:
    links = store.graph.links(entry.component.id)
    plugins = (link.other for link in links if link.relation == PART_OF and link.outgoing)
    return entry.source, entry.component.repository, *plugins


def _targets_of(store: Store, target: str, project: str) -> tuple[tuple[str, ...], str]:
    wanted = target.strip()
    if wanted == PROJECT:
        return (project,), PROJECT
    if (entry := store.graph.by_key(wanted)) is not None:
        return (entry.component.id,), COMPONENT
    if (trace := store.traces.get(wanted)) is not None:
        return (trace.key,), TRACE
    place = wanted.rstrip("/").removeprefix("https://").removesuffix(".git")
    places = {place, f"github.com/{place}", repository_of(wanted)} if place else set[str]()
    for row in store.sources.all():
        if places & {row.info.key, row.info.location, row.info.repository} - {""}:  # many sources have no repository
            return (row.info.key,), SOURCE
    return tuple(found.component.id for found in find_by_name(store.graph, wanted)), COMPONENT
