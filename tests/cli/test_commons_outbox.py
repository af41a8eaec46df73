"""What a home keeps back from its commons, and what it says of a trace that is there already; no server is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Run
from repertoire.app.commons.membership import SENT, Membership, read, write

TOLD = ("trace", "contribute", "--title", "The kiln cracks", "--context", "At Initech it cracks.", "--yes", "--json")


@pytest.fixture
def home(environment: dict[str, str]) -> Path:
    """Return a home that has joined a commons."""
    folder = Path(environment["REPERTOIRE_HOME"])
    folder.mkdir(mode=0o700)
    write(folder, Membership("https://commons.example.org", "rpc_x", "team", "ann", "2026-01-01T00:00:00Z"))
    return folder


def told(run: Run, solution: str) -> str:
    return str(json.loads(run(*TOLD, "--solution", solution).stdout)["id"])


def amended(run: Run, trace: str) -> str:
    token = json.loads(run("trace", "amend", trace, "--review-after", "2999-05-05", "--json").stdout)["token"]
    return str(json.loads(run("trace", "contribute", "--confirm", token, "--json").stdout)["id"])


def note_sent(home: Path, trace: str) -> None:
    joined = read(home)
    assert joined is not None
    joined.sent[trace] = SENT
    write(home, joined)


def test_what_amends_a_withheld_trace_is_not_sent_either_nor_are_votes_on_it(run: Run, home: Path) -> None:
    trace = told(run, "Heat it slowly.")
    assert "nothing waits" in run("commons", "outbox", "--withhold", trace).stdout
    run("trace", "vote", amended(run, trace), "up")
    assert run("commons", "outbox").stdout == "nothing waits to be sent\n"


def test_who_withholds_or_forgets_what_was_sent_is_told_that_it_stays_there(run: Run, home: Path) -> None:
    trace, other = told(run, "Heat it slowly."), told(run, "Cool it slowly.")
    assert run("commons", "outbox", "--withhold", other).stderr == ""
    note_sent(home, trace)
    late = run("commons", "outbox", "--withhold", trace)
    assert f"{trace} was sent already, and stays there until a moderator removes it" in late.stderr
    stays = "What was sent to the commons at https://commons.example.org stays there until a moderator removes it."
    assert stays not in run("forget", "--trace", other, "--yes").stdout
    assert stays in run("forget", "--trace", trace, "--yes").stdout
