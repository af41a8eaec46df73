#!/usr/bin/env python3
"""Measure a commons under load: FOLDER holds traces_so and traces_error, whose texts are mixed to N traces.

A real PostgreSQL, a server and a worker run as processes; C clients ask as sessions do, ten searches to one
contribution or vote, with pauses between. Beside them, at the same time, one plain connection asks PostgreSQL for the
nearest vectors of the same questions: what pgvector alone costs at this load.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psycopg

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "traces")]

from seeding import TEAM, seed  # noqa: E402

from repertoire.app.wiring import open_embedder  # noqa: E402
from repertoire.commons.database import Database  # noqa: E402
from repertoire.commons.keys import HIGH, Keys, read_pepper  # noqa: E402
from repertoire.commons.local_postgres import start  # noqa: E402
from repertoire.commons.migrations import migrate  # noqa: E402
from repertoire.commons.vectors import as_vector  # noqa: E402
from repertoire.settings import Settings  # noqa: E402
from speed import SETS, rows  # noqa: E402

WRITES = 0.1
SERVE = ("-m", "repertoire.commons")


def questions(folder: Path) -> list[dict[str, str]]:
    """Return the questions of the sets as a client sends them."""
    found = []
    for name in SETS:
        key = "q" if name == "traces_so" else "error"
        found += [{key: row["text"][:3_000]} for row in rows(folder / name / "queries.jsonl") if row["split"] == "dev"]
    return found


class Clients:
    """Clients that ask with pauses, and what each request took."""

    def __init__(self, urls: Sequence[str], keys: Sequence[str], asked: list[dict[str, str]], *, pause: float) -> None:
        self._urls, self._keys, self._asked, self._pause = urls, keys, asked, pause
        self.times: dict[str, list[float]] = defaultdict(list)
        self.searches: dict[str, list[float]] = defaultdict(list)  # by the server's address
        self.failed: dict[str, int] = defaultdict(int)
        self.accepted: list[str] = []

    async def run(self, seconds: float) -> None:
        """Let every client ask until the time is over."""
        end = time.perf_counter() + seconds
        async with httpx.AsyncClient(timeout=30, limits=httpx.Limits(max_connections=None)) as http:
            await asyncio.gather(*(self._client(http, number, end) for number in range(len(self._keys))))

    async def _client(self, http: httpx.AsyncClient, number: int, end: float) -> None:
        draw = random.Random(number)
        header = {"Authorization": f"Bearer {self._keys[number]}"}
        url = f"{self._urls[number % len(self._urls)]}/api/v1/traces"
        await asyncio.sleep(draw.uniform(0, self._pause))
        turn = 0
        while time.perf_counter() < end:
            turn += 1
            await self._ask(http, url, header, draw, f"{number}-{turn}")
            await asyncio.sleep(draw.expovariate(1 / self._pause))

    async def _ask(
        self, http: httpx.AsyncClient, url: str, header: dict[str, str], draw: random.Random, name: str
    ) -> None:
        kind = "search"
        request = http.build_request("GET", f"{url}/search", params=draw.choice(self._asked), headers=header)
        if draw.random() < WRITES:
            kind = draw.choice(("contribute", "vote")) if self.accepted else "contribute"
            body = {"title": f"load {name}", "context": f"It fails in the way of {name}.", "solution": "Try again."}
            if kind == "vote":
                url, body = f"{url}/{draw.choice(self.accepted)}/votes", {"vote": "up"}
            request = http.build_request("POST", url, json=body, headers=header)
        begin = time.perf_counter()
        try:
            answer = await http.send(request)
        except httpx.HTTPError as error:
            self.failed[type(error).__name__] += 1
            return
        if answer.status_code >= 300:
            self.failed[str(answer.status_code)] += 1
            return
        self.times[kind].append(1000 * (time.perf_counter() - begin))
        if kind == "search":
            self.searches[f"{request.url.scheme}://{request.url.netloc.decode()}"].append(self.times[kind][-1])
        if kind == "contribute":
            self.accepted.append(answer.json()["id"])


async def plain(url: str, vectors: list[str], seconds: float) -> list[float]:
    """Ask pgvector alone for the nearest problems, once a second; return the milliseconds of each."""
    times = []
    end = time.perf_counter() + seconds
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while time.perf_counter() < end:
            begin = time.perf_counter()
            await connection.execute(
                "SELECT key FROM trace WHERE community = %s ORDER BY problem <=> %s::halfvec LIMIT 5",
                (TEAM, random.choice(vectors)),
            )
            times.append(1000 * (time.perf_counter() - begin))
            await asyncio.sleep(0.5)
    return times


def spread(times: Sequence[float]) -> dict[str, float]:
    """Return percentiles in milliseconds."""
    return (
        {"count": len(times), **{f"p{share}": round(float(np.percentile(times, share)), 1) for share in (50, 95, 99)}}
        if times
        else {"count": 0}
    )


def lost(url: str, accepted: Sequence[str]) -> int:
    """Count the contributions that were answered with 202 and are not stored."""
    with psycopg.connect(url) as connection:
        kept = {str(key) for (key,) in connection.execute("SELECT key FROM trace WHERE community = %s", (TEAM,))}
    return sum(f"trace:{one.removeprefix('trace:')}" not in kept for one in accepted)


def read_arguments() -> argparse.Namespace:
    """Return the arguments of the command."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--count", type=int, default=100_000)
    arguments.add_argument("--clients", type=int, default=200)
    arguments.add_argument("--pause", type=float, default=10.0, help="a client's mean seconds between requests")
    arguments.add_argument("--seconds", type=float, default=120.0)
    arguments.add_argument("--servers", type=int, default=1, help="server processes, over which clients are spread")
    arguments.add_argument("--other", type=Path, help="run every second server from the code of another checkout")
    arguments.add_argument("--keep", type=Path, help="keep PostgreSQL here, to be used again")
    return arguments.parse_args()


