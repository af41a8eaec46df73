"""Decides what a session is told at its start, from the store if there is one, else from the shipped catalogue.

The session hook runs this with any Python from 3.9: it reads the database through the standard library's sqlite3, and
writes nothing but events. A database that is locked, damaged or newer than this version raises; the hook then says
nothing.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from repertoire.app.session.exact_copies import IS_THERE, copies_of, silent_in, twins_of
from repertoire.app.session.greeting import Greeting, worded
from repertoire.boot import home as homes
from repertoire.boot.spool import put_off
from repertoire.catalogue import reading
from repertoire.catalogue.fitting import COMMON, Fit, FittingCandidate, choose, weights
from repertoire.catalogue.profile import Profile, read_profile
from repertoire.domain.event import COMPACTED, COUNTED, LEARNED_KINDS, OFFERED, SELECTED
from repertoire.domain.hint import MAX_ITEMS
from repertoire.domain.text import clean_line, index_text
from repertoire.domain.trust import HINTABLE
from repertoire.learning.hints import SESSION_START, demands, let_through
from repertoire.learning.log_summary import LogSummary, StartUsage, read_summary, recall
from repertoire.learning.outcomes import moment, trials
from repertoire.learning.usage import HALF_LIFE_DAYS, Decay
from repertoire.trust.hidden import suspicion

_KNOWS_CLIENTS = 7
SCHEMA = 7  # the newest schema whose tables are known here; tests hold it equal to the store's
APPLICATION_ID = 0x52455054
RESETTING = ("compact", "clear")  # what was said before is out of the model's sight
_READ_SECONDS, _WRITE_SECONDS = 0.3, 0.1
_CANDIDATES, _BY_WORDS = 300, 60
_LOOKED_AT = 20_000  # characters of a text that is offered
_AGAIN = timedelta(days=14)  # after which a project is told again what it made no use of
_EVENTS = 2_000  # of the log, the newest, that are folded here: others are kept as sums
_SPARE = 3  # beyond what is shown, for those whose text turns out unfit
_OURS = "repertoire"  # a plugin that praises itself teaches nobody anything
_SHIPPED = 0.8  # how sure the shipped catalogue is of its capabilities


class _Event(NamedTuple):
    """A row of the log, as what is learned is folded from it."""

    id: int
    at: str
    kind: str
    session: str
    project: str
    request: str
    node: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class SessionStart:
    """How a session starts. `source`: startup, resume, clear, compact or fork."""

    session: str
    project: str
    source: str
    at: str


def greet(start: SessionStart) -> Greeting:
    """Return the components that fit the project, or an empty greeting; often nothing fits.

    Raises:
        sqlite3.Error, OSError: the store is there but cannot be used now.
    """
    home = homes.locate()
    settings = _settings(home)
    if settings.get("hints") is False:
        return Greeting()
    if _is_no_project(start.project):
        return Greeting()
    shipped = reading.load()
    profile = read_profile(start.project, shipped.signals)
    if not set(profile.terms) - COMMON:
        return Greeting()
    path = homes.database_path(home)
    if path.exists():
        with closing(_connect(path, writing=False)) as db:
            if db.execute("SELECT 1 FROM component LIMIT 1").fetchone():
                return worded(profile, _from_store(db, profile, start, _half_life(settings)))
    if start.source == "resume":  # nothing notes what was said, so it would be said again
        return Greeting()
    return worded(profile, _from_catalogue(shipped, profile, start.project))


def note(start: SessionStart, greeting: Greeting) -> None:
    """Log the greeting, and that a compaction removed earlier ones from the session's context.

    Raises:
        sqlite3.Error: it cannot be written; while the database is locked it is kept beside it instead.
    """
    rows, path = owed(start, greeting), homes.database_path(homes.locate())
    if not rows:
        return
    fields = ("at", "kind", "session", "project", "node")
    try:
        with closing(_connect(path, writing=True)) as db, db:
            db.executemany(
                "INSERT INTO event(at, kind, session, project, node, data) VALUES (?, ?, ?, ?, ?, ?)",
                [(*(row[name] for name in fields), json.dumps(row["data"])) for row in rows],
            )
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        put_off(path.parent, rows)


def notes_folder() -> str:
    """Return the home whose log takes the greeting."""
    return str(homes.locate())


def owed(start: SessionStart, greeting: Greeting) -> Sequence[Mapping[str, Any]]:
    """Return the greeting as rows of the log; none where there is no log yet."""
    if not start.session or not homes.database_path(homes.locate()).exists():
        return ()
    same = {"at": start.at, "session": start.session, "project": start.project}
    rows: list[Mapping[str, Any]] = []
    if start.source in RESETTING:
        rows.append({**same, "kind": COMPACTED, "node": "", "data": {}})
    for rank, item in enumerate(greeting.items, 1):
        told = {"name": clean_line(item.name, 80), "type": item.type, "rank": rank, "why": item.why}
        rows.append({**same, "kind": OFFERED, "node": item.id, "data": {**told, "where": SESSION_START}})
    return rows


def _is_no_project(folder: str) -> bool:
    path = Path(folder).resolve()
    return path in {Path(path.anchor), Path.home().resolve()}


def _settings(home: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((home / "settings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _connect(path: Path, *, writing: bool) -> sqlite3.Connection:
    mode, seconds = ("rw", _WRITE_SECONDS) if writing else ("ro", _READ_SECONDS)
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=seconds)
    try:
        known = _is_known(db)
    except BaseException:
        db.close()
        raise
    if known:
        return db
    db.close()
    message = f"{path} is not a database that this version knows"
    raise sqlite3.DatabaseError(message)


def _is_known(db: sqlite3.Connection) -> bool:
    application, schema = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    return bool(application == APPLICATION_ID and schema <= SCHEMA)


def _from_store(db: sqlite3.Connection, profile: Profile, start: SessionStart, half_life: float) -> list[Fit]:
    muted = silent_in(db, start.project)
    if start.project in muted or (start.source not in RESETTING and _was_greeted(db, start.session)):
        return []
    known = _remembered(db, start, half_life)
    barred = muted | known.harmful
    through = let_through(start.session)
    demand = {} if through else demands(known.hints, SESSION_START)
    told = frozenset[str]() if through else _told_lately(db, start)
    weary = {} if through else {one: n for one, n in _of_twins(db, known.weary).items() if one not in told}
    telling = [term for term in profile.terms if term not in COMMON]
    ids = [*_providing(db, telling), *_worded(db, telling)]
    candidates = [
        replace(candidate, demand=max(demand.get(candidate.type, 1.0), weary.get(candidate.id, 1.0)))
        for candidate, places in _candidates(db, list(dict.fromkeys(ids))[:_CANDIDATES])
        if candidate.plugin != _OURS and not barred.intersection((candidate.id, *places))
    ]
    frequency = dict(
        db.execute(
            "SELECT substr(c.key, 12), count(*) FROM node c JOIN edge e ON e.target = c.id AND e.relation = 'provides' "
            "JOIN component p ON p.node_id = e.source "  # patterns provide too
            f"WHERE c.key IN ({_marks(profile.terms)}) GROUP BY c.key",
            [f"capability:{term}" for term in profile.terms],
        )
    )
    total = db.execute("SELECT count(*) FROM component").fetchone()[0]
    weight = weights(profile.terms, frequency, total)
    fits = choose(candidates, weight, absent=profile.absent, most=MAX_ITEMS + _SPARE)
    others = (fit for fit in fits if not _is_own(start.project, fit.candidate))
    best = islice((whole for fit in others if (whole := _completed(db, fit)) is not None), MAX_ITEMS)
    return [fit for fit in best if fit.candidate.id not in told]


def _told_lately(db: sqlite3.Connection, start: SessionStart) -> frozenset[str]:
    """Return the ids that earlier sessions of this project were told in vain, with their exact copies.

    Nothing takes its place: the next best would only be worse, and a new hint every time.
    """
    since = (moment(start.at) - _AGAIN).isoformat()
    rows = db.execute(
        "SELECT kind, session, node, data FROM event NOT INDEXED WHERE kind IN (?, ?) "
        f"AND project = ? AND at >= ? ORDER BY id DESC LIMIT {_EVENTS}",
        (OFFERED, SELECTED, start.project, since),
    ).fetchall()
    used = {node for kind, _, node, _ in rows if kind == SELECTED}
    named = {
        node
        for kind, session, node, data in rows
        if kind == OFFERED and session != start.session and json.loads(data).get("where") == SESSION_START
    }
    told = named - used
    return frozenset((*told, *copies_of(db, told), *twins_of(db, told)))


def _of_twins(db: sqlite3.Connection, weary: Mapping[str, float]) -> Mapping[str, float]:
    """Map each component to its factor for ignored hints; near copies share one factor."""
    return {**{twin: weary[one] for twin, one in twins_of(db, weary).items()}, **weary}


def _half_life(settings: Mapping[str, Any]) -> float:
    given = os.environ.get("REPERTOIRE_MEMORY_DAYS") or settings.get("memory_days", HALF_LIFE_DAYS)
    return float(given) if str(given).isdigit() else HALF_LIFE_DAYS


def _remembered(db: sqlite3.Connection, start: SessionStart, half_life: float) -> StartUsage:
    """Return the usage of components and hints as the server computes it, from the sums and the newer log."""
    kept = _kept(db, half_life)
    kinds = LEARNED_KINDS if kept is None else tuple(kind for kind in LEARNED_KINDS if kind != COUNTED)
    rows = db.execute(
        "SELECT id, at, kind, session, project, request, node, data FROM event NOT INDEXED "  # from the end
        f"WHERE kind IN ({_marks(kinds)}) AND id > ? ORDER BY id DESC LIMIT {_EVENTS}",
        (*kinds, kept.through if kept is not None else 0),
    )
    events = [_Event._make((*row[:-1], json.loads(row[-1]))) for row in rows]
    clock = Decay(start.at, half_life, start.project)
    return recall(kept, trials(reversed(events)), clock, copies=lambda nodes: copies_of(db, nodes))


def _kept(db: sqlite3.Connection, half_life: float) -> LogSummary | None:
    """Return the sums of the last log compaction, if they were made with the same half-life."""
    row = db.execute("SELECT value FROM meta WHERE key = 'kept'").fetchone()
    kept = read_summary(row[0]) if row is not None else None
    return kept if kept is not None and kept.half_life == half_life else None


def _was_greeted(db: sqlite3.Connection, session: str) -> bool:
    row = db.execute(
        """SELECT 1 FROM event WHERE session = ?1 AND kind = 'offered' AND id > coalesce(
             (SELECT max(id) FROM event WHERE session = ?1 AND kind = 'compacted'), 0) LIMIT 1""",
        (session,),
    ).fetchone()
    return bool(session) and row is not None


def _providing(db: sqlite3.Connection, terms: Sequence[str]) -> list[int]:
    rows = db.execute(
        "SELECT e.source FROM node c JOIN edge e ON e.target = c.id AND e.relation = 'provides' "
        "JOIN component p ON p.node_id = e.source "
        f"WHERE c.key IN ({_marks(terms)}) AND p.type <> 'tool' "
        f"GROUP BY e.source ORDER BY sum(e.weight) DESC, e.source LIMIT {_CANDIDATES}",
        [f"capability:{term}" for term in terms],
    )
    return [row for (row,) in rows]


def _worded(db: sqlite3.Connection, terms: Sequence[str]) -> list[int]:
    phrases = " OR ".join(f'"{index_text(term)}"' for term in terms)
    rows = db.execute(
        "SELECT rowid FROM component_text WHERE component_text MATCH ? "
        f"ORDER BY bm25(component_text, 4.0, 2.0, 0.0), rowid LIMIT {_BY_WORDS}",
        (f"{{name description}} : ({phrases})",),
    )
    return [row for (row,) in rows]


def _candidates(db: sqlite3.Connection, ids: Sequence[int]) -> Iterable[tuple[FittingCandidate, tuple[str, str]]]:
    provided: dict[int, dict[str, float]] = {}
    for node, term, sure in db.execute(
        "SELECT e.source, substr(c.key, 12), max(e.weight) FROM edge e JOIN node c ON c.id = e.target "
        f"WHERE e.relation = 'provides' AND e.source IN ({_marks(ids)}) GROUP BY e.source, c.key",
        ids,
    ):
        provided.setdefault(node, {})[term] = min(sure, 1.0)
    rows = db.execute(
        f"SELECT n.id, n.key, n.name, c.type, substr(c.description, 1, {_LOOKED_AT}), c.installed, c.plugin, "
        "c.popularity, c.repository, coalesce(s.key, '') FROM node n JOIN component c ON c.node_id = n.id "
        # a tool comes with its server, and a line of a list leads elsewhere
        f"LEFT JOIN source s ON s.id = n.source_id WHERE n.id IN ({_marks(ids)}) AND c.type <> 'tool' "
        f"AND instr(n.key, ':https://') = 0 AND (c.risk <= {HINTABLE} OR "
        "EXISTS (SELECT 1 FROM acceptance a WHERE a.content_hash = c.content_hash)) "
        f"AND (c.installed OR NOT {IS_THERE}) {_of_ours(db)}",
        ids,
    )
    for node, key, name, kind, description, installed, plugin, popularity, repository, source in rows:
        terms = provided.get(node, {})
        candidate = FittingCandidate(key, name, kind, description, terms, bool(installed), (), plugin, popularity)
        yield candidate, (repository, source)


def _of_ours(db: sqlite3.Connection) -> str:
    """Return the SQL condition that leaves out other clients' components, where the store has that column."""
    return "AND c.client = ''" if db.execute("PRAGMA user_version").fetchone()[0] >= _KNOWS_CLIENTS else ""


