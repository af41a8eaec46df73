"""Clients that send or read slowly cost a socket alone: others are answered meanwhile, and the slow ones are let go."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import psycopg
import pytest

from commons.conftest import Server, until
from commons.test_server import VITE

PATIENCE_S = 2
SLOW = 40  # more than a server has connections to PostgreSQL, and as many as it has threads
MANY = 6  # answers in a row: the kernel itself takes some megabytes


@pytest.fixture(scope="module")
def impatient(postgres: Callable[[str], str], start: Callable[..., Server]) -> Iterator[Server]:
    found = start(postgres("impatient"), REPERTOIRE_COMMONS_CLIENT_SECONDS=str(PATIENCE_S))
    yield found
    found.kill()


@pytest.fixture
def sockets(impatient: Server) -> Iterator[Callable[..., socket.socket]]:
    with ExitStack() as stack:

        def connect(*, buffer: int = 0) -> socket.socket:
            made = stack.enter_context(socket.socket())
            if buffer:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            made.settimeout(3 * PATIENCE_S)
            parts = urlsplit(impatient.url)
            made.connect((parts.hostname, parts.port))
            return made

        yield connect


def drip(connection: socket.socket, text: bytes) -> None:
    with suppress(OSError):
        for place in range(len(text)):
            connection.sendall(text[place : place + 1])
            time.sleep(0.1)


def is_let_go(connection: socket.socket) -> bool:
    """Read until the server ends the connection; False if it does not."""
    with suppress(ConnectionError):
        try:
            while connection.recv(65_536):
                pass
        except TimeoutError:
            return False
    return True


def seconds_of_an_answer(server: Server, key: str) -> float:
    begin = time.monotonic()
    with server.client(key) as other:
        assert other.get("/tags").status_code == 200
    return time.monotonic() - begin


@pytest.mark.parametrize(
    "begun", [b"", b"GET /api/v1/tags HTTP/1.1\r\nx-slow: ", b"POST /api/v1/traces HTTP/1.1\r\nhost: h\r\n"]
)
def test_who_never_ends_the_headers_is_told_and_let_go(
    impatient: Server, sockets: Callable[..., socket.socket], begun: bytes
):
    key = impatient.key("headers", "ann")
    slow = [sockets() for _ in range(SLOW)]
    begin = time.monotonic()
    for connection in slow:
        connection.sendall(begun)
    dripping = threading.Thread(target=drip, args=(slow[0], b"y" * 100), daemon=True)
    dripping.start()
    assert seconds_of_an_answer(impatient, key) < PATIENCE_S
    assert slow[1].recv(100).startswith(b"HTTP/1.1 408 ")
    assert all(map(is_let_go, slow))
    assert time.monotonic() - begin < 2.5 * PATIENCE_S


def test_a_body_that_drips_is_refused_and_stores_nothing(impatient: Server, sockets: Callable[..., socket.socket]):
    key = impatient.key("bodies", "ann")
    head = (
        f"POST /api/v1/traces HTTP/1.1\r\nhost: h\r\nauthorization: Bearer {key}\r\n"
        "content-type: application/json\r\ncontent-length: 500\r\n\r\n"
    ).encode()
    slow = [sockets() for _ in range(SLOW)]
    for connection in slow:
        connection.sendall(head + b'{"title": "sl')
    dripping = threading.Thread(target=drip, args=(slow[0], b"o" * 100), daemon=True)
    dripping.start()
    assert seconds_of_an_answer(impatient, key) < PATIENCE_S
    assert slow[1].recv(100).startswith(b"HTTP/1.1 408 ")
    assert all(map(is_let_go, slow))
    with psycopg.connect(impatient.database) as connection:
        assert connection.execute("SELECT count(*) FROM trace WHERE community = 'bodies'").fetchone() == (0,)
    assert "fault" not in impatient.log.read_text()


def test_who_takes_no_answer_holds_no_connection_to_the_database_and_is_dropped(
    impatient: Server, sockets: Callable[..., socket.socket]
):
    key = impatient.key("readers", "ann")
    with impatient.client(key) as ann:
        for number in range(120):
            told = {**VITE, "title": f"long {number}", "context": "It fails. " + f"word{number} " * 2_000}
            assert ann.post("/traces", json=told).status_code == 202
        whole = len(ann.get("/changes").content)
    assert whole > 1_500_000
    slow = [sockets(buffer=4_096) for _ in range(12)]  # more than a server has connections to PostgreSQL
    ask = f"GET /api/v1/changes HTTP/1.1\r\nhost: h\r\nauthorization: Bearer {key}\r\n\r\n".encode()
    for connection in slow:
        connection.sendall(ask * MANY)
    with psycopg.connect(impatient.database, autocommit=True) as connection:
        held = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
        until(lambda: connection.execute(held).fetchone() == (0,))
    assert seconds_of_an_answer(impatient, key) < PATIENCE_S
    time.sleep(2 * PATIENCE_S)
    for connection in slow:
        got = 0
        with suppress(ConnectionError):
            while part := connection.recv(65_536):
                got += len(part)
        assert got < MANY * whole, "it was cut off"


def test_a_client_that_is_only_unhurried_is_served(impatient: Server, sockets: Callable[..., socket.socket]):
    key = impatient.key("unhurried", "ann")
    connection = sockets()
    for _ in range(2):  # the second request on the same connection has its own time
        ask = f"GET /api/v1/tags HTTP/1.1\r\nhost: h\r\nauthorization: Bearer {key}\r\n\r\n".encode()
        for place in range(0, len(ask), 20):
            connection.sendall(ask[place : place + 20])
            time.sleep(0.1)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
        time.sleep(PATIENCE_S + 0.3)
