"""Two homes and one commons: what is confirmed in one is found in the other, also while the server is gone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

from commons.conftest import Run, Server, shown
from repertoire.commons.keys import SCOPES

CONTEXT = "The build dies with exit code 137 in CI."
CONTRIBUTE = ("trace", "contribute", "--yes", "--title", "vite build is killed", "--context", CONTEXT, "--tag", "vite")


def key_file(tmp_path: Path, server: Server, member: str) -> str:
    file = tmp_path / f"{member}.key"
    file.write_text(server.key("pair", member) + "\n")
    return str(file)


def joined(home: Callable[[str], Run], tmp_path: Path, server: Server) -> tuple[Run, Run]:
    """Return two homes that have joined the commons, those of ann and ben."""
    runs = home("ann"), home("ben")
    for who, run in zip(("ann", "ben"), runs, strict=True):
        run("commons", "join", server.url, "--key-file", key_file(tmp_path, server, who))
    return runs


def test_what_one_home_solved_another_finds_and_a_server_that_is_gone_stops_nobody(
    home: Callable[[str], Run],
    tmp_path: Path,
    postgres: Callable[[str], str],
    start: Callable[..., Server],
):
    database = postgres("pair")
    server = start(database)
    ann, ben = home("ann"), home("ben")
    ann("trace", "contribute", "--yes", "--title", "a private one", "--context", "secretplan", "--solution", "none")
    ann("commons", "join", server.url, "--key-file", key_file(tmp_path, server, "ann"))
    ben("commons", "join", server.url, "--key-file", key_file(tmp_path, server, "ben"))

    ann(*CONTRIBUTE, "--solution", "Raise --max-old-space-size.")
    (sent,) = shown(ann, "commons", "outbox")
    assert sent["body"]["context"] == CONTEXT
    waiting = ann("commons", "outbox")
    assert CONTEXT in waiting
    assert "secretplan" not in waiting
    assert "sent 1;" in ann("commons", "sync")
    assert "nothing waits" in ann("commons", "outbox")
    assert "sent 0; brought 1 trace " in ben("commons", "sync")
    found = json.loads(ben("trace", "search", "vite killed", "--json"))
    trace = str(found["traces"][0]["trace"] if "trace" in found["traces"][0] else found["traces"][0]["id"])
    assert "secretplan" not in ben("trace", "search", "private secretplan")

    ben("trace", "vote", trace, "up", "--note", "worked in 6.2")
    ben("commons", "sync")
    assert "brought 0 traces and 1 vote" in ann("commons", "sync")
    assert "worked in 6.2" in ann("trace", "show", trace)
    again = shown(ann, "commons", "sync")
    assert again == {"sent": 0, "refused": [], "traces": 0, "votes": 0, "removed": 0}

    port = server.url.rpartition(":")[2]
    server.kill()
    ann("trace", "amend", trace, "--solution", "Split the chunks.", "--json")
    token = json.loads(ann("trace", "amend", trace, "--solution", "Split the chunks.", "--json"))["token"]
    ann("trace", "contribute", "--confirm", token)
    assert "does not answer" in ann("commons", "sync", fails=True)
    assert "does not answer" in ann("status")
    assert "vite build is killed" in ben("trace", "search", "vite killed")

    start(database, port=int(port))
    assert "sent 1;" in ann("commons", "sync")
    assert "does not answer" not in ann("status")
    assert "brought 1 trace " in ben("commons", "sync")
    assert "Split the chunks" in ben("trace", "search", "vite killed")
    assert "superseded" in ben("trace", "show", trace)

    assert "left" in ann("commons", "leave")
    assert "joined no commons" in ann("commons", "sync", fails=True)


def test_what_a_removed_amendment_superseded_is_found_again_in_every_home(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    ann, ben = joined(home, tmp_path, server)
    ann(*CONTRIBUTE, "--solution", "Raise --max-old-space-size.")
    ann("commons", "sync")
    [first] = json.loads(ann("trace", "search", "vite killed", "--json"))["traces"]
    token = json.loads(ann("trace", "amend", str(first["id"]), "--solution", "Split the chunks.", "--json"))["token"]
    ann("trace", "contribute", "--confirm", token)
    ann("commons", "sync")
    ben("commons", "sync")
    [second] = json.loads(ben("trace", "search", "vite killed", "--json"))["traces"]
    assert second["id"] != first["id"]
    with server.client(server.key("pair", "root", *SCOPES)) as root:
        root.delete(f"/moderation/traces/{second['id']}")
    assert "dropped 1" in ben("commons", "sync")
    [again] = json.loads(ben("trace", "search", "vite killed", "--json"))["traces"]
    assert again["id"] == first["id"]


def test_a_home_that_lost_its_database_or_forgot_everything_gets_the_traces_again(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    ann, ben = joined(home, tmp_path, server)
    ann(*CONTRIBUTE, "--solution", "Raise --max-old-space-size.")
    ann("commons", "sync")
    assert "brought 1 trace " in ben("commons", "sync")
    assert "brought 0 traces" in ben("commons", "sync")

    for file in (tmp_path / "ben").glob("repertoire.db*"):
        file.unlink()
    assert "brought 1 trace " in ben("commons", "sync")
    ben("forget", "--all", "--yes")
    assert "brought 1 trace " in ben("commons", "sync")
    assert "vite build is killed" in ben("trace", "search", "vite killed")
    assert "brought 0 traces" in ben("commons", "sync")


def test_the_votes_of_a_banned_member_count_in_no_home_until_the_ban_is_lifted(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    ann, ben = joined(home, tmp_path, server)
    ann(*CONTRIBUTE, "--solution", "Split the chunks of banned votes.")
    ann("commons", "sync")
    ben("commons", "sync")
    found = json.loads(ben("trace", "search", "split chunks banned votes", "--json"))["traces"][0]
    trace = str(found.get("trace") or found["id"])
    ben("trace", "vote", trace, "down", "--note", "spoils everything")
    ben("commons", "sync")
    ann("commons", "sync")
    assert "spoils everything" in ann("trace", "show", trace)
    with server.client(server.key("pair", "root", *SCOPES)) as root:
        root.put("/moderation/bans/ben", json={"reason": "why"})
        ann("commons", "sync")
        assert "spoils everything" not in ann("trace", "show", trace)
        assert "banned" in ben("commons", "sync", fails=True)
        root.delete("/moderation/bans/ben")
    ann("commons", "sync")
    assert "spoils everything" in ann("trace", "show", trace)


def test_a_home_that_may_send_no_more_for_now_still_fetches_and_drops_what_was_removed(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    ann, ben = joined(home, tmp_path, server)
    for number in range(2):
        ann(*CONTRIBUTE, "--solution", f"Remove the chunk of number {number}.")
    ann("commons", "sync")
    ben("commons", "sync")
    first = json.loads(ben("trace", "search", "remove chunk number 0", "--json"))["traces"][0]
    trace = str(first.get("trace") or first["id"])
    with server.client(server.key("pair", "root", *SCOPES)) as root:
        root.delete(f"/moderation/traces/{trace}")
    with psycopg.connect(server.database) as connection:  # as if ben had sent all that a key may send
        connection.execute(
            "INSERT INTO rate SELECT community, id, true, extract(epoch FROM now())::bigint / 3600, 10000 "
            "FROM api_key WHERE community = 'pair' AND member = 'ben' "
            "ON CONFLICT (community, key, writes, hour) DO UPDATE SET requests = 10000"
        )
    ben(*CONTRIBUTE, "--solution", "One that has to wait.")
    told = ben("commons", "sync")
    assert "takes no more for" in told
    assert "dropped 1" in told
    assert "One that has to wait" in ben("commons", "outbox")
    assert ben("trace", "show", trace, fails=True)


def test_a_refresh_asks_a_commons_that_is_gone_ever_more_rarely_and_a_sync_at_once(
    home: Callable[[str], Run], tmp_path: Path, postgres: Callable[[str], str], start: Callable[..., Server]
):
    gone = start(postgres("gone"))
    ann = home("ann")
    ann("commons", "join", gone.url, "--key-file", key_file(tmp_path, gone, "ann"))
    gone.kill()

    def tried() -> str:
        return str(json.loads((tmp_path / "ann" / "commons" / "joined.json").read_text())["tried"])

    ann("refresh", "--text-only")
    first = tried()
    assert first
    assert "does not answer" in ann("status")
    time.sleep(1.1)
    ann("refresh", "--text-only")
    assert tried() == first, "too early for another try"
    ann("commons", "sync", fails=True)
    assert tried() > first


def test_a_withheld_trace_never_leaves_and_no_answer_shows_the_key(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    ann = home("ann")
    joined = shown(ann, "commons", "join", server.url, "--key-file", key_file(tmp_path, server, "ann"))
    assert (joined["community"], joined["member"]) == ("pair", "ann")
    assert "community pair, as ann" in ann("commons", "status")
    kept = json.loads(ann(*CONTRIBUTE, "--solution", "It stays here.", "--json"))
    key = kept["trace"] if isinstance(kept.get("trace"), str) else kept["id"]
    assert "nothing waits" in ann("commons", "outbox", "--withhold", key)
    ann("trace", "vote", key, "up")
    assert "sent 0;" in ann("commons", "sync")
    told = shown(ann, "commons", "status")
    assert told["withheld"] == [key]
    assert "rpc_" not in json.dumps(told) + ann("commons", "status")
    assert shown(ann, "commons", "leave") == {"left": server.url}


def test_a_key_travels_to_another_machine_only_encrypted_and_a_wrong_one_joins_nothing(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    ann = home("ann")
    file = tmp_path / "ann.key"
    file.write_text(server.key("pair", "ann")[:-1] + "!\n")
    assert "use https" in ann("commons", "join", "http://192.0.2.1:8392", "--key-file", str(file), fails=True)
    assert "refused the key" in ann("commons", "join", server.url, "--key-file", str(file), fails=True)
    file.write_text("hello")
    assert "holds no key" in ann("commons", "join", server.url, "--key-file", str(file), fails=True)
    assert "joined no commons" in ann("commons", "status", fails=True)


def test_what_the_commons_refuses_is_told_once_and_stays_here(
    home: Callable[[str], Run], tmp_path: Path, server: Server
):
    ann = home("ann")
    file = tmp_path / "reader.key"
    file.write_text(server.key("pair", "reader", "read", "contribute"))
    ann("commons", "join", server.url, "--key-file", str(file))
    key = json.loads(ann(*CONTRIBUTE, "--solution", "Seen by nobody else.", "--json"))["id"]
    with server.client(server.key("pair", "mod", "contribute", "moderate")) as moderator:
        body = {
            "title": "vite build is killed",
            "context": CONTEXT,
            "solution": "Seen by nobody else.",
            "tags": ["vite"],
        }
        assert moderator.post("/traces", json=body).json()["id"] == key
        moderator.delete(f"/moderation/traces/{key}")
    ann("trace", "vote", key, "up")
    assert "has not the scope 'vote'" in ann("commons", "sync")
    assert shown(ann, "commons", "status")["waiting"] == 1
    file.write_text(server.key("pair", "reader"))
    ann("commons", "join", server.url, "--key-file", str(file))
    (refused,) = shown(ann, "commons", "sync")["refused"]
    assert "there is no trace" in refused["why"]
    assert shown(ann, "commons", "sync")["refused"] == []
    assert "Seen by nobody else" in ann("trace", "show", key)
