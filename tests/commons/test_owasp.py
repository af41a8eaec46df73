"""Each class of the OWASP API Security Top 10 (2023) has tests here or beside, which docs/commons.md names."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path

import httpx
import psycopg
import pytest

from commons.conftest import SERVER, Server
from commons.test_server import ALL, VITE

PAGE = SERVER.parent / "docs" / "commons.md"
ROW = re.compile(r"^\| (API\d+):2023 [^|]*\|(.*)\|$", re.MULTILINE)
HIDDEN = {"/mcp", "/metrics", "/openapi.json", "/docs", "/docs/oauth2-redirect", "/redoc"}


def test_every_class_has_a_row_whose_tests_there_are_or_which_says_why_none_is_needed():
    rows = dict(ROW.findall(PAGE.read_text()))
    assert list(rows) == [f"API{number}" for number in range(1, 11)]
    written = {
        name
        for path in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text())
    }
    for name, row in rows.items():
        named = set(re.findall(r"`(test_\w+)`", row))
        assert named <= written, name
        assert named or "no test:" in row, name


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/traces", {**VITE, "author": "ben"}),
        ("/traces", {**VITE, "status": "active"}),
        ("/traces", {**VITE, "community": "other"}),
        ("/traces/{trace}/votes", {"vote": "up", "voter": "ben"}),
        ("/keys", {"member": "ben", "scopes": ["read"], "community": "other"}),
    ],
)
def test_a_caller_sets_no_property_that_is_the_servers(server: Server, path: str, body: dict[str, object]):
    with server.client(server.key("assign", "ann", *ALL)) as ann:
        trace = ann.post("/traces", json=VITE).json()["id"]
        assert ann.post(path.format(trace=trace), json=body).status_code == 422


def test_an_answer_shows_no_property_that_stays_in_the_server(server: Server):
    with server.client(server.key("shown", "ann", *ALL)) as ann:
        trace = ann.post("/traces", json=VITE).json()["id"]
        made = ann.post("/keys", json={"member": "ben", "scopes": ["read"]}).json()
        shown = ann.get(f"/traces/{trace}").json()["trace"]
        assert not {"community", "number", "words", "lexemes", "problem", "signatures"} & set(shown)
        assert set(made) == {"id", "key", "member", "scopes", "expires"}
        assert "key" not in ann.get("/keys/self").json()


def test_a_statement_and_a_page_have_a_limit(server: Server):
    from repertoire.commons.database import Database

    database = Database(server.database)
    database.open()
    try:
        with database.tenant("limits") as connection:
            assert connection.execute("SHOW statement_timeout").fetchone() == ("10s",)
    finally:
        database.close()
    with server.client(server.key("limits", "ann")) as ann:
        assert ann.get("/traces/search", params={"q": "x", "limit": 51}).status_code == 422
        assert ann.get("/changes", params={"limit": 2_001}).status_code == 422


def test_votes_of_one_member_count_once_however_often_they_are_sent(server: Server):
    with server.client(server.key("flow", "ann")) as ann, server.client(server.key("flow", "ben")) as ben:
        trace = ann.post("/traces", json=VITE).json()["id"]
        for _ in range(3):
            trust = ben.post(f"/traces/{trace}/votes", json={"vote": "up"}).json()["trust"]
        assert (trust["ups"], trust["votes"]) == (1, 1)


def test_the_server_follows_no_address_that_a_trace_names(server: Server):
    with socket.create_server(("127.0.0.1", 0)) as listener, server.client(server.key("ssrf", "ann")) as ann:
        listener.settimeout(2)
        port = listener.getsockname()[1]
        address = f"http://127.0.0.1:{port}/x"
        body = {**VITE, "context": f"see {address}", "uses": [address], "licence": address}
        assert ann.post("/traces", json=body).status_code == 202
        ann.get("/traces/search", params={"q": address, "error": f"GET {address} failed"})
        with pytest.raises(TimeoutError):
            listener.accept()


def test_an_answer_names_no_software_lets_no_other_site_read_it_and_shows_no_fault(
    postgres: Callable[[str], str], start: Callable[..., Server]
):
    server = start(postgres("fault"))
    with server.client(server.key("team", "ann")) as ann:
        answer = ann.get("/tags", headers={"Origin": "https://evil.example"})
        assert "server" not in answer.headers
        assert not [name for name in answer.headers if name.startswith("access-control")]
        with psycopg.connect(server.database) as connection:
            connection.execute("ALTER TABLE vote RENAME TO gone")
        failed = ann.get("/users/ann/reputation")
    assert failed.status_code == 500
    assert set(failed.json()) == {"detail"}
    for word in ("Traceback", "psycopg", "vote", "SELECT"):
        assert word not in failed.text
    log = server.log.read_text()
    assert failed.headers["x-request-id"] in log
    assert "UndefinedTable" in log
    assert "SELECT" not in log


def test_every_path_that_is_served_is_described_or_one_of_a_few(server: Server):
    from fastapi.routing import APIRoute

    from repertoire.commons.api import router
    from repertoire.commons.database import Database
    from repertoire.commons.models import Models
    from repertoire.commons.server import build

    app = build(Database(server.database), b"p" * 32, Models(None), working=False)
    served = {getattr(route, "path", None) or "" for route in app.routes} | {
        route.path for route in router.routes if isinstance(route, APIRoute)
    }
    described = set(httpx.get(f"{server.url}/openapi.json").json()["paths"])
    assert served - {""} == described | HIDDEN
