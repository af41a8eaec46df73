"""Silences a component, a trace, a source or a project for good, everywhere or in one project, and undoes it."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.app.naming import unknown
from repertoire.domain.errors import InvalidRequest, UnknownComponent
from repertoire.retrieval.naming import meant
from repertoire.store.database import Store

COMPONENT, SOURCE, PROJECT, TRACE = "component", "source", "project", "trace"


@dataclass(frozen=True)
class Muted:
    """What is silent from now on, or is heard again."""

    targets: tuple[str, ...]
    scope: str
    undone: bool = False
    project: str = ""  # where alone; empty: everywhere


def mute(store: Store, target: str, *, project: str, now: str, here: bool = False) -> Muted:
    """Never suggest this again: an id or name, a trace's key, a source, or `project` for the present one.

    With `here` it is silent in the present project alone. Exact copies of a component are silent with it.

    Raises:
        UnknownComponent: nothing answers to the target; the message says what is spelled nearly so.
    """
    targets, scope = _found(store, target, project)
    if not targets:
        raise UnknownComponent(unknown(store, target, also=", is a source's key from `status`, or `project`"))
    where = project if here and scope != PROJECT else ""
    with store.transaction():
        for found in targets:
            store.preferences.mute(found, scope, project=where, now=now)
    return Muted(targets, scope, project=where)


def unmute(store: Store, target: str, *, project: str) -> Muted:
    """Suggest it and its copies again, here and everywhere; what is not there any more can be unmuted by its id.

    Raises:
        InvalidRequest: it was not muted.
    """
    muted = store.preferences.muted(project=project)
    meant = {target, *_found(store, target, project)[0]}
    candidates = meant.union(*store.graph.copies(meant))  # whoever brings back a copy means what was muted
    silent = tuple(sorted(candidates & set(muted)))
    if not silent:
        listed = ", ".join(muted) or "nothing"
        message = f"{target!r} is not muted; muted now: {listed}"
        raise InvalidRequest(message)
    with store.transaction():
        for found in silent:
            store.preferences.unmute(found, project=project)
    return Muted(silent, muted[silent[0]], undone=True)


def _found(store: Store, target: str, project: str) -> tuple[tuple[str, ...], str]:
    wanted = target.strip()
    if wanted == PROJECT:
        return (project,), PROJECT
    if (entry := store.graph.by_key(wanted)) is not None:
        return (entry.component.id,), COMPONENT
    if (trace := store.traces.get(wanted)) is not None:
        return (trace.key,), TRACE
    place = wanted.rstrip("/").removeprefix("https://").removesuffix(".git")
    for row in store.sources.all():
        if place in {row.info.key, row.info.location, row.info.repository}:
            return (row.info.key,), SOURCE
    return tuple(found.component.id for found in meant(store.graph, wanted)), COMPONENT
