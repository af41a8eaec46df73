"""Full pools and full disks: a server says so, loses nothing that it accepted, and goes on when there is room."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from commons.conftest import Server, answers, postgres_in, until
from commons.test_server import VITE

CROWD = 120  # three times the threads of a server


def test_when_all_connections_are_lent_each_request_is_refused_within_seconds_and_served_again_afterwards(
    postgres: Callable[[str], str], start: Callable[..., Server]
):
    server = start(postgres("pool"))
    key = server.key("pool", "ann")
    given: list[tuple[int, float, str]] = []

    def ask(client: httpx.Client, title: str = "") -> None:
        begin = time.monotonic()
        told = client.post("/traces", json={**VITE, "title": title}) if title else client.get("/tags")
        given.append((told.status_code, time.monotonic() - begin, told.json()["detail"] if told.is_error else ""))

    with server.client(key) as ann, psycopg.connect(server.database) as blocker:
        # every contribution waits for this row, and holds a connection meanwhile
        blocker.execute("SELECT * FROM community FOR UPDATE")
        held = [threading.Thread(target=ask, args=(ann, f"held {number}")) for number in range(10)]
        for thread in held:
            thread.start()
        until(lambda: waiting_for_locks(server) == 10)
        limits = httpx.Limits(max_connections=CROWD)
        with httpx.Client(base_url=ann.base_url, headers=ann.headers, limits=limits, timeout=30) as many:
            crowd = [threading.Thread(target=ask, args=(many,)) for _ in range(CROWD)]
            for thread in crowd:
                thread.start()
            assert httpx.get(f"{server.url}/healthz").status_code == 200
            for thread in crowd:
                thread.join()
        assert {status for status, _, _ in given} == {503}
        assert {why.partition(",")[0] for _, _, why in given} == {"all connections to the database are in use"}
        # three seconds each since it came, not one batch of threads after the other
        assert max(seconds for _, seconds, _ in given) < 8
        given.clear()
        blocker.commit()
        for thread in held:
            thread.join()
        assert [status for status, _, _ in given] == [202] * 10
        assert ann.get("/tags").status_code == 200
        assert len(ann.get("/changes").json()["traces"]) == 10


def waiting_for_locks(server: Server) -> int:
    with psycopg.connect(server.database) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).fetchone()
    return row[0] if row else 0


@dataclass
class SmallDisk:
    """A disk with little room, and the PostgreSQL on it."""

    folder: Path
    postgres: Any

    def fill(self) -> None:
        """Take all the free room."""
        file = os.open(self.folder / "ballast", os.O_WRONLY | os.O_CREAT)
        with suppress(OSError):
            while True:
                os.write(file, bytes(4_096))
        os.close(file)

    def free(self) -> None:
        (self.folder / "ballast").unlink()


@pytest.fixture
def small_disk() -> Iterator[SmallDisk]:
    """A PostgreSQL of a test's own on a file system of 160 MB."""
    folder = Path(tempfile.mkdtemp(prefix="repertoire-small-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=160m,mode=755", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"no small disk can be mounted: {mounted.stderr.decode().strip()}")
    found = postgres_in(folder / "postgres")
    try:
        yield SmallDisk(folder, found)
    finally:
        found.cleanup()
        subprocess.run(["umount", "-l", str(folder)], check=False)
        folder.rmdir()


def contribute(client: httpx.Client, number: int) -> httpx.Response:
    """Send a trace of many words that no other has."""
    words = " ".join(f"word{number}x{place}" for place in range(1_200))
    return client.post("/traces", json={**VITE, "title": f"trace {number}", "context": f"It fails: {words}"})


def stored(client: httpx.Client) -> set[str]:
    return {trace["id"] for trace in client.get("/changes").json()["traces"]}


def test_with_a_full_disk_it_says_so_answers_what_reads_and_goes_on_when_there_is_room(
    small_disk: SmallDisk, start: Callable[..., Server]
):
    server = start(small_disk.postgres.get_uri())
    with server.client(server.key("disk", "ann")) as ann:
        accepted = {contribute(ann, number).json()["id"] for number in range(3)}
        small_disk.fill()
        refused = contribute(ann, 3)
        while refused.status_code == 202:  # into pages that are not full yet
            accepted.add(refused.json()["id"])
            refused = contribute(ann, 3 + len(accepted))
        assert refused.status_code == 503
        assert "disk is full" in refused.json()["detail"]
        assert int(refused.headers["retry-after"]) > 5, "homes leave it to their next sync"
        for _ in range(5):
            assert ann.get("/traces/search", params={"q": "vite"}).json()["hits"]
            assert stored(ann) == accepted
        assert answers(server.url)
        small_disk.free()
        sent = contribute(ann, 1_000)
        assert sent.status_code == 202
        assert stored(ann) == accepted | {sent.json()["id"]}
    assert "fault" not in server.log.read_text()


def test_where_even_the_log_of_postgresql_finds_no_room_nothing_is_lost_and_it_goes_on_after_its_restart(
    small_disk: SmallDisk, start: Callable[..., Server]
):
    server = start(small_disk.postgres.get_uri())
    with server.client(server.key("disk", "ann")) as ann:
        accepted = {contribute(ann, number).json()["id"] for number in range(3)}
        small_disk.fill()
        with psycopg.connect(server.database, autocommit=True) as connection:
            connection.execute("SELECT pg_switch_wal()")  # the next one has no room: PostgreSQL ends itself
        refused = contribute(ann, 3)
        assert refused.status_code == 503
        until(lambda: httpx.get(f"{server.url}/readyz").status_code == 503)
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        small_disk.free()
        small_disk.postgres.ensure_postgres_running()
        until(lambda: answers(server.url))
        assert stored(ann) == accepted
        assert contribute(ann, 3).status_code == 202
    assert "fault" not in server.log.read_text()
