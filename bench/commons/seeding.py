"""Fills a commons with mixed traces: rows by COPY, then postings, counts and indexes, as the server makes them.

Each trace joins the problem of one document with the solution of another. Texts, errors and flags of every part come
from the server's own code; the first rows are compared with what it stores for the same traces.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "traces")]

from repertoire.app.traces.fields import TraceFields, key_of, trace_of  # noqa: E402
from repertoire.app.wiring import open_embedder  # noqa: E402
from repertoire.commons import lexemes  # noqa: E402
from repertoire.commons.postings import ENTRY  # noqa: E402
from repertoire.commons.traces import _COLUMNS, Traces, _row  # noqa: E402
from repertoire.domain.trace import ACTIVE, Trace  # noqa: E402
from repertoire.settings import Settings  # noqa: E402
from repertoire.store.stemming import stems  # noqa: E402
from repertoire.store.writing import words_of  # noqa: E402
from speed import NOISE, SEED, mixed, parts  # noqa: E402

TEAM, AUTHOR, NOW = "team", "seed", "2026-01-01T00:00:00Z"
_BLOCK, _BATCH, _COMPARED = 128, 2_000, 40
_VECTORS = ("problem", "solution_vector")


class _Raw(bytes):
    """A value in PostgreSQL's binary form."""


def seed(url: str, folder: Path, counts: Mapping[str, int], *, memory: str = "2GB") -> dict[str, float]:
    """Store so many traces of each community, with vectors; return the seconds of each step, and the megabytes."""
    seconds: dict[str, float] = {}
    all_made, first = [], 0
    for team, count in counts.items():
        all_made.append(_Mixed(folder, count, team=team, first=first))
        first += count
    with psycopg.connect(url, autocommit=True) as connection:
        indexes = [
            row[0]
            for row in connection.execute(
                "SELECT indexdef FROM pg_indexes i WHERE tablename = ANY(%s) AND NOT EXISTS "
                "(SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)",
                (["trace", "trace_signature"],),
            ).fetchall()
        ]
        for definition in indexes:
            connection.execute(f"DROP INDEX {definition.split()[2]}")
        connection.execute("SET session_replication_role = replica")  # no triggers, no checks of foreign keys
        for made in all_made:
            connection.execute("INSERT INTO community (community, created) VALUES (%s, %s)", (made.team, NOW))
            for name, step in (("rows_s", made.copy_rows), ("words_s", made.copy_words)):
                begin = time.perf_counter()
                with connection.transaction():
                    step(connection)
                seconds[name] = round(seconds.get(name, 0) + time.perf_counter() - begin, 1)
            print(made.team, seconds, file=sys.stderr, flush=True)
        connection.execute("SET session_replication_role = origin")
        connection.execute(f"SET maintenance_work_mem = '{memory}'")
        for definition in sorted(indexes, key=lambda one: "hnsw" in one):
            begin = time.perf_counter()
            connection.execute(definition)
            kind = "vector_indexes_s" if "hnsw" in definition else "other_indexes_s"
            seconds[kind] = round(seconds.get(kind, 0) + time.perf_counter() - begin, 1)
            print(definition.split()[2], round(time.perf_counter() - begin, 1), file=sys.stderr, flush=True)
        connection.execute("VACUUM (ANALYZE, FREEZE)")
        all_made[0].compare(connection)
        size = connection.execute("SELECT pg_total_relation_size('trace')").fetchone()
    return {**seconds, "megabytes": round(size[0] / 1e6) if size else 0}


