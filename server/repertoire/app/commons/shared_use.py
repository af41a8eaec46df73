"""Tells a commons which public components this home used and was offered, and how it went, where a person allows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from repertoire.app.clock import ago, now
from repertoire.app.commons.answers import Answers, answers_of, keep_answers
from repertoire.app.commons.client import HttpClient
from repertoire.app.commons.errors import CommonsRefused
from repertoire.app.commons.membership import Membership, changing, of, write
from repertoire.app.commons.team_use import keep_team_use
from repertoire.app.usage.usage_cache import known_trials
from repertoire.catalogue.reading import load
from repertoire.domain.event import BAD, OK
from repertoire.learning.shared_use import MOST, MOST_PASSED, WEEK_DAYS, WINDOW_DAYS, OwnUse
from repertoire.store.database import Store

_STOPPED = "stopped"  # in `use_sent`: the report is to be deleted there


@dataclass(frozen=True)
class LateUse:
    """The public components that this home used lately, or was offered and did not use, the most often first.

    `worked`: for each used one with more good outcomes than bad, or the other way round, which of the two.
    """

    used: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    worked: Mapping[str, bool] = field(default_factory=dict)


def late_use(store: Store) -> LateUse:
    """Return what a report is made of: components of the shipped catalogue, used or offered lately.

    An exact copy of such a component counts as it; nothing else of this home is named.
    """
    since, public = ago(timedelta(days=WINDOW_DAYS)), {entry.id for entry in load().components}
    lately = [trial for trial in known_trials(store) if trial.at >= since]
    groups = store.graph.copies({trial.node for trial in lately})
    alias = {copy: key for group in groups for key in group if key in public for copy in group}
    alias.update((key, key) for key in public)
    named = [(alias[trial.node], trial) for trial in lately if trial.node in alias]
    used = Counter(key for key, trial in named if trial.selected_at)
    passed = Counter(key for key, _ in named if key not in used)
    good = Counter(key for key, trial in named if trial.selected_at and trial.outcome == OK)
    bad = Counter(key for key, trial in named if trial.selected_at and trial.outcome == BAD)
    told = _first(used, MOST)
    worked = {key: good[key] > bad[key] for key in told if good[key] != bad[key]}
    return LateUse(told, _first(passed, MOST_PASSED), worked)


def report_of(found: LateUse, home: Path) -> OwnUse:
    """Return the report of what was found: outcomes as random answers, which with `--share` a person allows too.

    Who allowed it before offers and outcomes were told has allowed the used components alone.
    """
    answers = answers_of(home)
    if answers is None:
        return OwnUse(found.used)
    return OwnUse(found.used, found.passed_over, answers.of(found.worked))


def next_report(store: Store, home: Path, membership: Membership) -> OwnUse | None:
    """Return what the next sync reports; None where it reports nothing."""
    lately = ago(timedelta(days=WEEK_DAYS)) <= membership.use_sent <= ago(timedelta(days=-WEEK_DAYS))
    if not membership.shares_use or lately or withdraws_next(membership):
        return None
    return report_of(late_use(store), home)


def withdraws_next(membership: Membership) -> bool:
    """Tell whether the next sync deletes the report there."""
    return membership.use_sent == _STOPPED


def allow(home: Path, *, share: bool) -> Membership:
    """Let syncs report what this home uses and was offered, or stop that: the next sync then deletes the report there.

    Raises:
        NotJoined: no commons is joined.
    """
    with changing(home):
        membership = of(home)
        more = share and answers_of(home) is None
        if more:
            keep_answers(home, Answers())
        if share != membership.shares_use or more:
            membership.use_sent = "" if share or not membership.use_sent else _STOPPED
        membership.shares_use = share
        write(home, membership)
    return membership


def sync_use(store: Store, home: Path, membership: Membership, client: HttpClient) -> None:
    """Report once a week what this home uses, where that is allowed, and fetch what the team uses.

    A commons where this key may not report refuses it: that is kept, and stops no sync.

    Raises:
        CommonsError: the commons does not answer.
    """
    membership.use_trouble = ""
    try:
        if withdraws_next(membership):
            _withdraw(home, membership, client)
        elif (report := next_report(store, home, membership)) is not None:
            _send(home, membership, client, report)
        keep_team_use(home, client.team_use())
    except CommonsRefused as error:
        membership.use_trouble = str(error)
    write(home, membership)


def _send(home: Path, membership: Membership, client: HttpClient, report: OwnUse) -> None:
    answers = answers_of(home)
    if answers is None:
        client.report_use(report)
    else:  # kept before they go: what was sent once must not be drawn again
        given = {**answers.given, **report.outcomes}
        keep_answers(home, Answers(answers.secret, given, reported=True))
        keep_answers(home, Answers(answers.secret, given, reported=client.report_use(report)))
    membership.use_sent = now()


def _withdraw(home: Path, membership: Membership, client: HttpClient) -> None:
    client.withdraw_use()
    answers = answers_of(home)
    if answers is not None and answers.reported:
        client.withdraw_all_use()
        keep_answers(home, Answers(answers.secret, answers.given))
    membership.use_sent = ""


def _first(times: Mapping[str, int], most: int) -> tuple[str, ...]:
    return tuple(sorted(times, key=lambda key: (-times[key], key))[:most])
