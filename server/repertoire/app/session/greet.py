"""Chooses the components that a session's greeting names, from the store or, without one, the shipped catalogue.

The session hook runs this with any Python from 3.9: it reads the database and the spool through the standard library
alone, and writes nothing. A database that is locked, damaged or newer than this version raises; the hook then says
nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from repertoire.app.session.greeting import Greeting, solved_line, with_fault, with_memory, with_offer, worded
from repertoire.boot import home as homes
from repertoire.boot.session_folders import session_folders
from repertoire.catalogue import reading
from repertoire.catalogue.fitting import COMMON, Fit, FittingCandidate, choose, weights
from repertoire.catalogue.profile import Profile, read_profile
from repertoire.domain.component import COMPONENT, PLUGIN, Component, stands_alone
from repertoire.domain.event import COMPACTED, COUNTED, HELD, LEARNED_KINDS, MEMORY_OFFERED, OFFERED, SELECTED, SHOWN
from repertoire.domain.hint import MAX_ITEMS
from repertoire.domain.invocation import MATCHED, NOBODY, PERSON, call_name
from repertoire.domain.soundness import is_retired
from repertoire.domain.text import clean_line
from repertoire.domain.tokens import tokens_of
from repertoire.learning.arbiter import (
    COMPONENT_TOKENS,
    HINT_THRESHOLD,
    MOMENT_TOKENS,
    TRACE,
    Candidate,
    Occasion,
    arbitrate,
)
from repertoire.learning.hints import SESSION_START, demands, is_exploration
from repertoire.learning.log_summary import LogSummary, StartUsage, read_summary, recall
from repertoire.learning.outcomes import moment, trials
from repertoire.learning.trace_hints import KINDS, trace_hints
from repertoire.learning.usage import HALF_LIFE_DAYS, Decay
from repertoire.settings import Settings, load_valid
from repertoire.sources.policy import policy
from repertoire.sources.withheld import switched_off, withheld
from repertoire.store.light.start import Described, StartReader
from repertoire.trust.hidden import suspicion

FORKED = "fork"  # its model still sees the greeting, which the log has under the other session's id
GOING_ON = ("resume", FORKED)  # session sources after which the model still sees earlier hints
RESETTING = ("compact", "clear")  # session sources after which the model no longer sees earlier hints
_AGAIN = timedelta(days=14)  # a project's greeting repeats an unused component only after this time
_SESSIONS, _OFFERS = 3, 3  # earlier sessions before a project's memory is offered; projects that are offered one
_SPARE = 3  # further candidates, in place of those whose text turns out suspicious
_SAME_PROJECT = 0.45  # probability that a trace of a project helps in its next session
_OURS = "repertoire"  # our own plugin, which no greeting names
_SHIPPED = 0.8  # confidence of capabilities from the shipped catalogue


@dataclass(frozen=True)
class SessionStart:
    """The start of a session, as its hook reports it; `source` is startup, resume, clear, compact or fork."""

    session: str
    project: str
    source: str
    at: str


def greet(start: SessionStart) -> Greeting:
    """Return a greeting with the components that fit the project; it is empty if none fits, as is often so.

    Raises:
        sqlite3.Error, OSError: the database exists but cannot be used now.
    """
    home = homes.locate()
    settings, faults = load_valid(home, os.environ)
    if not settings.hints or start.source == FORKED or _is_no_project(start.project):
        return Greeting()
    greeting = _greeting(start, home, settings)
    return with_fault(greeting, faults[0]) if faults and greeting.text else greeting


def _greeting(start: SessionStart, home: Path, settings: Settings) -> Greeting:
    greeting, most = _fitting(start, home, settings), MOMENT_TOKENS[SESSION_START]
    if start.source in GOING_ON:
        return greeting
    if homes.projects_path(home).is_dir():
        from repertoire.app.session.project_now import project_now  # noqa: PLC0415 - a quarter of a start's time

        greeting = with_memory(greeting, project_now(home, start.project), most_tokens=most)
    if start.source == "startup" and settings.offer_memory and _may_offer_memory(home, start):
        greeting = with_offer(greeting, most_tokens=most)
    return greeting


def _may_offer_memory(home: Path, start: SessionStart) -> bool:
    """Tell whether a start may say how a memory is begun: in a repository at work, once, and seldom at all."""
    path = homes.database_path(home)
    if not Path(start.project, ".git").exists() or not path.exists() or not os.access(path, os.W_OK):
        return False
    from repertoire.app.projects.places import root_of  # noqa: PLC0415 - most starts end before

    if root_of(home, start.project):
        return False
    with closing(StartReader(path)) as db:
        offered = db.memory_offers()
        known = any(project == start.project for project, _ in offered)
        lately = (moment(start.at) - _AGAIN).isoformat()
        if known or len(offered) >= _OFFERS or any(at >= lately for _, at in offered):
            return False
        return db.asked_in(start.project, _SESSIONS) >= _SESSIONS and start.project not in db.silent_in(start.project)


def _fitting(start: SessionStart, home: Path, settings: Settings) -> Greeting:
    shipped = reading.load()
    profile = read_profile(start.project, shipped.signals)
    if not set(profile.terms) - COMMON:
        return Greeting()
    path = homes.database_path(home)
    if path.exists():
        with closing(StartReader(path)) as db:
            if db.holds_components():
                return _with_store(db, profile, start, settings)
    if start.source == "resume":  # without a log nothing shows that the session had a greeting
        return Greeting()
    return worded(profile, _from_catalogue(shipped, profile, start.project))


def _with_store(db: StartReader, profile: Profile, start: SessionStart, settings: Settings) -> Greeting:
    """Return the greeting of components and traces that fit and that the arbiter lets it name."""
    fits = _from_store(db, profile, start, float(settings.memory_days))
    solved = _solved(db, start, settings)
    shown, held = _within_budget(db, start, fits, solved)
    named = [trace for trace in solved if trace[0] in shown]
    greeting = worded(profile, [fit for fit in fits if fit.candidate.id in shown], named)
    return replace(greeting, held={key: held[key] for key, _ in solved if key in held})


def owed(start: SessionStart, greeting: Greeting) -> Sequence[Mapping[str, Any]]:
    """Return the spool rows of a greeting: a compaction, if one removed earlier hints, and what was offered.

    There are none if the session has no id or the database cannot be written.
    """
    if not start.session or not os.access(homes.database_path(homes.locate()), os.W_OK):
        return ()
    same = {"at": start.at, "session": start.session, "project": start.project}
    rows: list[Mapping[str, Any]] = []
    if start.source in RESETTING:
        rows.append({**same, "kind": COMPACTED, "node": "", "data": {}})
    for rank, item in enumerate(greeting.items, 1):
        told = {"name": clean_line(item.name, 80), "type": item.type, "rank": rank, "why": item.why}
        told |= {"where": SESSION_START, "installed": item.installed}  # whether an installation can follow from it
        rows.append({**same, "kind": OFFERED, "node": item.id, "data": told})
    for rank, (key, title) in enumerate(greeting.solved, 1):
        tokens = tokens_of(solved_line(key, title))
        told = {"where": SESSION_START, "type": TRACE, "rank": rank, "tokens": tokens}
        rows.append({**same, "kind": SHOWN, "node": key, "data": told})
    if greeting.offers_memory:
        rows.append({**same, "kind": MEMORY_OFFERED, "node": "", "data": {}})
    for key, why in greeting.held.items():
        rows.append({**same, "kind": HELD, "node": key, "data": {"where": SESSION_START, "type": TRACE, "why": why}})
    return rows


def _is_no_project(folder: str) -> bool:
    path = Path(folder).resolve()
    return path in {Path(path.anchor), Path.home().resolve()}


def _from_store(db: StartReader, profile: Profile, start: SessionStart, half_life: float) -> list[Fit]:
    muted = db.silent_in(start.project)
    if start.project in muted or (start.source not in RESETTING and db.was_greeted(start.session)):
        return []
    known = _remembered(db, start, half_life)
    elsewhere = db.elsewhere(start.project)
    barred = muted | known.harmful | elsewhere
    told = frozenset[str]() if is_exploration(start.session) else _told_lately(db, start)
    weary = {one: n for one, n in _of_twins(db, known.weary).items() if one not in told}
    occasion = Occasion(SESSION_START, start.session, weary=weary)
    telling = [term for term in profile.terms if term not in COMMON]
    off = {_OURS, *(name.rpartition("@")[0] for name in switched_off(os.environ, Path(start.project)))}
    candidates = [
        replace(candidate, demand=occasion.demand(candidate.type, candidate.id))
        for found in db.candidates(telling, sorted(elsewhere))
        if (candidate := _candidate(found)).plugin not in off
        and not barred.intersection((candidate.id, found.repository, found.source))
        and (found.installed or not is_retired(found.description))
    ]
    candidates = _allowed(candidates, start.project, db)
    frequency, total = db.frequency(profile.terms), db.components()
    weight = weights(profile.terms, frequency, total)
    fits = choose(candidates, weight, absent=profile.absent, most=MAX_ITEMS + _SPARE)
    others = (fit for fit in fits if not _is_own(start.project, fit.candidate))
    whole = (whole for fit in others if (whole := _completed(db, fit)) is not None)
    best = islice(_not_withheld(whole, start.project), MAX_ITEMS)
    occasion = replace(occasion, demands=demands(known.hints, SESSION_START))
    likely = _still_fitting(candidates, weight, profile, occasion)
    return [fit for fit in best if fit.candidate.id not in told and fit.candidate.id in likely]


def _still_fitting(
    candidates: Sequence[FittingCandidate], weight: Mapping[str, float], profile: Profile, occasion: Occasion
) -> Collection[str]:
    """Return the ids of what still fits where kinds that are rarely followed must fit better.

    What falls out leaves its place empty: others in its place would fit less, and be new hints every time.
    """
    if not occasion.demands:
        return {candidate.id for candidate in candidates}
    demanded = [replace(one, demand=occasion.demand(one.type, one.id)) for one in candidates]
    fits = choose(demanded, weight, absent=profile.absent, most=MAX_ITEMS + _SPARE)
    return {fit.candidate.id for fit in fits}


def _solved(db: StartReader, start: SessionStart, settings: Settings) -> list[tuple[str, str]]:
    """Return the traces of this project that a session is told of; none again where the session goes on."""
    if start.source in GOING_ON or not settings.trace_hints:
        return []
    muted = db.silent_in(start.project)
    traces = [] if start.project in muted else db.traces_of(start.project, MAX_ITEMS + len(muted))
    return [trace for trace in traces if trace[0] not in muted][:MAX_ITEMS]


def _within_budget(
    db: StartReader, start: SessionStart, fits: Sequence[Fit], solved: Sequence[tuple[str, str]]
) -> tuple[Collection[str], Mapping[str, str]]:
    """Return what the arbiter lets a greeting name, and why not the rest; the fits have met their demand."""
    rare = trace_hints(db.newest_events(KINDS, 0), Decay(start.at, HALF_LIFE_DAYS, start.project))
    occasion = Occasion(SESSION_START, start.session, demands=rare.demands(SESSION_START), weary=rare.weary)
    traces = [Candidate(key, TRACE, _SAME_PROJECT, tokens_of(solved_line(key, title))) for key, title in solved]
    components = [Candidate(fit.candidate.id, COMPONENT, HINT_THRESHOLD, COMPONENT_TOKENS) for fit in fits]
    decision = arbitrate([*components, *traces], occasion)
    return decision.shown, decision.held


def _told_lately(db: StartReader, start: SessionStart) -> frozenset[str]:
    """Return the ids that greetings of this project named lately and nobody used, as them or a copy, with their copies.

    No other component takes their place: the next best would fit less, and be a new hint every time.
    """
    since = (moment(start.at) - _AGAIN).isoformat()
    rows = db.told_since(start.project, since)
    used = {node for kind, _, node, _ in rows if kind == SELECTED}
    named = {
        node
        for kind, session, node, data in rows
        if kind == OFFERED and session != start.session and data.get("where") == SESSION_START
    }
    told = named.difference(used, db.copies_of(used))
    return frozenset((*told, *db.copies_of(told), *db.twins_of(told)))


def _of_twins(db: StartReader, weary: Mapping[str, float]) -> Mapping[str, float]:
    """Map each component to its hint fatigue, the factor for ignored hints; near copies share one factor."""
    return {**{twin: weary[one] for twin, one in db.twins_of(weary).items()}, **weary}


def _remembered(db: StartReader, start: SessionStart, half_life: float) -> StartUsage:
    """Return the usage of components and hints as the server computes it, from the log's summary and newer events."""
    kept = _kept(db, half_life)
    kinds = LEARNED_KINDS if kept is None else tuple(kind for kind in LEARNED_KINDS if kind != COUNTED)
    events = db.newest_events(kinds, kept.through if kept is not None else 0)
    clock = Decay(start.at, half_life, start.project)
    return recall(kept, trials(events), clock, copies=db.copies_of)


