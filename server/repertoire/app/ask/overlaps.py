"""Lists pairs of components that conflict, copy or replace each other, with advice; keeps a person's dismissals."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repertoire.domain.component import (
    ALTERNATIVE_TO,
    CATALOGUE,
    CONFLICTS_WITH,
    HOOK,
    MCP_SERVER,
    PLUGIN,
    TWIN_OF,
    Component,
    path_in,
)
from repertoire.domain.digest import digest_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.text import clean_line
from repertoire.ports import Outline
from repertoire.store.database import Store

KINDS = (CONFLICTS_WITH, TWIN_OF, ALTERNATIVE_TO)  # most urgent first
INSTALLED, PARTLY, EVERYWHERE = "installed", "partly", "everywhere"  # both, one, none must be
_MOST = 50
_ID = 8
_SAYS = "says: "
_USER, _PROJECT = "user:", "project:"  # how the keys of sources of a person and of a project begin


@dataclass(frozen=True)
class OverlapSide:
    """One component of an overlap."""

    id: str
    name: str
    type: str
    source: str
    plugin: str
    installed: bool
    muted: bool
    changed: str  # date of its last commit, empty if unknown
    size: int  # length of its text in characters


@dataclass(frozen=True)
class Overlap:
    """A pair of overlapping components: the kind of overlap, its evidence, the one to keep, advice on the other."""

    id: str
    kind: str
    first: OverlapSide
    second: OverlapSide
    evidence: str
    keep: str  # id of the component to keep; empty if a person has to choose
    why: str
    advice: str


@dataclass(frozen=True)
class Overlaps:
    """The listed overlaps, conflicts first, with the numbers of further and dismissed ones."""

    shown: tuple[Overlap, ...]
    more: int
    dismissed: int
    elsewhere: int  # overlaps without an installed component; 0 if the scope includes them
    end: int  # the place after the last listed one: further ones begin there


def overlaps(store: Store, *, scope: str = PARTLY, limit: int = _MOST, offset: int = 0) -> Overlaps:
    """List the overlaps of a scope after the first `offset`, without those that a person dismissed as they are now."""
    found = _find_pairs(store)
    open_ones = [pair for pair in found if not pair.dismissed]
    within = sorted((pair for pair in open_ones if pair.within(scope)), key=_Pair.order)
    return Overlaps(
        shown=tuple(_overlaps_of(store, within[offset : offset + limit])),
        more=max(0, len(within) - offset - limit),
        dismissed=sum(pair.dismissed and pair.within(scope) for pair in found),
        elsewhere=0 if scope == EVERYWHERE else sum(not pair.within(PARTLY) for pair in open_ones),
        end=min(offset + limit, len(within)),
    )


def count_installed(store: Store) -> int:
    """Count the overlaps among installed components that were not dismissed."""
    return sum(not pair.dismissed for pair in _find_pairs(store, installed=True))


def dismiss(store: Store, ids: Iterable[str], *, now: str) -> tuple[Overlap, ...]:
    """Dismiss overlaps by id, all or none; each stays dismissed while the content of both components is unchanged.

    Raises:
        InvalidRequest: no overlap has one of these ids.
    """
    pairs = _chosen(store, ids)
    with store.transaction():
        for pair in pairs:
            store.preferences.dismiss(pair.ends, pair.kind, content=pair.content, now=now)
    return tuple(_overlaps_of(store, pairs))


def list_again(store: Store, ids: Iterable[str]) -> tuple[Overlap, ...]:
    """List dismissed overlaps again, by their ids; all of them or none.

    Raises:
        InvalidRequest: no overlap has one of the ids.
    """
    pairs = _chosen(store, ids)
    with store.transaction():
        for pair in pairs:
            store.preferences.list_again(pair.ends, pair.kind)
    return tuple(_overlaps_of(store, pairs))


@dataclass(frozen=True)
class _Pair:
    """An edge between two components, its ends in the order of their ids."""

    kind: str
    low: Outline
    high: Outline
    weight: float
    evidence: str
    speaker: str  # id of the component whose author states the relation; empty if it was computed
    dismissed: bool = False

    @property
    def ends(self) -> tuple[str, str]:
        return self.low.id, self.high.id

    @property
    def content(self) -> str:
        return _content(self.low, self.high)

    @property
    def exact(self) -> bool:
        """Tell whether both are exact copies, which a mute silences together (`store/light/exact_copies.py`)."""
        low, high = ((one.content_hash, one.type, one.name) for one in (self.low, self.high))
        return low == high

    @property
    def id(self) -> str:
        return digest_of("\0".join((self.kind, *self.ends)))[:_ID]

    def within(self, scope: str) -> bool:
        installed = bool(self.low.installed) + bool(self.high.installed)
        return installed >= {INSTALLED: 2, PARTLY: 1, EVERYWHERE: 0}[scope]

    def order(self) -> tuple[object, ...]:
        installed = bool(self.low.installed) + bool(self.high.installed)
        return -installed, KINDS.index(self.kind), -self.weight, self.ends


def _content(low: Outline, high: Outline) -> str:
    return f"{low.content_hash}:{high.content_hash}"


def _find_pairs(store: Store, *, installed: bool = False) -> list[_Pair]:
    listed = store.graph.outlines(installed=installed)
    outlines = {outline.node_id: outline for outline in listed if outline.source != CATALOGUE}
    dismissed = store.preferences.dismissed()
    places = {row.info.key: Path(row.info.location).expanduser() for row in store.sources.all()}
    found: dict[tuple[str, str, str], _Pair] = {}
    for kind in KINDS:
        for source, target, _, weight, evidence, _ in store.graph.edges_of(kind):
            if source not in outlines or target not in outlines:
                continue
            low, high = sorted((outlines[source], outlines[target]), key=lambda outline: outline.id)
            if _are_apart(low, high) or _is_one_file(low, high, places):
                continue
            key = low.id, high.id, kind
            speaker = outlines[source].id if evidence.startswith(_SAYS) else ""
            gone = dismissed.get(key) == _content(low, high)
            found.setdefault(key, _Pair(kind, low, high, weight, evidence, speaker, gone))
    return list(found.values())


def _are_apart(low: Outline, high: Outline) -> bool:
    """Tell whether two components belong to two projects, and so are never loaded together."""
    return low.source != high.source and low.source.startswith(_PROJECT) and high.source.startswith(_PROJECT)


def _is_one_file(low: Outline, high: Outline, places: Mapping[str, Path]) -> bool:
    """Tell whether two installed components are one file that is reached by a link, too."""
    if not (low.installed and high.installed) or low.content_hash != high.content_hash:
        return False
    files = [places[one.source] / path_in(one.source, one.id) for one in (low, high) if one.source in places]
    with contextlib.suppress(OSError, ValueError):
        return len(files) > 1 and files[0].samefile(files[1])
    return False


def _chosen(store: Store, ids: Iterable[str]) -> list[_Pair]:
    known = {pair.id: pair for pair in _find_pairs(store)}
    wanted = list(dict.fromkeys(given.strip().lower() for given in ids))
    unknown = [given for given in wanted if given not in known]
    if unknown or not wanted:
        listed = ", ".join(clean_line(given, 40) for given in unknown) or "nothing"
        message = f"no overlap has the id {listed}; `overlaps` lists them with their ids"
        raise InvalidRequest(message)
    return [known[given] for given in wanted]


def _overlaps_of(store: Store, pairs: Sequence[_Pair]) -> list[Overlap]:
    stored = store.graph.components({outline.node_id for pair in pairs for outline in (pair.low, pair.high)})
    components = {entry.component.id: entry.component for entry in stored.values()}
    muted = store.preferences.silent()
    told = []
    for pair in pairs:
        first, second = (_side(outline, components[outline.id], muted) for outline in (pair.low, pair.high))
        keep, why = _keep(pair, first, second)
        advice = _advice(pair, first, second, keep)
        told.append(Overlap(pair.id, pair.kind, first, second, pair.evidence, keep, why, advice))
    return told


def _side(outline: Outline, component: Component, muted: frozenset[str]) -> OverlapSide:
    return OverlapSide(
        id=outline.id,
        name=outline.name,
        type=outline.type,
        source=outline.source,
        plugin=outline.plugin,
        installed=bool(outline.installed),
        muted=bool(muted & {outline.id, outline.source, outline.repository}),
        changed=component.last_commit[:10],
        size=len(component.description) + len(component.body),
    )


def _keep(pair: _Pair, first: OverlapSide, second: OverlapSide) -> tuple[str, str]:
    """Return the id of the component to keep and the reason; empty texts if a person must decide."""
    if pair.kind == ALTERNATIVE_TO and pair.speaker:
        return "", ""
    if first.muted != second.muted:
        return (second if first.muted else first).id, "the other is muted already"
    if first.installed != second.installed:
        return (first if first.installed else second).id, "it is the one that is installed"
    if pair.kind != TWIN_OF:
        return "", ""
    own = [side for side in (first, second) if side.source.startswith(_USER)]
    if len(own) == 1 and any(side.source.startswith(_PROJECT) for side in (first, second)):
        return own[0].id, "it is there in every project"
    return _better_copy(first, second)


def _better_copy(first: OverlapSide, second: OverlapSide) -> tuple[str, str]:
    if first.changed and second.changed and first.changed != second.changed:
        return max(first, second, key=lambda side: side.changed).id, "it is newer"
    if first.size != second.size:
        return max(first, second, key=lambda side: side.size).id, "it is more complete"
    return first.id, "they say the same"


def _advice(pair: _Pair, first: OverlapSide, second: OverlapSide, keep: str) -> str:
    if not keep:
        return _CHOICES[pair.kind] if not pair.speaker else _SPOKEN[pair.kind]
    kept, other = (first, second) if keep == first.id else (second, first)
    if other.muted and not (pair.exact and kept.muted):
        return "nothing to do: the other is muted"
    if other.installed:
        removed = (_UNINSTALL.get(other.type, _LOOSE) if not other.plugin else _OF_PLUGIN).format(other.id)
        return removed if pair.exact else f"{removed}; or {_mute(other)}"
    left = f"do not install the other beside {kept.name}"
    return left if pair.exact else f"{left}; {_mute(other)}"


def _mute(side: OverlapSide) -> str:
    return f"silence it: repertoire mute {shlex.quote(side.id)}"


_CHOICES = {
    CONFLICTS_WITH: "keep one of them, or rename one; `repertoire mute ID` silences the other",
    TWIN_OF: "keep one of them",
    ALTERNATIVE_TO: "choose the one that fits; `repertoire mute ID` silences the other",
}
_SPOKEN = {
    CONFLICTS_WITH: "use one of them at a time, as its author says; `repertoire mute ID` silences the other",
    TWIN_OF: "keep one of them",
    ALTERNATIVE_TO: "choose as its author says; `repertoire mute ID` silences the other",
}
# Each names what goes by its id: after a line that names what stays, "it" would be read as that.
_LOOSE = "delete the file of {}"
_UNINSTALL = {
    PLUGIN: "uninstall {} with /plugin",
    MCP_SERVER: "take {} out of the MCP configuration",
    HOOK: "take {} out of the settings",
}
_OF_PLUGIN = "disable the plugin of {} with /plugin where nothing else of it is used"
