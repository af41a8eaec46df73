"""Deletes a person's data so that no bytes remain: rows, full text, vectors, free pages and the write-ahead log."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from repertoire.domain.component import ALTERNATIVE_TO, CONFLICTS_WITH, MENTIONS, REQUEST, TWIN_OF
from repertoire.domain.errors import StoreBusy, StoreFull
from repertoire.domain.event import ASKED, CORRECTED, FAILED, GAP, LASTING_KINDS, LEFT, SELECTED
from repertoire.domain.graph import NEVER, WITH_PROJECT, WITH_PROMPTS, Table
from repertoire.domain.trace import DRAFT, TRACE
from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks
from repertoire.store.requests import LEARNED
from repertoire.store.sketches import SimilarityCache
from repertoire.store.sources import Sources
from repertoire.store.traces import REACHED
from repertoire.store.vectors import Vectors
from repertoire.store.writing import GraphWriter

# Every table except SQLite's own and the shadow tables of virtual tables.
_ALL_TABLES = """SELECT name FROM pragma_table_list
                 WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT GLOB 'sqlite_*' ORDER BY name"""

# The request during which, or after which, an event of a session happened; none after work outside a request.
_REQUEST_BEFORE = f"""SELECT e.request FROM event e WHERE e.session = event.session AND e.id < event.id
                      AND e.kind IN ('{ASKED}', '{SELECTED}', '{FAILED}') ORDER BY e.id DESC LIMIT 1"""


class Privacy:
    """Deletes data; `scrub` takes what is left of it out of the file afterwards."""

    def __init__(self, connection: Connection, sources: Sources, vectors: Vectors) -> None:
        self._db = connection
        self._sources = sources
        self._vectors = vectors
        self._writer = GraphWriter(connection, vectors, "")
        self._asked_kinds = connection.layout.kinds_forgotten(WITH_PROMPTS)
        self._project_kinds = (*self._asked_kinds, *connection.layout.kinds_forgotten(WITH_PROJECT))

    def forget_requests(self) -> int:
        """Delete every stored prompt, all that was learned from prompts, and the event log; return the count of events.

        Traces and the votes on them stay, because a person contributed them on purpose; drafts go.
        """
        told = f"kind IN ({marks(LASTING_KINDS)})"
        with self._forgetting():
            gone = self._delete("event", f"NOT {told}", LASTING_KINDS)
            for table in self._asked_tables():
                if table.name != "event":
                    self._delete(table.name, "1", ())
            self._delete("edge", "source_id = 0 AND file GLOB ?", (f"{LEARNED}*",))
            for space in self._asked_spaces():
                self._vectors.drop_space(space)
            kinds = self._asked_kinds
            self._writer.delete(self._db.rows(f"SELECT id, type FROM node WHERE type IN ({marks(kinds)})", kinds))
            drafts = "SELECT id, type FROM node WHERE id IN (SELECT node_id FROM trace WHERE status = ?)"
            self._writer.delete(self._db.rows(drafts, (DRAFT,)))  # a session proposed them by itself
        return gone

    def forget_request(self, key: str, *, needs: Sequence[str] = ()) -> int:
        """Delete a past request, its events, and what was found in it with others; return the count of events.

        `needs` are its texts, as which nothing may have provided it. What was contributed on purpose stays.
        """
        with self._forgetting():
            # A correction names no request. Without the one that it is of, it would blame the request before.
            gone = self._delete("event", f"kind = '{CORRECTED}' AND ({_REQUEST_BEFORE}) = ?", (key,))
            gone += self._delete(
                "event", f"request = ? AND kind NOT IN ({marks(LASTING_KINDS)})", (key, *LASTING_KINDS)
            )
            needed = f"json_extract(data, '$.need') IN ({marks(needs)})"
            gone += self._delete("event", f"kind = '{GAP}' AND {needed}", tuple(needs))
            self._delete("edge", "source_id = 0 AND file GLOB ?", (f"{LEARNED} *",))
            self._writer.delete(self._db.rows("SELECT id, type FROM node WHERE key = ? AND type = ?", (key, REQUEST)))
        return gone

    def knows_project(self, project: str) -> bool:
        """Tell whether anything is stored that `forget_project` would delete, also what no event tells of."""
        tables = [table for table in self._asked_tables() if table.project]
        return (
            bool(self._of_project(project))
            or bool(self._sources_in(project))
            or any(
                self._db.rows(f"SELECT 1 FROM {it.name} WHERE {it.project} = ? LIMIT 1", (project,)) for it in tables
            )
        )

    def forget_project(self, project: str) -> int:
        """Delete the requests and uses in a project folder, and the sources ingested there; return the count of events.

        A request that was also asked in another project is deleted too; mutes stay.
        """
        with self._forgetting():
            asked = self._of_project(project)
            for (key,) in self._sources_in(project):
                self._sources.remove(key)
                self._forget_likeness(key)
            gone = self._delete(
                "event",
                "project = ?1 OR request <> '' AND request IN (SELECT request FROM event WHERE project = ?1)",
                (project,),
            )
            # Patterns found in all requests together: they are computed again from the requests that stay.
            self._delete("edge", "source_id = 0 AND file GLOB ?", (f"{LEARNED} *",))
            for node_id, key, kind in asked:
                gone += self._delete("event", "request = ?1 OR node = ?1", (key,))
                self._writer.delete([(node_id, kind)])
            for table in self._asked_tables():
                if table.project:
                    self._delete(table.name, f"{table.project} = ?", (project,))
        return gone

    def forget_traces(self, keys: Sequence[str]) -> int:
        """Delete traces with the votes on them and whatever else names them; return how many events went."""
        gone = 0
        with self._forgetting():
            for key in keys:
                gone += self._delete("event", "node = ?", (key,))
                self._delete("mute", "target = ?", (key,))
                self._db.execute("UPDATE trace SET supersedes = '' WHERE supersedes = ?", (key,))
                self._writer.delete(self._db.rows("SELECT id, type FROM node WHERE key = ? AND type = ?", (key, TRACE)))
        return gone

    def _forget_likeness(self, source: str) -> None:
        """Delete the results of comparing a source's components with others, including sentences quoted as evidence."""
        gone = "SELECT id FROM node WHERE type <> 'component'"
        between = f"relation IN ('{TWIN_OF}', '{CONFLICTS_WITH}', '{ALTERNATIVE_TO}', '{MENTIONS}')"
        self._delete("edge", f"source_id = 0 AND {between} AND (source IN ({gone}) OR target IN ({gone}))", ())
        start = f"{source}:"
        self._delete("dismissal", "substr(low, 1, ?2) = ?1 OR substr(high, 1, ?2) = ?1", (start, len(start)))
        SimilarityCache(self._db).drop_unused()

    def forget_all(self) -> int:
        """Delete everything: the event log, requests, mutes, corrections, every source; return the count of events.

        The file stays, empty: other sessions may have it open, and a session that closes a deleted file deletes the log
        of the new one. Revisions go on, so that those sessions see that what they keep in memory is gone.
        """
        kept = {table.name for table in self._db.layout.tables if table.forgotten == NEVER}
        with self._forgetting():
            gone = int(self._db.value("SELECT count(*) FROM event"))
            self._vectors.drop_space("*")
            self._db.execute("PRAGMA defer_foreign_keys = 1")  # every table is emptied, in any order
            for (table,) in self._db.rows(_ALL_TABLES):
                if table not in kept:
                    self._delete(table, "1", ())
            self._db.execute("DELETE FROM meta WHERE key = ?", (REACHED,))
        return gone

    def scrub(self) -> None:
        """Rewrite the file without deleted content, and empty the write-ahead log.

        Raises:
            StoreBusy: another session is reading or writing; deleted content is still in the write-ahead log.
            StoreFull: there is no room to rewrite the file; deleted content may still be in it.
        """
        full = False
        left = f"traces are left in {self._db.path} or its log because"
        for step in (self._rewrite, self._empty_log):  # where there is no room for the first, the second makes some
            try:
                step()
            except StoreFull:  # noqa: PERF203 - the other step is taken all the same
                full = True
            except StoreBusy as error:
                message = f"{left} another session is using it; run the same command again"
                raise StoreBusy(message) from error
        if full:
            message = f"{left} there is no space to rewrite it; free some and run the same command again"
            raise StoreFull(message)

    def _rewrite(self) -> None:
        for text in (view.text for view in self._db.layout.views if view.text):
            self._db.execute(f"INSERT INTO {text}({text}) VALUES ('optimize')")  # drops deleted words
        self._db.execute("VACUUM")

    def _empty_log(self) -> None:
        if self._db.value("PRAGMA wal_checkpoint(TRUNCATE)"):
            message = f"another session is reading the log of {self._db.path}; run the same command again"
            raise StoreBusy(message)

    @contextlib.contextmanager
    def _forgetting(self) -> Iterator[None]:
        with self._db.transaction():
            self._db.execute("INSERT INTO meta VALUES ('forgetting', 1)")  # lets the trigger on `event` delete rows
            yield
            self._delete(
                "event", f"kind = '{LEFT}' AND node NOT IN (SELECT node FROM event WHERE kind <> '{LEFT}')", ()
            )
            self._writer.collect_orphans()
            self._db.execute("DELETE FROM meta WHERE key IN ('forgetting', 'kept')")

    def _of_project(self, project: str) -> list[tuple[Any, ...]]:
        """Return id, key and kind of the requests and traces of a project folder."""
        kinds = self._project_kinds
        of_kind = f"n.type IN ({marks(kinds)})"
        return self._db.rows(
            f"""SELECT n.id, n.key, n.type FROM node n WHERE {of_kind}
                 AND n.key IN (SELECT request FROM event WHERE project = ?)
               UNION SELECT n.id, n.key, n.type FROM node n, json_each(n.data, '$.projects') p
                 WHERE {of_kind} AND p.value = ?""",
            (*kinds, project, *kinds, project),
        )

    def _sources_in(self, project: str) -> list[tuple[Any, ...]]:
        """Return the keys of the sources that were ingested in a project folder."""
        return self._db.rows("SELECT key FROM source WHERE kind = 'project' AND location = ?", (project,))

    def _asked_tables(self) -> list[Table]:
        """Return the tables whose rows are deleted with the requests."""
        return [table for table in self._db.layout.tables if table.forgotten == WITH_PROMPTS]

    def _asked_spaces(self) -> set[str]:
        """Return the vector spaces that hold requests alone."""
        kinds = self._db.layout.kinds
        others = {space for kind in kinds if kind.forgotten != WITH_PROMPTS for space in kind.spaces}
        return {space for kind in kinds for space in kind.spaces} - others

    def _delete(self, table: str, where: str, bindings: tuple[object, ...]) -> int:
        self._db.execute(f"DELETE FROM {table} WHERE {where}", bindings)
        gone = self._db.changes()
        if gone and table in ("node", "edge", "event"):  # what was learned from events ranks too
            self._db.touch(*self._db.layout.views_by_name)
        return gone
