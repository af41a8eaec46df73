"""A server in this process, with a home whose components have their vectors, and a client that speaks to it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import Implementation

from app.projects.small_project import FILES, begin, read, write
from mcp_server.protocol_kit import FETCHED, protocol_kit
from mcp_server.talk import CLAUDE_CODE, Talk
from repertoire.app.sources.embed import embed_pending
from repertoire.app.wiring import open_repertoire
from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.mcp_server.server import build_server
from sample_home import filled_home


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fetch what npm has to bring while other tests run."""
    if any("kit" in getattr(item, "fixturenames", ()) for item in session.items):
        session.config.stash[FETCHED] = ThreadPoolExecutor(1).submit(protocol_kit)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shelf_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home whose shelf is embedded; copied by those who change it."""
    home = filled_home(tmp_path_factory.mktemp("shelf"), installed=("pdf-forms",))
    with open_repertoire(home, environment={}) as repertoire:
        assert repertoire.embedder is not None
        embed_pending(repertoire.store, repertoire.embedder)
    return home


@pytest.fixture
def home(shelf_home: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "data"
    copy.mkdir()
    (copy / "repertoire.db").write_bytes((shelf_home / "repertoire.db").read_bytes())
    return copy


@pytest.fixture
def environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the environment of the server: no refresh beside the test, the home of this test."""
    monkeypatch.setenv("REPERTOIRE_HOME", str(home))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", "/project")
    return {"REPERTOIRE_HOME": str(home), "REPERTOIRE_BACKGROUND": "false", "PATH": os.environ["PATH"]}


@pytest.fixture
def dispatcher(environment: dict[str, str]) -> Iterator[Dispatcher]:
    made = Dispatcher(environment)
    yield made
    made.close()


@pytest.fixture
def talk_elsewhere(environment: dict[str, str]) -> Iterator[Talk]:
    """Return a way to connect a client to the server of another session, which has the same home."""
    made = Dispatcher(environment)
    yield connection(made)
    made.close()


@pytest.fixture
def talk(dispatcher: Dispatcher) -> Talk:
    """Return a way to connect a client of some name to the server."""
    return connection(dispatcher)


def connection(dispatcher: Dispatcher) -> Talk:
    @asynccontextmanager
    async def connect(name: str = CLAUDE_CODE, *, mode: str = "legacy") -> AsyncIterator[Client]:
        client = Implementation(name=name, version="1")
        async with Client(build_server(dispatcher.handlers), mode=mode, client_info=client) as connected:
            yield connected

    return connect


@pytest.fixture
def kiln(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> Path:
    """Return the folder of a project with a memory, the present one."""
    root = write(tmp_path / "kiln-project", FILES)
    with begin(home, root) as memory:
        read(memory)
    environment["CLAUDE_PROJECT_DIR"] = str(root)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(root))
    return root
