"""Homes report what they use, were offered and found to work, as their persons allowed; a team's newcomer profits."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from commons.conftest import Run, Server, shown
from commons.test_two_homes import key_file
from repertoire.app.clock import now
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import BAD, OFFERED, OK, OUTCOME, SELECTED, Event

DOCKER = "docker image hardening"
TABLES = ("use_report", "offer_report", "outcome_report")


@dataclass
class Team:
    """A server, the homes of ann and ben, what ann uses and was offered, and what four other members report."""

    server: Server
    ann: Run
    ben: Run
    used: str
    offered: str

    @property
    def report(self) -> dict[str, Any]:
        return {"used": [self.used], "passed_over": [self.offered], "outcomes": {self.used: "worked"}}

    def others_report(self) -> None:
        for number in range(4):
            with self.server.client(self.server.key("pair", f"member{number}")) as member:
                assert member.put("/statistics/components/own", json=self.report).json() == {"kept": 1}

    def stored(self) -> list[list[str]]:
        """Return what the server has of ann."""
        with psycopg.connect(self.server.database) as connection:
            rows = [connection.execute(f"SELECT components FROM {name} WHERE member = 'ann'") for name in TABLES]
            return [list(components) for row in rows for (components,) in row]


def went(node: str, outcome: str, session: str = "s") -> list[Event]:
    """Return the events of a use and what a person said of it."""
    said = Event(now(), OUTCOME, session, "/p", node=node, data={"outcome": outcome})
    return [Event(now(), SELECTED, session, "/p", node=node), said]


@pytest.fixture
def team(
    home: Callable[[str], Run],
    tmp_path: Path,
    postgres: Callable[[str], str],
    start: Callable[..., Server],
    request: pytest.FixtureRequest,
) -> Team:
    server = start(postgres(request.node.name[:60]))
    ann, ben = home("ann"), home("ben")
    for who, run in (("ann", ann), ("ben", ben)):
        run("commons", "join", server.url, "--key-file", key_file(tmp_path, server, who))
    found = [str(one["id"]) for one in json.loads(ann("search", DOCKER, "--json"))["components"]]
    with open_repertoire(tmp_path / "ann") as opened:
        opened.store.events.append([*went(found[1], OK), *went("our-own-secret-tool", OK)])
        opened.store.events.append([Event(now(), OFFERED, "s", "/p", node=found[2])])
    return Team(server, ann, ben, found[1], found[2])


def test_a_home_reports_only_what_its_person_allowed_and_the_outbox_showed(team: Team):
    ann = team.ann
    mine = shown(ann, "commons", "use")
    assert (mine["own"], mine["passed_over"], mine["worked"]) == ([team.used], [team.offered], {team.used: True})
    ann("commons", "sync")
    assert team.stored() == shown(ann, "commons", "outbox") == [], "nobody asked whether it may be told"
    ann("commons", "use", "--share")
    (waiting,) = shown(ann, "commons", "outbox")
    answer = waiting["body"]["outcomes"][team.used]
    assert (waiting["kind"], waiting["body"]) == ("report", {**team.report, "outcomes": {team.used: answer}})
    assert "each untrue with a chance of one in four" in ann("commons", "outbox")
    ann("commons", "sync")
    assert shown(ann, "commons", "outbox") == []
    assert team.stored() == [[team.used], [team.offered], [f"{answer} {team.used}"]]
    ann("commons", "use", "--no-share")
    assert [one["kind"] for one in shown(ann, "commons", "outbox")] == ["withdrawal"]
    ann("commons", "sync")
    assert team.stored() == [[], [], []]
    assert shown(ann, "commons", "use")["reported"] == ""


def test_what_five_reported_is_told_to_a_newcomer_and_moves_its_answers(team: Team):
    before = json.loads(team.ben("search", DOCKER, "--json"))["components"]
    team.others_report()
    team.ben("commons", "sync")
    assert shown(team.ben, "commons", "use")["team"] == {}
    team.ann("commons", "use", "--share")
    team.ann("commons", "sync")
    team.ben("commons", "sync")
    assert shown(team.ben, "commons", "use")["team"] == {
        team.used: {"used": 5, "offered": 0, "worked": 0.7},
        team.offered: {"used": 0, "offered": 5, "worked": None},
    }
    assert "about 5 members use it; it worked for about 70% (an estimate)" in team.ben("commons", "use")
    after = json.loads(team.ben("search", DOCKER, "--json"))["components"]
    scores = [{hit["id"]: hit["score"] for hit in found} for found in (before, after)]
    assert scores[1][team.used] > scores[0][team.used]


def test_a_key_that_may_not_report_is_told_so_and_stops_no_sync(team: Team, home: Callable[[str], Run], tmp_path: Path):
    (tmp_path / "cat.key").write_text(team.server.key("pair", "cat", "read"))
    cat = home("cat")
    cat("commons", "join", team.server.url, "--key-file", str(tmp_path / "cat.key"))
    cat("commons", "use", "--share")
    cat("commons", "sync")
    assert "has not the scope 'contribute'" in cat("commons", "use")


def test_a_home_gives_one_answer_for_good_also_after_it_left_and_joined_again(team: Team, tmp_path: Path):
    ann = team.ann
    ann("commons", "use", "--share")
    first = shown(ann, "commons", "outbox")[0]["body"]["outcomes"]
    ann("commons", "sync")
    with open_repertoire(tmp_path / "ann") as opened:
        for number in range(3):  # from now on it fails here
            opened.store.events.append(went(team.used, BAD, f"s{number}"))
    assert shown(ann, "commons", "use")["worked"] == {team.used: False}
    ann("commons", "leave")
    ann("commons", "join", team.server.url, "--key-file", str(tmp_path / "ann.key"))
    assert shown(ann, "commons", "outbox") == [], "consent ends with the membership"
    ann("commons", "use", "--share")
    assert shown(ann, "commons", "outbox")[0]["body"]["outcomes"] == first


def test_who_allowed_use_before_outcomes_were_told_tells_use_alone(team: Team, tmp_path: Path):
    joined = tmp_path / "ann" / "commons" / "joined.json"
    joined.write_text(json.dumps({**json.loads(joined.read_text()), "shares_use": True}))  # as the version before did
    (waiting,) = shown(team.ann, "commons", "outbox")
    assert waiting["body"] == {"used": [team.used], "passed_over": [], "outcomes": {}}
    assert "you allowed use alone" in team.ann("commons", "use")
    team.ann("commons", "sync")
    assert team.stored()[0] == [team.used]
    team.ann("commons", "use", "--share")
    assert shown(team.ann, "commons", "outbox")[0]["body"]["passed_over"] == [team.offered]


def test_homes_and_servers_of_two_versions_share_what_both_know(team: Team, monkeypatch: pytest.MonkeyPatch):
    ann = team.ann
    for number in range(4):  # homes of the version before
        with team.server.client(team.server.key("pair", f"member{number}")) as member:
            assert member.put("/use/own", json={"components": [team.used]}).json() == {"kept": 1}
    from repertoire.app.commons.client import HttpClient

    whole = HttpClient._send

    def before(client: HttpClient, method: str, path: str, body: Any, seconds: float) -> tuple[int, bytes, float]:
        """Answer as a server of the version before, which knows no such route."""
        return (404, b"{}", 0.0) if path.startswith("/statistics/") else whole(client, method, path, body, seconds)

    monkeypatch.setattr(HttpClient, "_send", before)
    ann("commons", "use", "--share")
    ann("commons", "sync")
    use = shown(ann, "commons", "use")
    assert (use["trouble"], use["team"]) == ("", {team.used: {"used": 5, "offered": 0, "worked": None}})
    assert team.stored()[0] == [team.used]
    ann("commons", "use", "--no-share")
    ann("commons", "sync")
    assert shown(ann, "commons", "use")["reported"] == ""
    assert team.stored()[0] == []
    with team.server.client(team.server.key("pair", "member1")) as member:
        assert member.get("/use").json()["components"] == {team.used: 5}
