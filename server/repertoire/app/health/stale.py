"""Lists stale components, and installed plugins that differ from their marketplace, with reasons and advice.

Nothing is deleted, updated or fetched: it reads the store, the local clones and the log.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from repertoire.app.clock import today
from repertoire.app.kernel import Repertoire, ageing_of
from repertoire.app.sources.freshness import FreshnessJudge, reasons
from repertoire.app.sources.soundness import Troubles
from repertoire.app.sources.unreachable import LostSource, lost_sources
from repertoire.domain.component import ALTERNATIVE_TO, PART_OF, PLUGIN, TOOL, TWIN_OF
from repertoire.domain.event import OFFERED, SELECTED
from repertoire.domain.freshness import Freshness
from repertoire.domain.soundness import GRAVE, Trouble, soundness
from repertoire.ports import Summary
from repertoire.sources.plugin_diff import CURRENT, GONE, MODIFIED, OUTDATED, UNKNOWN, InstalledCopy, compare
from repertoire.store.database import Store

_MOST = 20


@dataclass(frozen=True)
class StaleComponent:
    """A stale component with its freshness, the reasons, advice, and when it was last recommended and used."""

    id: str
    name: str
    type: str
    source: str
    installed: bool
    freshness: Freshness
    reasons: tuple[str, ...]
    advice: str
    recommended: str = ""
    used: str = ""


@dataclass(frozen=True)
class OddCopy:
    """An installed plugin that differs from its marketplace, with advice."""

    copy: InstalledCopy
    advice: str


@dataclass(frozen=True)
class Unsound:
    """A component that is not stale, but has a grave problem from outside, such as a lost source or an advisory."""

    id: str
    name: str
    type: str
    installed: bool
    troubles: tuple[Trouble, ...]


@dataclass(frozen=True)
class StaleReport:
    """The stale components, installed ones first, then stalest first, with the number of further ones."""

    shown: tuple[StaleComponent, ...]
    more: int
    copies: tuple[OddCopy, ...]
    lost: tuple[LostSource, ...]
    undated: int  # number of components without a known date of change
    current: int  # number of installed plugins that equal their marketplace
    unsound: tuple[Unsound, ...] = ()


@dataclass(frozen=True)
class StaleFilter:
    """The filter of a report: the least age in days (0: by freshness score), installed components only, and a limit."""

    older_than: int = 0
    installed: bool = False
    limit: int = _MOST


def stale(repertoire: Repertoire, wanted: StaleFilter, *, environment: Mapping[str, str]) -> StaleReport:
    """List the stale components with reasons and advice."""
    store = repertoire.store
    rows = _rows(store, wanted)
    judge = FreshnessJudge(store, repertoire.home, ageing_of(repertoire.settings), today())
    troubles, of_all = repertoire.troubles, repertoire.troubles.all()
    found = []
    for row in rows:
        judged = _freshness_of(judge, row, soundness(of_all.get(row.id, ())))
        if judged is not None and (judged.days > wanted.older_than if wanted.older_than else judged.stale):
            found.append((row, judged))
    found.sort(key=lambda pair: (not pair[0].installed, pair[1].score, pair[0].id))
    copies = compare(environment)
    return StaleReport(
        shown=tuple(_stale_components(store, judge, troubles, found[: wanted.limit])),
        more=max(0, len(found) - wanted.limit),
        copies=odd_copies(copies),
        lost=lost_sources(store),
        undated=sum(not row.last_commit for row in rows),
        current=sum(copy.state == CURRENT for copy in copies),
        unsound=tuple(_unsound(rows, of_all, {row.id for row, _ in found}))[: wanted.limit],
    )


def _rows(store: Store, wanted: StaleFilter) -> list[Summary]:
    """Return the components to judge: none that is a tool of another, which alone is installed and kept up to date."""
    parts = {source for source, *_ in store.graph.edges_of(PART_OF)}
    rows = (row for row in store.graph.summaries() if row.installed or not wanted.installed)
    return [row for row in rows if row.type != TOOL or row.node_id not in parts]


def odd_copies(copies: tuple[InstalledCopy, ...]) -> tuple[OddCopy, ...]:
    """Return the installed plugins that differ from their marketplace, with advice."""
    odd = (copy for copy in copies if copy.state not in (CURRENT, UNKNOWN))
    return tuple(OddCopy(copy, _copy_advice(copy)) for copy in odd)


def _copy_advice(copy: InstalledCopy) -> str:
    advice = _COPY_ADVICE[copy.state].format(name=shlex.quote(copy.name))
    return advice if copy.sure else f"if you changed those files, keep them elsewhere first; then {advice}"


def _unsound(rows: list[Summary], troubles: Mapping[str, tuple[Trouble, ...]], told: set[str]) -> Iterator[Unsound]:
    for row in sorted(rows, key=lambda row: (not row.installed, row.id)):
        speaks = troubles.get(row.id, ())
        if row.id not in told and any(trouble.kind in GRAVE for trouble in speaks):
            yield Unsound(row.id, row.name, row.type, row.installed, speaks)


def _stale_components(
    store: Store, judge: FreshnessJudge, troubles: Troubles, found: list[tuple[Summary, Freshness]]
) -> Iterator[StaleComponent]:
    others = _fresher(store, judge, [row for row, _ in found])
    recommended, used = store.events.last(OFFERED), store.events.last(SELECTED)
    for row, judged in found:
        yield StaleComponent(
            row.id,
            row.name,
            row.type,
            row.source,
            row.installed,
            judged,
            (*reasons(judged), *troubles.said(row.id)),
            _advice(row, others.get(row.node_id)),
            recommended.get(row.id, ""),
            used.get(row.id, ""),
        )


def _freshness_of(judge: FreshnessJudge, row: Summary, sound: float = 1.0) -> Freshness | None:
    return judge.of(row.id, row.type, row.source, row.last_commit, sound=sound)


def _fresher(store: Store, judge: FreshnessJudge, rows: list[Summary]) -> dict[int, Summary]:
    """Map each stale component's node id to the freshest of its copies and alternatives that are not stale."""
    wanted = {row.node_id for row in rows}
    if not wanted:
        return {}
    known = {row.node_id: row for row in store.graph.summaries()}
    best: dict[int, tuple[float, Summary]] = {}
    for relation in (TWIN_OF, ALTERNATIVE_TO):
        for source, target, *_ in store.graph.edges_of(relation):
            for here, there in ((source, target), (target, source)):
                other = known.get(there)
                judged = _freshness_of(judge, other) if here in wanted and other is not None else None
                if judged is not None and other is not None and not judged.stale:
                    best[here] = max(best.get(here, (0.0, other)), (judged.score, other), key=lambda pair: pair[0])
    return {node: other for node, (_, other) in best.items()}


def _advice(row: Summary, other: Summary | None) -> str:
    if other is not None:
        return f"{other.name} does the same and is fresher: repertoire explain {shlex.quote(other.id)}"
    if not row.installed:
        return "look for a fresher component before you install this one"
    if row.type == PLUGIN or row.plugin:
        return "check whether its marketplace has a newer version: /plugin; keep it if it still works for you"
    return "check whether its content is still correct; keep it if it is"


_COPY_ADVICE = {
    OUTDATED: "update it: claude plugin update {name}",
    MODIFIED: "an update would replace your changes: copy those files elsewhere first",
    GONE: "uninstall it if you no longer want it: claude plugin uninstall {name}",
}
