"""What a key may send: requests in an hour over all servers, traces in a day, and a request once."""

from __future__ import annotations

from collections.abc import Callable

import psycopg

from commons.conftest import Server
from commons.test_server import ALL, VITE
from repertoire.commons.limits import PER_DAY, PER_HOUR


def age(server: Server, community: str, hours: int) -> None:
    """Let the requests of a community have been sent some windows ago."""
    with psycopg.connect(server.database) as connection:
        connection.execute("UPDATE rate SET hour = hour - %s WHERE community = %s", (hours, community))


def test_a_key_sends_so_many_reads_an_hour_over_all_servers_and_its_writes_are_counted_apart(
    server: Server, start: Callable[..., Server]
):
    other = start(server.database)
    key = server.key("limited", "ann", tier="usual")
    with server.client(key) as here, other.client(key) as there:
        most = PER_HOUR["usual"]
        answers = [(here if number % 2 else there).get("/tags").status_code for number in range(most)]
        assert set(answers) == {200}
        refused = there.get("/tags")
        assert refused.status_code == 429
        assert 0 < int(refused.headers["Retry-After"]) <= 7_200
        assert str(most) in refused.json()["detail"]
        assert here.post("/traces", json=VITE).status_code == 202, "writes are counted apart"
        age(server, "limited", 1)  # the window before counts by the share that the last hour still covers
        assert here.get("/tags").status_code in {200, 429}
        age(server, "limited", 2)
        assert here.get("/tags").status_code == 200
    with server.client(server.key("limited", "ann")) as higher:
        assert higher.get("/tags").status_code == 200, "another key has limits of its own"


def test_a_refused_request_is_not_counted(server: Server):
    key = server.key("patient", "ann", tier="usual")
    with server.client(key) as ann:
        for _ in range(PER_HOUR["usual"] + 20):
            ann.get("/tags")
    with psycopg.connect(server.database) as connection:
        rows = connection.execute("SELECT sum(requests) FROM rate WHERE community = 'patient'").fetchone()
    assert rows == (PER_HOUR["usual"],)


def test_a_member_contributes_so_many_traces_a_day(server: Server):
    key = server.key("daily", "ann", tier="usual")
    with server.client(key) as ann:
        ann.post("/traces", json=VITE)
        with psycopg.connect(server.database) as connection:  # as if the others of today had been sent one by one
            connection.execute(
                "INSERT INTO trace (community, number, revision, key, title, context, solution, tags, environment, "
                "outcome, status, review_after, watch, uses, signatures, author, licence, version, supersedes, flags, "
                "at, words, length, lexemes) SELECT community, number + n, revision, key || n, title, context, "
                "solution, tags, environment, outcome, status, review_after, watch, uses, signatures, author, licence, "
                "version, supersedes, flags, at, words, length, lexemes FROM trace, generate_series(1, %s) n "
                "WHERE community = 'daily'",
                (PER_DAY["usual"] - 1,),
            )
        refused = ann.post("/traces", json={**VITE, "title": "one more"})
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) > 0
        assert ann.post("/traces", json=VITE).json()["known"], "what is there already is no contribution"


def test_a_query_that_is_too_long_is_refused_unread(server: Server):
    with server.client(server.key("long", "ann")) as ann:
        assert ann.get("/traces/search", params={"q": "x" * 64_500}).status_code == 414


def test_a_request_for_a_key_is_served_once_under_its_name_and_its_text_is_stored_nowhere(server: Server):
    admin = server.key("once", "root", *ALL)
    asked = {"member": "ann", "scopes": ["read"]}
    with server.client(admin) as root:
        named = {"Idempotency-Key": "2c1f"}
        made = root.post("/keys", json=asked, headers=named)
        assert made.status_code == 201
        again = root.post("/keys", json=asked, headers=named)
        assert again.status_code == 409
        assert made.json()["id"] in again.json()["detail"]
        assert root.post("/keys", json={**asked, "member": "bob"}, headers=named).status_code == 409
        assert root.post("/keys", json=asked, headers={"Idempotency-Key": "2c20"}).status_code == 201
        text = made.json()["key"]
    with psycopg.connect(server.database) as connection:
        rows = connection.execute("SELECT i::text FROM idempotent i WHERE community = 'once'").fetchall()
    assert len(rows) == 2
    assert not any(text in str(row) or text.rsplit("_", 1)[-1] in str(row) for row in rows)


def test_a_request_that_made_nothing_does_not_use_up_its_name(server: Server):
    with server.client(server.key("unused", "root", *ALL)) as root:
        answers = [root.post("/keys/000000000000/rotate", headers={"Idempotency-Key": "a1"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [404, 404]