def _is_own(project: str, candidate: FittingCandidate) -> bool:
    """Tell whether a component is the project's own work, which whoever works on it knows."""
    path = candidate.id.rpartition(":")[2].partition("#")[0]
    return path.endswith(".md") and Path(project, path).is_file()


def _completed(db: sqlite3.Connection, fit: Fit) -> Fit | None:
    """Return a fit with its install lines, or None where its text hides something or gives orders."""
    candidate = fit.candidate
    body, install = db.execute(
        f"SELECT substr(c.body, 1, {_LOOKED_AT}), c.install FROM node n JOIN component c ON c.node_id = n.id "
        "WHERE n.key = ?",
        (candidate.id,),
    ).fetchone()
    if suspicion(f"{candidate.name}\n{candidate.description}\n{body}"):
        return None
    return replace(fit, candidate=replace(candidate, install=tuple(map(str, json.loads(install)))))


def _from_catalogue(shipped: reading.Catalogue, profile: Profile, project: str) -> list[Fit]:
    from repertoire.app.session.installed_entries import there  # noqa: PLC0415 - a store knows what is here

    here = there(os.environ, Path(project))
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
        )
        for entry in shipped.components
    ]
    frequency: dict[str, int] = {}
    for candidate in candidates:
        for term in candidate.terms:
            frequency[term] = frequency.get(term, 0) + 1
    weight = weights(profile.terms, frequency, len(candidates))
    fits = choose(candidates, weight, absent=profile.absent, most=MAX_ITEMS + _SPARE)
    return [fit for fit in fits if not _is_own(project, fit.candidate)][:MAX_ITEMS]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
