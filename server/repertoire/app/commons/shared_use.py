"""Tells a commons which public components this home uses, where its person allowed it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

from repertoire.app.clock import ago, now
from repertoire.app.commons.client import CommonsClient
from repertoire.app.commons.errors import CommonsRefused
from repertoire.app.commons.membership import Membership, changing, of, write
from repertoire.app.commons.team_use import keep_team_use
from repertoire.app.usage.usage_cache import known_trials
from repertoire.catalogue.reading import load
from repertoire.learning.shared_use import MOST, WEEK_DAYS, WINDOW_DAYS
from repertoire.store.database import Store

_STOPPED = "stopped"  # in `use_sent`: the report is to be deleted there


def own_use(store: Store) -> list[str]:
    """Return the components that a report holds: of the shipped catalogue, used lately, the most used first.

    An exact copy of such a component counts as it; nothing else of this home is named.
    """
    since, public = ago(timedelta(days=WINDOW_DAYS)), {entry.id for entry in load().components}
    used = Counter(trial.node for trial in known_trials(store) if trial.selected_at >= since)
    alias = {copy: key for group in store.graph.copies(used) for key in group if key in public for copy in group}
    named: Counter[str] = Counter()
    for node, times in used.items():
        if (key := node if node in public else alias.get(node, "")) in public:
            named[key] += times
    return [key for key, _ in sorted(named.items(), key=lambda item: (-item[1], item[0]))[:MOST]]


def allow(home: Path, *, share: bool) -> Membership:
    """Let syncs report what this home uses, or stop that: the next sync then deletes the report there.

    Raises:
        NotJoined: no commons is joined.
    """
    with changing(home):
        membership = of(home)
        if share != membership.shares_use:
            membership.use_sent = "" if share or not membership.use_sent else _STOPPED
        membership.shares_use = share
        write(home, membership)
    return membership


def sync_use(store: Store, home: Path, membership: Membership, client: CommonsClient) -> None:
    """Report once a week what this home uses, where that is allowed, and fetch what the team uses.

    A commons of an earlier version, or one where this key may not report, refuses it: that is kept, and stops no sync.

    Raises:
        CommonsError: the commons does not answer.
    """
    membership.use_trouble = ""
    try:
        _report(store, membership, client)
        keep_team_use(home, client.team_use())
    except CommonsRefused as error:
        membership.use_trouble = str(error)
    write(home, membership)


def _report(store: Store, membership: Membership, client: CommonsClient) -> None:
    if membership.use_sent == _STOPPED:
        client.withdraw_use()
        membership.use_sent = ""
    elif membership.shares_use and membership.use_sent < ago(timedelta(days=WEEK_DAYS)):
        client.report_use(own_use(store))
        membership.use_sent = now()