def _kept(db: StartReader, half_life: float) -> LogSummary | None:
    """Return the summary of the last log compaction; None if it has another half-life."""
    written = db.log_summary()
    kept = read_summary(written) if written is not None else None
    return kept if kept is not None and kept.half_life == half_life else None


def _candidate(found: Described) -> FittingCandidate:
    terms, kind = found.terms, found.type
    return FittingCandidate(
        found.key, found.name, kind, found.description, terms, found.installed, (), found.plugin, found.popularity
    )


def _is_own(project: str, candidate: FittingCandidate) -> bool:
    """Return whether a component is a file of the project or of what is around it, which its authors know."""
    path = candidate.id.rpartition(":")[2].partition("#")[0]
    return path.endswith(".md") and any((folder / path).is_file() for folder in session_folders(project))


def _completed(db: StartReader, fit: Fit) -> Fit | None:
    """Return a fit with what a greeting says of it; None if nobody can have or start it, or its text is suspicious."""
    candidate = fit.candidate
    text = db.text(candidate.id)
    if text.invocation in (NOBODY, MATCHED) or not (candidate.installed or text.install):
        return None
    if suspicion(f"{candidate.name}\n{candidate.description}\n{text.body}"):
        return None
    along, whole = db.coming_along(candidate.id)
    told = replace(
        candidate,
        install=text.install,
        along=along,
        whole=whole,
        alone=stands_alone(candidate.type, text.marketplace, text.body),
        call=call_name(candidate.type, candidate.name, text.path, candidate.plugin),
        by_person=text.invocation == PERSON,
    )
    return replace(fit, candidate=told)


