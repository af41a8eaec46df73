"""Clocks that jump, forwards and back: of a server, whose times are PostgreSQL's, and of a home."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from commons.conftest import Server, until
from commons.test_server import ALL, VITE
from repertoire.app.clock import now

# Python reads it at its start: every clock of the process but the monotonic one is off by what a file says.
_SHIFTED = """
import datetime, os, pathlib, time
_file, _time = pathlib.Path(os.environ["SHIFT_FILE"]), time.time
time.time = lambda: _time() + float(_file.read_text())
class Shifted(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)
datetime.datetime = Shifted
"""
DAYS_S = 86_400


class Jumping:
    """A server whose clock jumps when it is told to, beside one whose clock is right."""

    def __init__(self, right: Server, wrong: Server, file: Path) -> None:
        self.right, self.wrong, self._file = right, wrong, file

    def jump(self, days: int) -> None:
        self._file.write_text(str(days * DAYS_S))


@pytest.fixture(scope="module")
def both(
    postgres: Callable[[str], str], start: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Jumping]:
    folder = tmp_path_factory.mktemp("shifted")
    (folder / "sitecustomize.py").write_text(_SHIFTED)
    file = folder / "seconds"
    file.write_text("0")
    database = postgres("clocks")
    right = start(database)
    path = f"{folder}:{right.environment['PYTHONPATH']}"
    wrong = start(database, PYTHONPATH=path, isolated=False, SHIFT_FILE=str(file))
    yield Jumping(right, wrong, file)
    right.kill()
    wrong.kill()


@pytest.fixture(params=[-4_000, 4_000], ids=["ten years back", "ten years on"])
def jumped(both: Jumping, request: pytest.FixtureRequest) -> Iterator[Jumping]:
    both.jump(request.param)
    yield both
    both.jump(0)


def test_the_clock_of_the_test_is_off(jumped: Jumping):
    key = jumped.wrong.key("off", "ann")
    with jumped.wrong.client(key) as ann:

        def off() -> timedelta:
            return abs(parsedate_to_datetime(ann.get("/tags").headers["date"]) - datetime.now(timezone.utc))

        until(lambda: off() > timedelta(days=3_000))  # the header is renewed once a second


def test_keys_expire_by_the_clock_of_postgresql(jumped: Jumping):
    good, old = jumped.right.key("keys", "ann", *ALL), jumped.right.key("keys", "ben")
    with psycopg.connect(jumped.right.database) as connection:
        expired = (datetime.now(timezone.utc) - timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        connection.execute("UPDATE api_key SET expires = %s WHERE member = 'ben'", (expired,))
    with jumped.wrong.client(old) as ben:
        assert ben.get("/tags").status_code == 401
    with jumped.wrong.client(good) as ann:
        assert ann.get("/tags").status_code == 200
        made = ann.post("/keys", json={"member": "cem", "scopes": ["read"], "days": 2}).json()
    assert abs(moment(made["expires"]) - datetime.now(timezone.utc) - timedelta(days=2)) < timedelta(minutes=5)
    for server in (jumped.right, jumped.wrong):
        with server.client(made["key"]) as cem:
            assert cem.get("/tags").status_code == 200


def test_limits_and_quotas_count_on(jumped: Jumping):
    key = jumped.right.key("limited", "ann", tier="usual")
    codes = []
    for turn in range(104):
        with (jumped.wrong if turn % 2 else jumped.right).client(key) as ann:
            codes.append(ann.get("/tags").status_code)
    assert codes == [200] * 100 + [429] * 4
    with psycopg.connect(jumped.right.database) as connection:  # as if the member had sent a day's traces just now
        connection.execute("ALTER TABLE trace DISABLE TRIGGER USER")
        connection.execute(
            "INSERT INTO trace (community, number, revision, key, title, context, solution, tags, environment, "
            "outcome, status, review_after, watch, uses, signatures, author, licence, version, supersedes, flags, at, "
            "words, length, lexemes) SELECT 'limited', n, n, 'trace:' || n, '', '', '', '{}', '{}', '', 'active', '', "
            "'', '{}', '{}', 'ann', '', 1, '', '[]', %s, '', 1, '' FROM generate_series(1001, 1200) n "
            "ON CONFLICT DO NOTHING",
            (now(),),
        )
        connection.execute("ALTER TABLE trace ENABLE TRIGGER USER")
        connection.execute("DELETE FROM rate WHERE community = 'limited'")
    with jumped.wrong.client(key) as ann:
        assert ann.post("/traces", json={**VITE, "title": "one more"}).status_code == 429


def test_times_trust_and_cursors_are_those_of_a_server_whose_clock_is_right(jumped: Jumping):
    ann, ben = (jumped.right.key("trusted", member) for member in ("ann", "ben"))
    with jumped.wrong.client(ann) as wrong, jumped.wrong.client(ben) as other:
        key = wrong.post("/traces", json=VITE).json()["id"]
        other.post(f"/traces/{key}/votes", json={"vote": "up"})
        cursor = wrong.get("/changes").json()["cursor"]
        later = wrong.post("/traces", json={**VITE, "title": f"another {uuid4()}"}).json()["id"]
    asked = {"q": "vite build killed"}
    answers: list[Any] = []
    for server in (jumped.right, jumped.wrong):
        with server.client(ann) as client:
            answers.append(
                [
                    client.get("/traces/search", params=asked).json(),
                    client.get(f"/traces/{key}").json(),
                    client.get("/users/ben/reputation").json(),
                    client.get("/changes", params={"cursor": cursor}).json(),
                ]
            )
    assert answers[0] == answers[1]
    assert [trace["id"] for trace in answers[0][3]["traces"]] == [later]
    with psycopg.connect(jumped.right.database) as connection:
        rows = connection.execute(
            "SELECT at FROM trace WHERE community = 'trusted' UNION SELECT at FROM vote WHERE community = 'trusted' "
            "UNION SELECT at FROM audit WHERE community = 'trusted'"
        ).fetchall()
    assert all(abs(moment(at) - datetime.now(timezone.utc)) < timedelta(minutes=5) for (at,) in rows)


def moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
