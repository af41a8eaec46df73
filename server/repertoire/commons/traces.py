"""Stores a community's traces and votes in PostgreSQL; every change has a revision, by which installations sync."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psycopg.types.json import Jsonb

from repertoire.commons import lexemes
from repertoire.commons.database import Connection
from repertoire.commons.vectors import held
from repertoire.domain.trace import ACTIVE, EXPIRED, SUPERSEDED, Trace, Vote
from repertoire.domain.trust import Flag
from repertoire.store.writing import words_of

QUARANTINED, REMOVED = "quarantined", "removed"  # states that a commons adds: neither is found or synced
PAGE_BYTES = 4_000_000  # of texts in one page of changes; what one revision changed is never cut in two
SEARCHED = (ACTIVE, EXPIRED, SUPERSEDED)
_COLUMNS = (
    "key title context solution tags environment outcome status review_after watch uses signatures author licence "
    "version supersedes flags at"
).split()
_SELECT = f"SELECT number, revision, {', '.join(_COLUMNS)} FROM trace WHERE community = %s"


@dataclass(frozen=True)
class SharedVote(Vote):
    """A vote in a commons; `withdrawn`: the voter is banned, and the vote does not count."""

    withdrawn: bool = False


@dataclass(frozen=True)
class Changes:
    """What changed after a cursor: traces with their states, votes, and the cursor of the next question."""

    traces: tuple[Trace, ...]
    votes: tuple[SharedVote, ...]
    cursor: int
    more: bool

    @property
    def shared(self) -> list[Trace]:
        """Return the traces that installations keep."""
        return [trace for trace in self.traces if trace.status in SEARCHED]

    @property
    def withdrawn(self) -> list[Trace]:
        """Return the traces that installations drop: removed, or quarantined for now."""
        return [trace for trace in self.traces if trace.status not in SEARCHED]


class Traces:
    """The traces of one community, within one transaction."""

    def __init__(self, connection: Connection, community: str) -> None:
        self._db = connection
        self.community = community

    def next_revision(self) -> int:
        """Return a new revision; others who change this community wait for the end of the transaction.

        So revisions become visible in their order, and a cursor never passes a change that is not visible yet.
        """
        row = self._db.execute(
            "UPDATE community SET revision = revision + 1 WHERE community = %s RETURNING revision", (self.community,)
        ).fetchone()
        return int(row[0]) if row else 0

    def put(self, trace: Trace, revision: int) -> None:
        """Store a new trace with its words and errors, and mark what it replaces as superseded, if it is in use."""
        text = " ".join(words_of(" ".join((trace.title, *trace.tags)), trace.context, trace.solution))
        lexeme_vector, length = lexemes.vector(self.community, text)
        values = (self.community, revision, revision, *_row(trace), text, length, lexeme_vector)
        columns = ("community", "number", "revision", *_COLUMNS, "words", "length", "lexemes")
        marks = ", ".join(["%s"] * (len(values) - 1) + ["%s::tsvector"])
        self._db.execute(f"INSERT INTO trace ({', '.join(columns)}) VALUES ({marks})", values)
        self._db.cursor().executemany(
            "INSERT INTO trace_signature VALUES (%s, %s, %s)",
            [(self.community, signature, revision) for signature in trace.signatures],
        )
        self._db.execute(
            "UPDATE community SET traces = traces + 1, words = words + %s WHERE community = %s",
            (length, self.community),
        )
        if trace.supersedes and trace.status in SEARCHED:
            self._set(trace.supersedes, SUPERSEDED, revision)

    def withhold(self, key: str, status: str, revision: int) -> None:
        """Quarantine or remove a trace, and store the state that it had; what it superseded is in use again."""
        before = self.get(key)
        self._db.execute(
            "UPDATE trace SET was = CASE WHEN status = ANY(%s) THEN status ELSE was END, status = %s, revision = %s "
            "WHERE community = %s AND key = %s",
            (list(SEARCHED), status, revision, self.community, key),
        )
        if before is not None and before.status in {ACTIVE, EXPIRED}:
            self._release(before.supersedes)

    def _release(self, key: str) -> None:
        """Let a trace be in use again of which no version that follows is; behind one that is withheld, its own."""
        before = self.get(key) if key else None
        followed = self._db.execute(
            "SELECT 1 FROM trace WHERE community = %s AND supersedes = %s AND status = ANY(%s) LIMIT 1",
            (self.community, key, list(SEARCHED)),
        ).fetchone()
        if before is None or followed:
            return
        self._set(key, ACTIVE, self.next_revision())
        if before.status not in SEARCHED:
            self._release(before.supersedes)

    def _set(self, key: str, status: str, revision: int) -> None:
        """Give a trace a state; one that is withheld gets it when it is restored."""
        shown = list(SEARCHED)
        self._db.execute(
            "UPDATE trace SET status = CASE WHEN status = ANY(%s) THEN %s ELSE status END, "
            "was = CASE WHEN status = ANY(%s) THEN was ELSE %s END, revision = %s WHERE community = %s AND key = %s",
            (shown, status, shown, status, revision, self.community, key),
        )

    def restore(self, key: str, revision: int) -> None:
        """Give a quarantined or removed trace the state that it had before, and drop the flags on it.

        What it supersedes is superseded again.
        """
        self._db.execute(
            "UPDATE trace SET status = coalesce(nullif(was, ''), %s), was = '', revision = %s "
            "WHERE community = %s AND key = %s AND status <> ALL(%s)",
            (ACTIVE, revision, self.community, key, list(SEARCHED)),
        )
        restored = self.get(key)
        if restored is not None and restored.supersedes:
            self._set(restored.supersedes, SUPERSEDED, self.next_revision())
        self._db.execute("DELETE FROM flag WHERE community = %s AND trace = %s", (self.community, key))

    def get(self, key: str) -> Trace | None:
        """Return one trace in any state, or None."""
        rows = self._db.execute(f"{_SELECT} AND key = %s", (self.community, key)).fetchall()
        return _trace(rows[0]) if rows else None

    def by_number(self, numbers: Iterable[int]) -> dict[int, Trace]:
        """Return traces by number; numbers that are none are left out."""
        rows = self._db.execute(f"{_SELECT} AND number = ANY(%s)", (self.community, list(numbers))).fetchall()
        return {int(row[0]): _trace(row) for row in rows}

    def is_embedded(self, key: str) -> bool:
        """Tell whether a trace is found by its meaning, too."""
        row = self._db.execute(
            f"SELECT {held(self._db, self.community).current.problem} IS NOT NULL FROM trace "
            "WHERE community = %s AND key = %s",
            (self.community, key),
        ).fetchone()
        return bool(row and row[0])

    def vote(self, vote: Vote, revision: int) -> None:
        """Store a vote in place of the voter's last one on the same trace."""
        self._db.execute(
            "INSERT INTO vote (community, trace, voter, up, at, tag, note, environment, revision) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (community, trace, voter) DO UPDATE SET "
            "up = excluded.up, at = excluded.at, tag = excluded.tag, note = excluded.note, "
            "environment = excluded.environment, revision = excluded.revision",
            (
                *(self.community, vote.trace, vote.voter, vote.up, vote.at, vote.tag, vote.note),
                *(Jsonb(dict(vote.environment)), revision),
            ),
        )
        self._db.execute("UPDATE community SET votes = votes + 1 WHERE community = %s", (self.community,))

    def withdraw_votes(self, voter: str, *, withdrawn: bool) -> None:
        """Withdraw all votes of a member, or let them count again; each gets a revision of its own."""
        self._db.execute(
            "WITH theirs AS (SELECT trace, row_number() OVER (ORDER BY trace) AS place FROM vote "
            "WHERE community = %(community)s AND voter = %(voter)s), "
            "numbered AS (UPDATE community SET revision = revision + (SELECT count(*) FROM theirs), votes = votes + 1 "
            "WHERE community = %(community)s RETURNING revision - (SELECT count(*) FROM theirs) AS before) "
            "UPDATE vote SET withdrawn = %(withdrawn)s, revision = numbered.before + theirs.place "
            "FROM theirs, numbered "
            "WHERE vote.community = %(community)s AND vote.voter = %(voter)s AND vote.trace = theirs.trace",
            {"community": self.community, "voter": voter, "withdrawn": withdrawn},
        )

    def votes(
        self, *, after: int = 0, until: int | None = None, limit: int | None = None
    ) -> list[tuple[int, SharedVote]]:
        """Return votes with their revisions, in the order of these; withdrawn ones too."""
        rows = self._db.execute(
            "SELECT revision, trace, voter, up, at, tag, note, environment, withdrawn FROM vote WHERE community = %s "
            "AND revision > %s AND revision <= coalesce(%s, revision) ORDER BY revision LIMIT %s",
            (self.community, after, until, limit),
        ).fetchall()
        return [(int(revision), SharedVote(*told)) for revision, *told in rows]

    def authorship(self, keys: Iterable[str]) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Map traces to their authors and tags."""
        rows = self._db.execute(
            "SELECT key, author, tags FROM trace WHERE community = %s AND key = ANY(%s)", (self.community, list(keys))
        ).fetchall()
        return {key: (author, tuple(tags)) for key, author, tags in rows}

    def vouched(self) -> frozenset[str]:
        """Return the members that an administrator vouches for."""
        rows = self._db.execute("SELECT member FROM member WHERE community = %s AND vouched", (self.community,))
        return frozenset(str(member) for (member,) in rows)

    def tags(self) -> dict[str, int]:
        """Count the active traces of each tag, the most used first."""
        rows = self._db.execute(
            "SELECT tag, traces FROM tag_count WHERE community = %s AND traces > 0 ORDER BY traces DESC, tag",
            (self.community,),
        )
        return {str(tag): int(count) for tag, count in rows}

    def flag(self, key: str, member: str, reason: str, at: str) -> int:
        """Store that a member finds a trace harmful; return how many members do, but for banned ones."""
        self._db.execute(
            "INSERT INTO flag VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (self.community, key, member, reason, at),
        )
        row = self._db.execute(
            "SELECT count(*) FROM flag f WHERE community = %s AND trace = %s AND NOT EXISTS "
            "(SELECT 1 FROM ban b WHERE b.community = f.community AND b.member = f.member)",
            (self.community, key),
        ).fetchone()
        return int(row[0]) if row else 0

    def flagged(self) -> list[tuple[Trace, list[tuple[str, str]]]]:
        """Return the traces that are quarantined or flagged, each with who flagged it and why."""
        rows = self._db.execute(
            f"{_SELECT} AND status <> %s AND (status = %s OR key IN (SELECT trace FROM flag WHERE community = %s)) "
            "ORDER BY number",
            (self.community, REMOVED, QUARANTINED, self.community),
        ).fetchall()
        traces = [_trace(row) for row in rows]
        said = self._db.execute(
            "SELECT trace, member, reason FROM flag WHERE community = %s AND trace = ANY(%s) ORDER BY at, member",
            (self.community, [trace.key for trace in traces]),
        ).fetchall()
        return [(trace, [(member, why) for key, member, why in said if key == trace.key]) for trace in traces]

    def changes(self, cursor: int, limit: int) -> Changes:
        """Return what changed after a cursor; where more changed than `limit`, or is long, the first part of it."""
        row = self._db.execute("SELECT revision FROM community WHERE community = %s", (self.community,)).fetchone()
        until = int(row[0]) if row else 0
        votes = self.votes(after=cursor, until=until, limit=limit)
        ends = self._page_ends(cursor, until, limit) + ([votes[-1][0]] if len(votes) == limit else [])
        end = min(ends, default=until)
        rows = self._db.execute(
            f"{_SELECT} AND revision > %s AND revision <= %s ORDER BY revision",
            (
                self.community,
                cursor,
                end,
            ),
        ).fetchall()
        return Changes(
            tuple(map(_trace, rows)), tuple(vote for revision, vote in votes if revision <= end), end, bool(ends)
        )

    def _page_ends(self, cursor: int, until: int, limit: int) -> list[int]:
        """Return the last revisions that a page of traces may hold, because of their number or their length."""
        sizes = self._db.execute(
            "SELECT revision, sum(octet_length(title) + octet_length(context) + octet_length(solution) + octet_length("
            "concat(tags, uses, environment, watch, licence))) OVER (ORDER BY revision) FROM trace "
            "WHERE community = %s AND revision > %s AND revision <= %s "
            "ORDER BY revision LIMIT %s",
            (self.community, cursor, until, limit),
        ).fetchall()
        # One revision changes at most two traces; the last one of a full page may be cut in half.
        ends = [int(sizes[-1][0]) - 1] if len(sizes) == limit else []
        too_long = next((int(revision) for revision, size in sizes if size > PAGE_BYTES), 0)
        return [*ends, max(too_long - 1, int(sizes[0][0]))] if too_long else ends


def _row(trace: Trace) -> tuple[Any, ...]:
    held: Mapping[str, Any] = {
        "tags": list(trace.tags),
        "uses": list(trace.uses),
        "environment": Jsonb(dict(trace.environment)),
        "signatures": Jsonb(dict(trace.signatures)),
        "flags": Jsonb([asdict(flag) for flag in trace.flags]),
    }
    return tuple(_storable(held[name] if name in held else getattr(trace, name)) for name in _COLUMNS)


def _storable(value: Any) -> Any:
    return value.replace("\0", "") if isinstance(value, str) else value


def _trace(row: Sequence[Any]) -> Trace:
    values: dict[str, Any] = dict(zip(_COLUMNS, row[2:], strict=True))
    values["tags"], values["uses"] = tuple(values["tags"]), tuple(values["uses"])
    values["flags"] = tuple(Flag(**flag) for flag in values["flags"])
    return Trace(**values)
