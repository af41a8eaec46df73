"""What a home confirmed while its commons was away goes there in order, each thing once, also after it was cut off."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from commons.conftest import Run, Server, shown
from commons.test_two_homes import CONTRIBUTE, key_file
from repertoire.app.upkeep.commons_breaker import CLOSED, HALF_OPEN, OPEN
from repertoire.commons.keys import SCOPES


def amend(run: Run, trace: str, solution: str, option: str = "--solution") -> str:
    token = json.loads(run("trace", "amend", trace, option, solution, "--json"))["token"]
    return str(json.loads(run("trace", "contribute", "--confirm", token, "--json"))["id"])


def set_tried(folder: Path, moment: str) -> None:
    """Change when the last sync failed: as if that time had passed, or the clock had been set."""
    file = folder / "commons" / "joined.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "tried": moment}))


def test_what_waited_is_sent_in_order_with_what_amends_it_also_after_a_sync_that_was_cut_off(
    home: Callable[[str], Run],
    tmp_path: Path,
    postgres: Callable[[str], str],
    start: Callable[..., Server],
    monkeypatch: pytest.MonkeyPatch,
):
    database = postgres("offline")
    server = start(database)
    ann = home("ann")
    ann("commons", "join", server.url, "--key-file", key_file(tmp_path, server, "ann"))
    assert "not asked yet" in ann("status")
    server.kill()
    first = str(json.loads(ann(*CONTRIBUTE, "--solution", "Raise the limit.", "--json"))["id"])
    second = str(json.loads(ann(*CONTRIBUTE, "--solution", "Use fewer chunks.", "--json"))["id"])
    third = amend(ann, first, "Raise the limit to 4096.")
    ann("trace", "vote", second, "up")
    waiting = [one["trace"] for one in shown(ann, "commons", "outbox")]
    assert sorted(waiting[:3]) == sorted((first, second, third))
    assert waiting.index(first) < waiting.index(third) < waiting.index(second, 3) == 3
    ann("commons", "sync", fails=True)
    assert shown(ann, "commons", "status")["circuit"] == OPEN
    assert "not answering, circuit breaker open" in ann("status")

    again = start(database, port=int(server.url.rpartition(":")[2]))
    sent: list[str] = []
    from repertoire.app.commons.client import HttpClient

    whole = HttpClient.contribute

    def cut_off(client: HttpClient, told: dict[str, object]) -> None:
        whole(client, told)
        sent.append(str(told["solution"]))
        if len(sent) == 2:
            raise KeyboardInterrupt  # the answer came, and the process ends before it is noted

    monkeypatch.setattr(HttpClient, "contribute", cut_off)
    with pytest.raises((SystemExit, KeyboardInterrupt, AssertionError)):
        ann("commons", "sync")
    monkeypatch.setattr(HttpClient, "contribute", whole)
    assert [one["trace"] for one in shown(ann, "commons", "outbox")] == waiting[1:]
    assert "sent 3;" in ann("commons", "sync")
    assert shown(ann, "commons", "outbox") == []
    assert shown(ann, "commons", "status")["circuit"] == CLOSED
    assert ": healthy; last complete sync: 20" in ann("status")

    with psycopg.connect(again.database) as connection:
        rows = connection.execute("SELECT key, status, supersedes FROM trace ORDER BY number").fetchall()
        votes = connection.execute("SELECT trace, up FROM vote").fetchall()
    assert [key for key, _, _ in rows] == waiting[:3]
    assert {*rows} == {(first, "superseded", ""), (second, "active", ""), (third, "active", first)}
    assert votes == [(second, True)]


def test_what_amends_a_trace_of_the_same_outbox_supersedes_it_there_too(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    ann = home("ann")
    file = tmp_path / "amends.key"
    file.write_text(server.key("amends", "ann"))
    ann("commons", "join", server.url, "--key-file", str(file))
    first = str(json.loads(ann(*CONTRIBUTE, "--solution", "Raise the limit.", "--json"))["id"])
    third = amend(ann, amend(ann, first, "Raise the limit to 2048."), "Raise the limit to 4096.")
    assert "sent 3;" in ann("commons", "sync")
    with server.client(file.read_text()) as reader:
        traces = {trace["id"]: trace for trace in reader.get("/changes").json()["traces"]}
    assert [trace["status"] for trace in traces.values()].count("active") == 1
    assert (traces[third]["status"], traces[third]["version"]) == ("active", 3)


def test_a_refresh_asks_when_the_breaker_lets_it_and_a_clock_that_was_set_back_does_not_stop_it(
    home: Callable[[str], Run], tmp_path: Path, postgres: Callable[[str], str], start: Callable[..., Server]
):
    database = postgres("breaker")
    server = start(database)
    ann = home("ann")
    ann("commons", "join", server.url, "--key-file", key_file(tmp_path, server, "ann"))
    server.kill()
    ann("commons", "sync", fails=True)
    start(database, port=int(server.url.rpartition(":")[2]))
    ann(*CONTRIBUTE, "--solution", "Raise the limit.")
    ann("refresh", "--text-only")
    assert shown(ann, "commons", "status")["waiting"] == 1, "it is open: nobody was asked"
    set_tried(tmp_path / "ann", "2090-01-01T00:00:00Z")
    assert shown(ann, "commons", "status")["circuit"] == HALF_OPEN
    ann("refresh", "--text-only")
    told = shown(ann, "commons", "status")
    assert (told["waiting"], told["circuit"]) == (0, CLOSED)


def test_votes_and_traces_from_before_a_home_joined_once_more_do_not_count_as_sent(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    file = tmp_path / "again.key"
    file.write_text(server.key("rejoined", "ann"))
    ann, join = home("ann"), ("commons", "join", server.url, "--key-file", str(file))
    ann(*join)
    trace = str(json.loads(ann(*CONTRIBUTE, "--solution", "Raise the limit.", "--json"))["id"])
    ann("trace", "vote", trace, "up")
    ann("commons", "sync")
    assert "sent: 2;" in ann("commons", "status")
    ann("commons", "leave")
    ann(*join)
    assert "waiting to be sent: 0; sent: 0; refused: 0" in ann("commons", "status")
    ann("trace", "vote", trace, "down")
    assert shown(ann, "commons", "status")["waiting"] == 1
    ann("commons", "sync")
    assert "waiting to be sent: 0; sent: 1; refused: 0" in ann("commons", "status")


def test_an_amendment_in_the_same_words_has_one_key_in_every_home_also_where_what_it_amends_was_never_sent(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    ann, ben = home("ann"), home("ben")
    old = str(json.loads(ann(*CONTRIBUTE, "--solution", "Raise the limit.", "--json"))["id"])
    for name, run in (("ann", ann), ("ben", ben)):
        file = tmp_path / f"{name}.key"
        file.write_text(server.key("samewords", name))
        run("commons", "join", server.url, "--key-file", str(file))
    failed = amend(ann, old, "failed", "--outcome")
    assert "sent 1;" in ann("commons", "sync")
    assert "brought 1 trace " in ben("commons", "sync")
    assert "outcome: failed" in ben("trace", "show", failed)
    worked = amend(ann, failed, "until vite >= 7", "--watch")
    assert "sent 1;" in ann("commons", "sync")
    assert "brought 1 trace " in ben("commons", "sync")
    assert f"superseded by: {worked}" in ben("trace", "show", failed)
    assert "brought 0 traces" in ann("commons", "sync")


def test_an_amendment_made_on_another_machine_or_after_joining_once_more_supersedes_the_old_one(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    pc, laptop, ben = (home(name) for name in ("pc", "laptop", "ben"))
    joins = []
    for member, run in (("ann", pc), ("ann", laptop), ("ben", ben)):
        file = tmp_path / f"{len(joins)}.key"
        file.write_text(server.key("machines", member))
        joins.append(("commons", "join", server.url, "--key-file", str(file)))
        run(*joins[-1])
    first = str(json.loads(pc(*CONTRIBUTE, "--solution", "Raise the limit.", "--json"))["id"])
    for run in (pc, laptop):
        run("commons", "sync")
    second = amend(laptop, first, "Raise the limit to 2048.")
    assert f"supersedes: {first}" in laptop("commons", "outbox")
    for run in (laptop, pc, ben):
        run("commons", "sync")
    pc("commons", "leave")
    pc(*joins[0])
    third = amend(pc, second, "Raise the limit to 4096.")
    for run in (pc, ben):
        run("commons", "sync")
    assert [one["id"] for one in json.loads(ben("trace", "search", "vite killed", "--json"))["traces"]] == [third]
    assert f"superseded by: {second}" in ben("trace", "show", first)
    assert f"superseded by: {third}" in ben("trace", "show", second)
    own = str(json.loads(pc(*CONTRIBUTE, "--solution", "Split the chunks.", "--json"))["id"])
    pc("commons", "sync")
    pc("commons", "leave")
    pc(*joins[0])
    last = amend(pc, own, "Split the chunks by hand.")
    for run in (pc, ben):
        run("commons", "sync")
    assert f"superseded by: {last}" in ben("trace", "show", own)


def test_the_correction_of_a_quarantined_trace_is_taken_at_once_and_no_moderator_brings_the_old_one_back(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    ann, ben = home("ann"), home("ben")
    for name, run in (("ann", ann), ("ben", ben)):
        file = tmp_path / f"{name}.key"
        file.write_text(server.key("mended", name))
        run("commons", "join", server.url, "--key-file", str(file))
    wrong = str(json.loads(ann(*CONTRIBUTE, "--solution", "Delete the folder.", "--json"))["id"])
    ann("commons", "sync")
    for name in ("ben", "cem", "dan"):
        with server.client(server.key("mended", name)) as member:
            member.post(f"/traces/{wrong}/flags", json={"reason": "it deletes files"})
    right = amend(ann, wrong, "Raise the limit.")
    with psycopg.connect(server.database, autocommit=True) as connection:
        as_of = "UPDATE trace SET author = %s WHERE community = 'mended' AND key = %s"
        connection.execute(as_of, ("another", wrong))  # whose withheld trace is shown to nobody: it is not there
        assert "there is no trace" in ann("commons", "sync")
        assert [one["trace"] for one in shown(ann, "commons", "outbox")] == [right]
        connection.execute(as_of, ("ann", wrong))
    assert shown(ann, "commons", "sync")["sent"] == 1
    with server.client(server.key("mended", "boss", *SCOPES)) as boss:
        assert boss.post(f"/moderation/traces/{wrong}/restore").status_code == 204
    ben("commons", "sync")
    assert [one["id"] for one in json.loads(ben("trace", "search", "vite killed", "--json"))["traces"]] == [right]
