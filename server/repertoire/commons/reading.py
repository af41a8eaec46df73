"""Reads a community in PostgreSQL as a search reads a home, so that one search and one set of rules serve both.

`CommunityTraces` is a `ports.TraceReader`; the filters and the ranking are the search's own.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import numpy as np
import numpy.typing as npt

from repertoire.app.traces.cache import VoteSummary
from repertoire.app.traces.embed import SPACES
from repertoire.commons import clock
from repertoire.commons.database import Connection
from repertoire.commons.postings import Postings, Word
from repertoire.commons.traces import SEARCHED, Traces
from repertoire.commons.vectors import Columns, Held, as_vector, held
from repertoire.commons.vote_cache import CachedVotes, updated
from repertoire.domain.trace import ACTIVE, Trace, Trust
from repertoire.ports import Among, Embedder, Rows, Vectors
from repertoire.retrieval.arrays import places_among
from repertoire.store.stemming import stems

_SHOWING = 500  # traces of one error
# At a million traces the usual 400 find 92 % of the nearest 20, these 95 %; they take half as long again.
_LARGE, _WIDER = 300_000, 600
# Reading n vectors takes 1.4 microseconds each, an index of N traces, most of them of others, about 6 ms times N / n.
# So all n are read where n * n is less than this times N.
_ALL_READ = 4_000
_K1, _B, _LEAST = 1.2, 0.75, 1e-6  # of BM25, as SQLite's FTS5 computes it
Scores = npt.NDArray[np.float64]
_NONE: Rows = np.empty(0, dtype=np.int64)


@dataclass
class Cache:
    """The cached data of one community, each part with the version at which it was read."""

    rows: tuple[int, Rows, Rows] | None = None
    votes: CachedVotes = field(default_factory=CachedVotes)


class Caches:
    """The caches of all communities, for several threads: each search takes a copy and hands it back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Cache] = {}

    def of(self, community: str) -> Cache:
        """Return a copy of the cache of a community."""
        with self._lock:
            kept = self._kept.get(community, Cache())
            return Cache(kept.rows, kept.votes)

    def keep(self, community: str, cache: Cache) -> None:
        """Replace the cache of a community."""
        with self._lock:
            self._kept[community] = cache


@dataclass(frozen=True)
class _Space:
    """The vectors of one model in one vector space of a community; `ids` has one number for each trace with vectors."""

    connection: Connection
    community: str
    columns: Columns
    space: str
    model: str
    ids: range
    active: Rows
    exact: bool  # read all vectors of the community in place of the index

    def nearest(self, vector: Vectors, allowed: Rows, limit: int) -> dict[int, float]:
        """Return the nearest of the allowed traces with their cosine similarity."""
        if allowed is self.active:
            among, value = "status = %s", ACTIVE
        else:
            among, value = "number = ANY(%s)", allowed.tolist()
        told, column = as_vector(vector), self.columns.spaces[self.space]
        past_index = " + 0" if self.exact and allowed is self.active else ""
        rows = self.connection.execute(
            f"SELECT number, 1 - ({column} <=> %s::halfvec) FROM trace "
            f"WHERE community = %s AND {column} IS NOT NULL AND {self.columns.model} = %s AND {among} "
            f"ORDER BY ({column} <=> %s::halfvec){past_index} LIMIT %s",
            (told, self.community, self.model, value, told, limit),
        ).fetchall()
        return {int(number): float(score) for number, score in rows}


class _Graph:
    """The full text of a community."""

    def __init__(self, reader: CommunityTraces) -> None:
        self._reader = reader

    def match(
        self,
        words: Sequence[str],
        *,
        limit: int,
        weights: tuple[float, float, float],
        among: Among | None = None,
        view: str = "",
    ) -> list[tuple[int, float]]:
        """Return (number, BM25 score) of the traces that hold any of the words, best first."""
        del view, weights  # they are all 1: words are counted over all of a trace
        asked = [found for word in words if (found := tuple(stems(word)))]
        if not asked:
            return []
        numbers, scores = self._reader.bm25(asked, None if among is None else among.node_ids)
        if len(scores) > limit:
            enough = scores >= np.partition(scores, -limit)[-limit]
            numbers, scores = numbers[enough], scores[enough]
        best = np.lexsort((numbers, -scores))[:limit]
        return [(int(numbers[place]), float(scores[place])) for place in best]


