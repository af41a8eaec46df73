#!/usr/bin/env python3
"""Compare commons of several sizes: FOLDER holds the questions, each HOME a commons that load.py seeded and kept.

All servers run at once and get the same questions in turn, one at a time, so that whatever else runs on the machine
meets all of them. Beside each search, PostgreSQL alone is asked for the nearest vectors of the same question.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psycopg
from load import ROOT, make_keys, prepared, questions, serving, spread
from seeding import TEAM

from repertoire.app.wiring import open_embedder  # found by load's sys.path
from repertoire.commons.database import Database
from repertoire.commons.reading import Cache, CommunityTraces
from repertoire.commons.vectors import as_vector
from repertoire.settings import Settings

_CHUNK, _DEEP = 20_000, 200  # rows compared at once; neighbours that a search asks for


class Sized:
    """A running commons of one size, and what its requests took in milliseconds."""

    def __init__(self, home: Path, stack: ExitStack, given: argparse.Namespace) -> None:
        url, _ = prepared(home, given)
        self.url = url
        (key,) = make_keys(home, url, 1)
        (server,) = stack.enter_context(serving(home, url, given))
        self._http = stack.enter_context(
            httpx.Client(base_url=f"{server.url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=60)
        )
        self._db = stack.enter_context(psycopg.connect(url, autocommit=True))
        self.times: dict[str, list[float]] = {"search": [], "pgvector alone": [], "contribute": [], "tags": []}

    def ask(self, question: dict[str, str], vector: str, name: str) -> None:
        """Search, ask PostgreSQL alone, contribute, and count tags, once each."""
        body = {"title": f"growth {name}", "context": f"It fails in the way of {name}.", "solution": "Try again."}
        nearest = "SELECT key FROM trace WHERE community = %s ORDER BY problem <=> %s::halfvec LIMIT 5"
        self._take("search", lambda: self._http.get("/traces/search", params=question).raise_for_status())
        self._take("pgvector alone", lambda: self._db.execute(nearest, (TEAM, vector)).fetchall())
        self._take("contribute", lambda: self._http.post("/traces", json=body).raise_for_status())
        self._take("tags", lambda: self._http.get("/tags").raise_for_status())

    def figures(self) -> dict[str, Any]:
        """Return the size and the percentiles."""
        row = self._db.execute("SELECT count(*), pg_total_relation_size('trace') FROM trace").fetchone()
        count, size = row or (0, 0)
        whole = self._db.execute("SELECT pg_database_size(current_database())").fetchone()
        return {
            "traces": count,
            "megabytes of traces": round(size / 1e6),
            "megabytes of all": round(whole[0] / 1e6) if whole else 0,
            **{kind: spread(times) for kind, times in self.times.items() if times},
        }

    def recall(self, vectors: Any) -> dict[str, float]:
        """Return which shares of the exactly nearest 20 and 200 a search's own query finds in the index."""
        exact = [(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in vectors]
        with self._db.transaction(), self._db.cursor("vectors", binary=True) as cursor:
            cursor.itersize = _CHUNK
            cursor.execute(
                "SELECT number, halfvec_send(problem) FROM trace WHERE community = %s AND problem IS NOT NULL", (TEAM,)
            )
            while rows := cursor.fetchmany(_CHUNK):
                numbers = np.array([number for number, _ in rows])
                matrix = np.frombuffer(b"".join(raw[4:] for _, raw in rows), ">f2").reshape(len(rows), -1)
                scores = np.asarray(vectors, np.float32) @ matrix.astype(np.float32).T
                for place, (known, best) in enumerate(exact):
                    every, all_scores = np.concatenate([known, numbers]), np.concatenate([best, scores[place]])
                    kept = np.argsort(-all_scores)[:_DEEP]
                    exact[place] = every[kept], all_scores[kept]
        database = Database(self.url)
        database.open()
        shares: dict[int, list[float]] = {20: [], _DEEP: []}
        with database.tenant(TEAM) as connection:
            reader = CommunityTraces(connection, TEAM, Cache())
            space = reader.spaces(reader.held.model)[0]
            for vector, (numbers, _) in zip(vectors, exact, strict=True):
                near = space.nearest(vector, space.active, _DEEP)
                found = sorted(near, key=lambda number: -near[number])
                for most, found_of in shares.items():
                    found_of.append(len({*found[:most]}.intersection(numbers[:most].tolist())) / most)
        database.close()
        return {f"recall of {most}": round(float(np.mean(kept)), 4) for most, kept in shares.items()}

    def _take(self, kind: str, call: Any) -> None:
        begin = time.perf_counter()
        call()
        self.times[kind].append(1000 * (time.perf_counter() - begin))


def main() -> None:
    """Measure, and print the figures of each size."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("homes", type=Path, nargs="+")
    arguments.add_argument("--rounds", type=int, default=150)
    arguments.add_argument("--recall", type=int, default=100, help="questions whose exact neighbours are computed")
    given = arguments.parse_args()
    given.servers, given.other, given.count = 1, None, 0
    asked = questions(given.folder)
    embedder, _ = open_embedder(ROOT, Settings())
    if embedder is None:
        sys.exit("the questions need the model")
    draw = random.Random(3)
    with ExitStack() as stack:
        commons = [Sized(home, stack, given) for home in given.homes]
        for turn in range(-5, given.rounds):
            question = draw.choice(asked)
            vector = as_vector(embedder.embed_passages([next(iter(question.values()))[:400]])[0])
            for one in draw.sample(commons, len(commons)):
                one.ask(question, vector, f"{time.time_ns()}")
                if turn == -1:  # the first ones only warm it
                    one.times = {kind: [] for kind in one.times}
        few = [next(iter(one.values()))[:400] for one in draw.sample(asked, given.recall)]
        vectors = np.array([embedder.embed_passages([text])[0] for text in few])
        print(json.dumps([{**one.figures(), **one.recall(vectors)} for one in commons], indent=1))


if __name__ == "__main__":
    main()