def _from_catalogue(shipped: reading.Catalogue, profile: Profile, project: str) -> list[Fit]:
    from repertoire.app.session.installed_entries import installed_entries  # noqa: PLC0415 - not needed with a store

    here = installed_entries(os.environ, Path(project))
    units = Counter((entry.plugin, entry.marketplace) for entry in shipped.components if entry.type != PLUGIN)
    candidates = [
        FittingCandidate(
            entry.id,
            entry.name,
            entry.type,
            entry.description,
            dict.fromkeys(entry.capabilities, _SHIPPED),
            installed=here.by_plugin(entry) or here.by_itself(entry),
            install=entry.install,
            plugin="" if here.by_itself(entry) and not here.by_plugin(entry) else entry.plugin,
            along=units[entry.plugin, entry.marketplace] - (entry.type != PLUGIN) if entry.marketplace else 0,
            whole=False,
            alone=stands_alone(entry.type, entry.marketplace, ""),
            marketplace=entry.marketplace,
        )
        for entry in shipped.components
    ]
    candidates = _allowed(candidates, project)
    frequency: dict[str, int] = {}
    for candidate in candidates:
        for term in candidate.terms:
            frequency[term] = frequency.get(term, 0) + 1
    weight = weights(profile.terms, frequency, len(candidates))
    fits = choose(candidates, weight, absent=profile.absent, most=MAX_ITEMS + _SPARE)
    others = (fit for fit in fits if not _is_own(project, fit.candidate))
    return list(islice(_not_withheld(others, project), MAX_ITEMS))


def _not_withheld(fits: Iterable[Fit], project: str) -> Iterator[Fit]:
    """Yield the fits but those of components that settings keep from the model in the project, installed or not."""
    kept = withheld(os.environ, Path(project))
    for fit in fits:
        one = fit.candidate
        if not kept(one.type, one.call or call_name(one.type, one.name, "", one.plugin), one.plugin):
            yield fit


def _allowed(candidates: list[FittingCandidate], project: str, db: StartReader | None = None) -> list[FittingCandidate]:
    """Return the candidates that settings do not forbid in the project; a server's command is not known here."""
    allowed = policy(os.environ, Path(project))
    if not allowed:
        return candidates
    found = []
    for one in candidates:
        marketplace, install = one.marketplace, one.install
        if db is not None:
            text = db.text(one.id)
            marketplace, install = text.marketplace, text.install
        whole = Component(
            one.id,
            one.type,
            one.name,
            plugin=one.plugin,
            marketplace=marketplace,
            installed=one.installed,
            install=install,
        )
        if not allowed(whole):
            found.append(one)
    return found