class _Rows:
    """The traces of a community by their numbers."""

    def __init__(self, connection: Connection, community: str) -> None:
        self._db, self._community = connection, community

    def by_id(self, numbers: Iterable[int]) -> dict[int, Trace]:
        """Return traces by number."""
        return Traces(self._db, self._community).by_number(numbers)

    def among(self, statuses: Sequence[str], tags: Sequence[str] = ()) -> list[int]:
        """Return the numbers of traces of these states that bear every one of these tags."""
        rows = self._db.execute(
            "SELECT number FROM trace WHERE community = %s AND status = ANY(%s) AND tags @> %s ORDER BY number",
            (self._community, list(statuses), list(tags)),
        )
        return [int(number) for (number,) in rows]

    def words(self, numbers: Sequence[int]) -> dict[int, frozenset[str]]:
        """Return the words of traces, as the full-text index holds them."""
        rows = self._db.execute(
            "SELECT number, words FROM trace WHERE community = %s AND number = ANY(%s)",
            (self._community, list(numbers)),
        )
        return {int(number): frozenset(text.split()) for number, text in rows}

    def showing(self, signatures: Sequence[str]) -> dict[str, list[int]]:
        """Map each signature to the numbers of the traces that show it, the newest where there are very many."""
        rows = self._db.execute(
            "SELECT asked, s.number FROM unnest(%s::text[]) asked, LATERAL (SELECT s.number FROM trace_signature s "
            "JOIN trace t USING (community, number) WHERE s.community = %s AND s.signature = asked "
            "AND t.status = ANY(%s) ORDER BY s.number DESC LIMIT %s) s",
            (list(signatures), self._community, list(SEARCHED), _SHOWING),
        )
        found: dict[str, list[int]] = {}
        for signature, number in rows:
            found.setdefault(str(signature), []).append(int(number))
        return found


@dataclass(frozen=True)
class _Store:
    graph: _Graph
    traces: _Rows


