"""Defines the opened home that every verb gets: its settings, store, model, pipeline and learned usage."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from repertoire.app.clock import today
from repertoire.app.current_project import current_project
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.sources.soundness import Troubles
from repertoire.app.traces.cache import TraceCache
from repertoire.app.usage.usage_cache import UsageCache
from repertoire.domain.freshness import Ageing, freshness
from repertoire.domain.trust import HINTABLE, RECOMMENDABLE
from repertoire.inference.embedder import IdleEmbedder
from repertoire.ports import Reranker
from repertoire.retrieval.pipeline import Pipeline
from repertoire.settings import Settings
from repertoire.sources.policy import policy
from repertoire.sources.withheld import switched_off, withheld
from repertoire.store.database import Store


@dataclass(frozen=True)
class Repertoire:
    """The opened home with everything that verbs need, built once in each process."""

    home: Path
    settings: Settings
    store: Store
    embedder: IdleEmbedder | None  # None where no model can be used; `degraded` says why
    pipeline: Pipeline
    use: UsageCache
    troubles: Troubles
    traces: TraceCache
    packs: PackShelf
    projects: ProjectShelf
    reranker: Reranker | None = None  # a cross-encoder, where one is configured
    degraded: tuple[str, ...] = ()

    def muted(self, project: str = "") -> frozenset[str]:
        """Return the muted ids, sources and projects for a project; without a name, for the current one."""
        return self.store.preferences.silent(project=project or current_project())

    def unfit_for_sets(self, project: str = "") -> frozenset[str]:
        """Return what no set may hold.

        That is what is muted, not for this client or project, turned off, denied to the model or not allowed in it, not
        to be installed, never run, or has an unaccepted critical flag.
        """
        return self._unfit(project) | self.store.flags.withheld(RECOMMENDABLE)

    def unfit_for_hints(self, project: str = "") -> frozenset[str]:
        """Return what no hint may name: that, what did harm, and what has an unaccepted grave flag."""
        return self._unfit(project) | self.use.harmful() | self.store.flags.withheld(HINTABLE)

    def refused(self, project: str) -> frozenset[str]:
        """Return the ids of what settings deny to the model in a project, turn off there, or do not allow."""
        return self._off(project) | self._denied(project)

    def _unfit(self, project: str) -> frozenset[str]:
        here = project or current_project()
        unused = self.store.sources.elsewhere(here) | self._off(here)
        unused |= self.store.graph.shadowed(unused)
        return self.muted(here) | self.store.graph.unobtainable() | unused | self._denied(here)

    def _off(self, project: str) -> frozenset[str]:
        off = switched_off(os.environ, Path(project))
        return self.store.graph.of_plugins(off) if off else frozenset()

    def _denied(self, project: str) -> frozenset[str]:
        kept, allowed = withheld(os.environ, Path(project)), policy(os.environ, Path(project))
        denied = self.store.graph.withheld(kept) if kept else frozenset()
        return denied | self.store.graph.forbidden(allowed) if allowed else denied


def ageing_of(settings: Settings) -> Ageing:
    """Return the half-life and staleness threshold of components from the settings."""
    return Ageing(settings.half_life_days, settings.stale_percent)


def aged_in(ageing: Ageing) -> Callable[[str, str], str]:
    """Return a function that labels a component's age by its type and last change; "" for one that is not stale."""

    def aged(kind: str, changed: str) -> str:
        found = freshness(kind, changed, today(), ageing=ageing)
        return found.label if found is not None and found.stale else ""

    return aged
