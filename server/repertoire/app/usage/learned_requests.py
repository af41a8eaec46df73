"""Tells what was learned from each past request: the components selected for it, and how that went."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repertoire.app.key_naming import Unknown, having_key
from repertoire.app.lookup import find_meant
from repertoire.app.usage.usage_cache import copies_among, known_trials
from repertoire.domain.component import REQUEST
from repertoire.domain.event import UNKNOWN
from repertoire.learning.outcomes import Trial
from repertoire.store.database import Store
from repertoire.store.requests import PastRequest

_UNKNOWN = Unknown("past request", "`repertoire stats --requests` lists them")


@dataclass(frozen=True)
class LearnedSelection:
    """A component that was selected for a request: how often, and the outcome of its newest selection, with why."""

    id: str
    name: str
    times: int
    outcome: str = UNKNOWN
    because: str = ""


@dataclass(frozen=True)
class LearnedRequest:
    """A past request and the components that were selected for it, the most selected first."""

    past: PastRequest
    selected: tuple[LearnedSelection, ...]


@dataclass(frozen=True)
class LearnedRequests:
    """The newest past requests, how many more there are, and of which component all are, if of one."""

    requests: tuple[LearnedRequest, ...]
    more: int = 0
    component: str = ""


def learned_requests(store: Store, *, component: str = "", project: str = "", limit: int = 20) -> LearnedRequests:
    """Return the newest past requests, or those for which a component (an id or a name) was selected.

    Those from which nothing is learned come last: the log alone has their text.

    Raises:
        UnknownComponent: no component has this id or name.
        InvalidRequest: several different components have this name.
    """
    found, known = store.requests.past(), known_trials(store)
    meant = {entry.component.id for entry in find_meant(store, component, project=project)} if component else set()
    meant |= {copy for group in store.graph.copies(meant) for copy in group}
    if component:
        found = [one for one in found if meant & one.selected.keys()]
    else:
        found += store.requests.unserved()
    same = copies_among(store, known)
    newest = _newest(known, same)
    told = (LearnedRequest(one, tuple(_selections(store, one, newest, same))) for one in found[:limit])
    return LearnedRequests(tuple(told), max(len(found) - limit, 0), component)


def request_named(store: Store, asked: str) -> PastRequest:
    """Return the past request with this key (with or without `request:`) or beginning of a key.

    Raises:
        UnknownComponent: no request has it, or several begin so.
    """
    known = {one.key: one for one in (*store.requests.unserved(), *store.requests.past())}
    return having_key(
        REQUEST, asked, known.get, lambda begun: [key for key in known if key.startswith(begun)], _UNKNOWN
    )


def _newest(found: Iterable[Trial], same: dict[str, str]) -> dict[tuple[str, str], Trial]:
    """Return the newest selection of each component, by request and the copy that stands for all copies."""
    return {(one.request, same.get(one.node, one.node)): one for one in found if one.selected_at and one.request}


def _selections(
    store: Store, asked: PastRequest, newest: dict[tuple[str, str], Trial], same: dict[str, str]
) -> Iterable[LearnedSelection]:
    for key, times in asked.selected.items():
        entry = store.graph.by_key(key)
        trial = newest.get((asked.key, same.get(key, key)))
        name = entry.component.name if entry is not None else key
        outcome, because = (trial.outcome, trial.because) if trial is not None else (UNKNOWN, "")
        yield LearnedSelection(key, name, round(times), outcome, because)
