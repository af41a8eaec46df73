"""The client of a commons before servers that are slow to come, broken or hostile."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from repertoire.app.commons.client import HttpClient, address
from repertoire.app.commons.errors import CommonsError, CommonsRefused, KeyRefused, ScopeMissing
from repertoire.domain.errors import InvalidRequest

KEY = "rpc_team_0123456789ab_" + "k" * 43
NOTHING = {"traces": [], "votes": [], "removed": [], "cursor": 3, "more": False}


@dataclass
class Served:
    """A server that gives the answers it was told, one after the other, the last one again and again."""

    url: str
    answers: list[tuple[int, bytes]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)  # path and authorization
    wait: str = ""  # what it says with Retry-After


@pytest.fixture
def served() -> Iterator[Served]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.asked.append((self.path, self.headers["Authorization"]))
            status, body = told.answers.pop(0) if len(told.answers) > 1 else told.answers[0]
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{told.url}/elsewhere")
            if told.wait:
                self.send_header("Retry-After", told.wait)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_said: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        told = Served(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield told
        server.shutdown()
        thread.join()


@pytest.fixture
def client(served: Served) -> Iterator[HttpClient]:
    with closing(HttpClient(served.url, KEY, sleep=lambda _seconds: None)) as client:
        yield client


def test_what_fails_for_a_moment_is_asked_again(served: Served, client: HttpClient):
    served.answers = [(503, b""), (502, b"<html>"), (200, json.dumps(NOTHING).encode())]
    assert client.changes(2) == NOTHING
    assert served.asked == [("/api/v1/changes?cursor=2", f"Bearer {KEY}")] * 3


def test_what_goes_on_failing_ends_with_what_to_expect(served: Served, client: HttpClient):
    served.answers = [(503, b"")]
    with pytest.raises(CommonsError, match=r"does not answer \(status 503\); .* try again later"):
        client.changes(0)
    assert len(served.asked) == 3


def test_a_short_wait_that_the_server_asks_for_is_waited(served: Served):
    served.answers, served.wait = [(429, b""), (200, json.dumps(NOTHING).encode())], "4"
    waited: list[float] = []
    with closing(HttpClient(served.url, KEY, sleep=waited.append)) as client:
        assert client.changes(2) == NOTHING
    assert waited == [4.0]


@pytest.mark.parametrize("date", [False, True])
def test_a_long_wait_is_left_to_the_next_sync(served: Served, client: HttpClient, *, date: bool):
    until = datetime.now(timezone.utc) + timedelta(seconds=1800)
    served.answers, served.wait = [(429, b"{}")], format_datetime(until, usegmt=True) if date else "1800"
    with pytest.raises(CommonsError, match=r"takes no more for 1(800|79\d) s; the next sync goes on"):
        client.changes(0)
    assert len(served.asked) == 1


def test_an_answer_that_drips_ends_at_a_deadline(served: Served, client: HttpClient, monkeypatch: pytest.MonkeyPatch):
    served.answers = [(200, json.dumps(NOTHING).encode())]
    passed = iter(range(0, 10_000, 70))
    monkeypatch.setattr("repertoire.app.commons.client.time.monotonic", lambda: float(next(passed)))
    with pytest.raises(CommonsError, match="took longer than 60 s"):
        client.changes(0)
    assert len(served.asked) == 1


def test_nobody_at_the_address_is_an_error_in_words():
    client = HttpClient("http://127.0.0.1:9", KEY, sleep=lambda _seconds: None)
    with closing(client), pytest.raises(CommonsError, match="does not answer"):
        client.whoami()


@pytest.mark.parametrize(
    ("status", "error"), [(401, KeyRefused), (403, ScopeMissing), (404, CommonsRefused), (422, CommonsRefused)]
)
def test_a_refusal_is_not_asked_again_and_says_why(
    served: Served, client: HttpClient, status: int, error: type[Exception]
):
    served.answers = [(status, json.dumps({"detail": "because\x1b[31m"}).encode())]
    with pytest.raises(error, match="because") as raised:
        client.contribute({"title": "x"})
    assert "\x1b" not in str(raised.value)
    assert len(served.asked) == 1


def _changed(**parts: object) -> bytes:
    return json.dumps({**NOTHING, **parts}).encode()


VOTE = {
    "trace": "trace:1",
    "voter": "v",
    "up": True,
    "at": "2026-01-01T00:00:00Z",
    "tag": "",
    "note": "",
    "environment": {},
}


@pytest.mark.parametrize(
    "body",
    [
        b"<html>a captive portal</html>",
        b"[" * 100_000,
        b"null",
        b"[]",
        _changed(cursor="3"),
        _changed(cursor=-1),
        _changed(removed=[{}]),
        _changed(votes=[{**VOTE, "up": "yes"}]),
        _changed(votes=[{**VOTE, "at": "tomorrow"}]),
        _changed(votes=[{**VOTE, "tag": "awful"}]),
        _changed(votes=[{**VOTE, "environment": {"shoe": "42"}}]),
    ],
    ids=range(11),
)
def test_an_answer_that_is_none_is_an_error_in_words(served: Served, client: HttpClient, body: bytes):
    served.answers = [(200, body)]
    with pytest.raises(CommonsError):
        client.changes(0)


def test_a_redirect_is_not_followed_with_the_key(served: Served, client: HttpClient):
    served.answers = [(302, b"")]
    with pytest.raises(CommonsError) as raised:
        client.changes(0)
    assert not isinstance(raised.value, CommonsRefused)
    assert [path for path, _ in served.asked] == ["/api/v1/changes?cursor=0"]


@pytest.mark.parametrize(
    "url",
    [
        "http://commons.example.org",
        "http://10.0.0.1",
        "http://localhost.example.org",
        "ftp://localhost",
        "https://ann:word@example.org",
        "https://example.org/?key=1",
        "example.org",
        "",
    ],
)
def test_an_address_that_would_show_the_key_to_others_is_refused(url: str):
    with pytest.raises(InvalidRequest):
        address(url)


@pytest.mark.parametrize(
    "url", ["https://commons.example.org/", "http://127.0.0.1:8392", "http://[::1]:8392", "http://localhost:1"]
)
def test_an_address_is_kept_without_its_last_slash(url: str):
    assert address(url) == url.rstrip("/")


def test_the_key_is_in_no_error(served: Served, client: HttpClient):
    def fails(call: Callable[[], object]) -> str:
        with pytest.raises(CommonsError) as raised:
            call()
        return str(raised.value)

    served.answers = [(401, b'{"detail": "no"}')]
    told = fails(client.whoami) + fails(lambda: client.changes(0)) + repr(client.__dict__.get("_url"))
    assert KEY not in told