class _Mixed:
    """The traces, words and vectors of a community: of so many pairs of a problem and a solution, from the `first`."""

    def __init__(self, folder: Path, count: int, *, team: str = TEAM, first: int = 0) -> None:
        self.team, self._first = team, first
        self._found, self._count = parts(folder), count
        self._model, self._base, self._whole = _documents(folder)
        self._texts, self._stems = _words(folder)
        self._lexemes: dict[str, int] = {}
        self._held: list[tuple[Any, Any, int, int]] = []  # lexemes and how often, trace, its length
        self._tags: Counter[str] = Counter()
        self._words = 0

    def copy_rows(self, connection: psycopg.Connection[Any]) -> None:
        """Store the rows of the traces, their errors and the community's counts; keep what their words need."""
        columns = ("community", "number", "revision", *_COLUMNS, "words", "length", "lexemes", "model", *_VECTORS)
        types = dict(
            connection.execute(
                "SELECT attname::text, atttypid FROM pg_attribute WHERE attrelid = 'trace'::regclass AND attnum > 0"
            ).fetchall()
        )
        for name in ("tsvector", "halfvec"):
            info = TypeInfo.fetch(connection, name)
            assert info is not None
            kind = type(name, (Dumper,), {"format": Format.BINARY, "oid": info.oid, "dump": lambda _, raw: bytes(raw)})
            connection.adapters.register_dumper(_Raw, kind)
        signatures = []
        with connection.cursor().copy(f"COPY trace ({', '.join(columns)}) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types([types[name] for name in columns])
            for number, (trace, text, (vector, length), near) in enumerate(self._rows(), 1):
                row = (self.team, number, number, *_row(trace), text, length, vector, self._model, *near)
                copy.write_row(row)
                signatures += [(self.team, signature, number) for signature in trace.signatures]
        with connection.cursor().copy("COPY trace_signature FROM STDIN") as copy:
            for one in signatures:
                copy.write_row(one)
        connection.execute(
            "UPDATE community SET revision = %(n)s, traces = %(n)s, words = %(words)s, first_model = %(model)s "
            "WHERE community = %(team)s",
            {"n": self._count, "words": self._words, "model": self._model, "team": self.team},
        )

    def copy_words(self, connection: psycopg.Connection[Any]) -> None:
        """Store the postings in blocks, and the counts of words and tags."""
        names = list(self._lexemes)
        which = np.concatenate([one[0] for one in self._held])
        times = np.concatenate([one[1] for one in self._held])
        sizes = np.array([len(one[0]) for one in self._held])
        numbers = np.repeat(np.array([one[2] for one in self._held], np.int32), sizes)
        lengths = np.repeat(np.array([one[3] for one in self._held], np.int32), sizes)
        self._held.clear()
        order = np.argsort(which, kind="stable")
        entries = np.empty(len(order), ENTRY)
        entries["number"], entries["times"], entries["length"] = numbers[order], times[order], lengths[order]
        ends = np.cumsum(np.bincount(which, minlength=len(names))).tolist()
        with connection.cursor().copy("COPY posting FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["text", "text", "int4", "bytea"])
            for name, begin, end in zip(names, [0, *ends], ends, strict=False):
                for block, at in enumerate(range(begin, end, _BLOCK)):
                    copy.write_row((self.team, name, block, entries[at : min(at + _BLOCK, end)].tobytes()))
        with connection.cursor().copy("COPY word_count FROM STDIN") as copy:
            for name, begin, end in zip(names, [0, *ends], ends, strict=False):
                copy.write_row((self.team, name, end - begin))
        with connection.cursor().copy("COPY tag_count FROM STDIN") as copy:
            for tag, count in self._tags.items():
                copy.write_row((self.team, tag, count))

    def compare(self, connection: psycopg.Connection[Any]) -> None:
        """Check the first rows against what the server's code stores for the same traces in another community."""
        other, compared = "compared", "key, title, context, solution, tags, signatures, words, length"
        with connection.transaction(force_rollback=True):
            connection.execute("INSERT INTO community (community, created) VALUES (%s, %s)", (other, NOW))
            traces = Traces(connection, other)
            for number, (problem, solution) in zip(range(_COMPARED), self._pairs(), strict=False):
                traces.put(self._trace(number, problem, solution), traces.next_revision())
            mine, theirs = (
                connection.execute(
                    f"SELECT {compared}, replace(lexemes::text, community || '/', '') FROM trace "
                    "WHERE community = %s AND number <= %s ORDER BY number",
                    (name, _COMPARED),
                ).fetchall()
                for name in (self.team, other)
            )
            entries = "SELECT lexeme, entries FROM posting WHERE community = %s AND block = 0"
            own = connection.execute(entries, (self.team,)).fetchall()
            short = {name.removeprefix(f"{self.team}/"): held for name, held in own}
            for name, held in connection.execute(entries, (other,)).fetchall():
                mine += [] if short[name.removeprefix(f"{other}/")].startswith(held) else [name]
        if mine != theirs:
            sys.exit("the mixed traces are not what the server stores")

    def _rows(self) -> Iterator[tuple[Trace, str, tuple[_Raw, int], list[_Raw]]]:
        noise = np.random.default_rng(SEED + self._first)
        pairs = self._pairs()
        for begin in range(0, self._count, _BATCH):
            batch = [pair for _, pair in zip(range(min(_BATCH, self._count - begin)), pairs, strict=False)]
            near = [
                _halves(base[[pair[which] for pair in batch]] + NOISE * noise.standard_normal((len(batch), 384), "f4"))
                for which, base in enumerate(self._base)
            ]
            for place, (problem, solution) in enumerate(batch):
                trace = self._trace(begin + place, problem, solution)
                self._tags.update(trace.tags)
                title = words_of(" ".join((trace.title, *trace.tags)))[0]
                text = " ".join((title, self._texts[problem][0], self._texts[solution][1]))
                found = stems(title) + self._stems[problem][0] + self._stems[solution][1]
                yield trace, text, self._vector(found, begin + place + 1), [side[place] for side in near]

    def _pairs(self) -> Iterator[tuple[int, int]]:
        return islice(mixed(self._found, self._first + self._count), self._first, None)

    def _trace(self, number: int, problem: int, solution: int) -> Trace:
        one, other = self._whole[problem], self._whole[solution]
        title = f"{one.title} {number}"
        return replace(
            one,
            key=key_of(title, one.context, other.solution),
            title=title,
            solution=other.solution,
            flags=(),
            status=ACTIVE,
        )

    def _vector(self, found: list[str], number: int) -> tuple[_Raw, int]:
        places: dict[str, list[int]] = defaultdict(list)
        for position, stem in enumerate(found, 1):
            places[stem].append(position)
        lexeme = {stem: lexemes.lexeme(self.team, stem) for stem in places}
        held = self._lexemes
        ids = np.array([held.setdefault(lexeme[stem], len(held)) for stem in places], np.int32)
        told = [min(len(where), 255) for where in places.values()]
        self._held.append((ids, np.array(told, np.int16), number, len(found)))
        self._words += len(found)
        body = b"".join(
            b"%b\0%b" % (lexeme[stem].encode(), np.array([len(where[:255]), *where[:255]], ">u2").tobytes())
            for stem, where in places.items()
        )
        return _Raw(len(places).to_bytes(4, "big") + body), len(found)


@lru_cache(maxsize=1)
def _documents(folder: Path) -> tuple[str, list[Any], list[Trace]]:
    """Return the model, the vectors of all problems and of all solutions, and the documents as traces."""
    found = parts(folder)
    embedder, _ = open_embedder(ROOT, Settings())
    if embedder is None:
        sys.exit("a commons under load needs the model")
    base = [
        np.concatenate(
            [
                embedder.embed_passages([one[which][:400] for one in found[at : at + 64]])
                for at in range(0, len(found), 64)
            ]
        ).astype(np.float32)
        for which in (0, 1)
    ]
    whole = [
        trace_of(
            TraceFields(context[:70].splitlines()[0], context, solution, tuple(tags), author=AUTHOR),
            project="",
            session="",
            now=NOW,
        )
        for context, solution, tags in found
    ]
    return embedder.model, base, whole


@lru_cache(maxsize=1)
def _words(folder: Path) -> tuple[list[tuple[str, ...]], list[tuple[list[str], ...]]]:
    """Return the words of the problem and the solution of each document, and their stems."""
    texts = [tuple(words_of("", one.context, one.solution)[1:]) for one in _documents(folder)[2]]
    return texts, [tuple(list(stems(one)) for one in both) for both in texts]


def _halves(vectors: Any) -> list[_Raw]:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    head = unit.shape[1].to_bytes(2, "big") + bytes(2)
    return [_Raw(head + row.tobytes()) for row in unit.astype(">f2")]