def prepared(home: Path, given: argparse.Namespace) -> tuple[str, dict[str, float]]:
    """Start PostgreSQL with the traces; return its address, and what seeding took if it was empty."""
    (home / "commons").mkdir(parents=True, exist_ok=True)
    url = start(home)
    migrate(url)
    with psycopg.connect(url) as connection:
        held = connection.execute("SELECT count(*) FROM trace").fetchone()
    return url, ({} if held and held[0] else seed(url, given.folder, {TEAM: given.count}))


def make_keys(home: Path, url: str, count: int) -> list[str]:
    """Return a key for each client, each of a member of its own."""
    database = Database(url)
    database.open()
    maker = Keys(database, read_pepper(home / "commons" / "pepper"))
    made = [
        maker.create(TEAM, f"member{number}", ("read", "contribute", "vote"), tier=HIGH).text for number in range(count)
    ]
    database.close()
    return made


@dataclass
class Served:
    """A server process, its address, and the checkout that it runs from."""

    process: subprocess.Popen[str]
    url: str
    root: Path

    def cpu_s(self) -> float:
        """Return the seconds of processor time that it has taken."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(home: Path, url: str, given: argparse.Namespace) -> Iterator[list[Served]]:
    """Run servers and a worker; yield the servers."""
    environment = {**os.environ, "DATABASE_URL": url, "REPERTOIRE_HOME": str(home), "PYTHONPATH": str(ROOT / "server")}
    with (home / "load.log").open("w") as log:
        pipes: dict[str, Any] = {"env": environment, "stdout": subprocess.PIPE, "stderr": log, "text": True}
        roots = [given.other if given.other and number % 2 == 1 else ROOT for number in range(given.servers)]
        started = [
            subprocess.Popen(
                [sys.executable, *SERVE, "serve", "--port", "0"],
                **{**pipes, "env": {**environment, "PYTHONPATH": str(root / "server")}},
            )
            for root in roots
        ]
        worker = subprocess.Popen(
            [sys.executable, *SERVE, "work"], env=environment, stdout=subprocess.DEVNULL, stderr=log
        )
        try:
            addresses = [one.stdout.readline().strip() for one in started if one.stdout]
            yield [Served(*one) for one in zip(started, addresses, roots, strict=True)]
        finally:
            for process in (*started, worker):
                process.terminate()
                process.wait(20)


async def measure(
    servers: Sequence[Served], url: str, given: argparse.Namespace, keys: Sequence[str]
) -> dict[str, Any]:
    """Warm the servers, then let the clients and the plain connection ask at the same time."""
    asked = questions(given.folder)
    addresses = [one.url for one in servers]
    embedder, _ = open_embedder(ROOT, Settings())
    assert embedder is not None
    vectors = list(map(as_vector, embedder.embed_passages([next(iter(one.values()))[:400] for one in asked[:100]])))
    await Clients(addresses, keys[:4], asked, pause=0.1).run(15)
    clients = Clients(addresses, keys, asked, pause=given.pause)
    before = [one.cpu_s() for one in servers]
    beside, _ = await asyncio.gather(plain(url, vectors, given.seconds), clients.run(given.seconds))
    by_server = [
        {
            "from": str(one.root),
            "search": spread(clients.searches[one.url]),
            "cpu ms a search, with its share of writes": round(
                1000 * (one.cpu_s() - begun) / max(len(clients.searches[one.url]), 1), 1
            ),
        }
        for one, begun in zip(servers, before, strict=True)
    ]
    figures: dict[str, Any] = {kind: spread(times) for kind, times in clients.times.items()}
    return {
        "others' load": round(os.getloadavg()[0], 1),
        **figures,
        **({"by server": by_server} if len(servers) > 1 else {}),
        "pgvector alone": spread(beside),
        "failed": clients.failed,
        "lost": lost(url, clients.accepted),
    }


def main() -> None:
    """Measure, and print the figures."""
    given = read_arguments()
    home = given.keep or Path(tempfile.mkdtemp(prefix="commons-load-"))
    url, seeded = prepared(home, given)
    keys = make_keys(home, url, given.clients)
    figures = {
        "traces": given.count,
        "clients": given.clients,
        "servers": given.servers,
        "pause_s": given.pause,
        **seeded,
    }
    with serving(home, url, given) as servers:
        figures |= asyncio.run(measure(servers, url, given, keys))
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