class CommunityTraces:
    """What a search reads of one community, within one transaction."""

    def __init__(self, connection: Connection, community: str, cache: Cache) -> None:
        self._db, self._community, self._cache = connection, community, cache
        self._postings = Postings(connection, community)
        self.store = _Store(_Graph(self), _Rows(connection, community))
        row = connection.execute(
            f"SELECT revision, votes, traces, words, {clock.DAY} FROM community WHERE community = %s", (community,)
        ).fetchone()
        self._revision, self._voted, self._total, self._length, day = row or (0, 0, 0, 0, date.min)
        self.day: date = day  # today, by PostgreSQL's clock

    def ids(self, *, active: bool) -> Rows:
        """Return the numbers of all traces, ascending; where asked, of active ones alone."""
        known, every, in_use = self._cache.rows or (0, _NONE, _NONE)
        if known > self._revision:  # a backup was restored
            known, every, in_use = 0, _NONE, _NONE
        if known < self._revision:
            changed = self._changed(known)
            every, in_use = _updated(every, changed, SEARCHED), _updated(in_use, changed, (ACTIVE,))
            self._cache.rows = self._revision, every, in_use
        return in_use if active else every

    def _changed(self, after: int) -> dict[str, Rows]:
        """Map states to the numbers of the traces that changed after a revision and have that state now."""
        rows = self._db.execute(
            "SELECT status, string_agg(int8send(number), ''::bytea) FROM trace WHERE community = %s AND revision > %s "
            "GROUP BY status",
            (self._community, after),
            binary=True,
        )
        return {str(status): np.frombuffer(numbers, ">i8").astype(np.int64) for status, numbers in rows}

    @cached_property
    def held(self) -> Held:
        """What the vector columns of the community hold."""
        return held(self._db, self._community)

    def spaces(self, model: str) -> list[_Space]:
        """Return the vectors of problems and of solutions by a model; they are empty where it made none."""
        if self._total > _LARGE:
            self._db.execute(f"SET LOCAL hnsw.ef_search = {_WIDER}")
        columns = self.held.readable.get(model, self.held.current)
        row = self._db.execute(
            f"SELECT (SELECT count(*) FROM trace WHERE community = %(community)s AND status = ANY(%(searched)s) "
            f"AND {columns.problem} IS NULL), (SELECT reltuples FROM pg_class "
            "WHERE oid = (SELECT tableoid FROM trace WHERE community = %(community)s LIMIT 1))",
            {"community": self._community, "searched": list(SEARCHED)},
        ).fetchone()
        waiting, indexed = row or (0, 0)  # indexed: of all communities whose traces are in the same table
        embedded = range(len(self.ids(active=False)) - int(waiting))
        active = self.ids(active=True)
        exact = self._total**2 < _ALL_READ * max(indexed or 0, self._total)
        return [_Space(self._db, self._community, columns, space, model, embedded, active, exact) for space in SPACES]

    def embed_latest(self, embedder: Embedder) -> None:
        """Do nothing: the workers embed."""

    def votes(self, day: date) -> VoteSummary:
        """Return all votes, and the weight of each voter, as of a day."""
        traces = Traces(self._db, self._community)
        self._cache.votes = updated(self._cache.votes, traces, self._revision, (self._voted, day), day)
        return self._cache.votes.summary()

    def trust(self, trace: Trace) -> Trust:
        """Return how far to trust a trace today."""
        return self.votes(self.day).trust(trace, self.day)

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """Count the traces that hold each word."""
        split = {word: tuple(stems(word)) for word in words}
        counts = self._postings.frequencies(list(split.values()))
        return {word: counts[found] for word, found in split.items()}

    def bm25(self, words: Sequence[Word], among: Sequence[int] | None) -> tuple[Rows, Scores]:
        """Return the numbers of the traces with any of these words, ascending, and their BM25 scores."""
        allowed = self.ids(active=False) if among is None else np.unique(np.asarray(among, dtype=np.int64))
        average = self._length / max(self._total, 1) or 1.0
        counts = self._postings.frequencies(words)
        numbers, scores = [_NONE], [np.empty(0)]
        held = self._postings.of(words)
        for word in words:
            entries = held[word]
            times = entries["times"].astype(np.float64)
            relative = _K1 * (1 - _B + _B * entries["length"] / average)
            numbers.append(entries["number"].astype(np.int64))
            scores.append(_idf(counts[word], self._total) * times * (_K1 + 1) / (times + relative))
        found, places = np.unique(np.concatenate(numbers), return_inverse=True)
        total = np.bincount(places, np.concatenate(scores), minlength=len(found))
        _, kept = places_among(allowed, found)
        return found[kept], total[kept].astype(np.float64)


def _updated(numbers: Rows, changed: Mapping[str, Rows], statuses: Sequence[str]) -> Rows:
    """Return the numbers with the changed ones taken out, and put in again where they have one of the states now.

    Nothing but the few changed ones is searched or sorted: after each contribution to a million traces, that is much.
    """
    if not changed:
        return numbers
    known = np.concatenate([*changed.values()])
    places, held = places_among(numbers, known)
    kept = np.delete(numbers, places[held])
    added = np.sort(np.concatenate([_NONE, *(changed[status] for status in statuses if status in changed)]))
    return np.insert(kept, np.searchsorted(kept, added), added)


def _idf(count: int, total: int) -> float:
    return max(math.log((total - count + 0.5) / (count + 0.5)), _LEAST) if count < total + 0.5 else _LEAST
