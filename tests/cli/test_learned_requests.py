"""What was learned from one past request: it is shown, and forgotten alone."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from repertoire.app.usage.lessons import request_key
from repertoire.app.usage.usage_cache import known_trials
from repertoire.cli.main import cli
from repertoire.domain.event import ASKED, CHECKED, CORRECTED, GAP, SELECTED, Event
from repertoire.store.database import Store
from repertoire.store.requests import Request, Selection
from sample_home import SOURCE, filled_home

FORMS, LEDGER = (f"{SOURCE.key}:{path}.md" for path in ("skills/pdf-forms", "agents/ledger-auditor"))
GOOD, WRONG = "fill in the zebrafish form", "audit the heliotrope ledger"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home in which one session asked twice; what was done for the second request was corrected."""
    for name in [name for name in os.environ if name.startswith(("REPERTOIRE_", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    made = filled_home(tmp_path / "home")
    for name, value in (("HOME", tmp_path), ("REPERTOIRE_HOME", made), ("REPERTOIRE_BACKGROUND", "no")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)
    here = str(tmp_path)
    with Store.open(made / "repertoire.db") as store:
        for day, text, node in ((1, GOOD, FORMS), (2, WRONG, LEDGER)):
            at, key = f"2026-11-{day:02}T10:00:00Z", request_key(text)
            store.requests.record_many([Request(key, text, here, "s", (Selection(node),))], now=at)
            asked = Event(at, ASKED, "s", here, key, data={"prompt": text})
            store.events.append([asked, Event(at, SELECTED, "s", here, key, node, {"name": node})])
            store.events.append([Event(at, *((CHECKED, "s", here, key) if text == GOOD else (CORRECTED, "s", here)))])
        store.events.append([Event(at, GAP, project=here, data={"need": WRONG})])
    return made


def said(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def told(*arguments: str) -> Any:
    return json.loads(said("stats", "--requests", *arguments, "--json").stdout)


def test_past_requests_are_told_newest_first_with_what_was_selected_and_why_it_failed(home: Path) -> None:
    lines = said("stats", "--requests").stdout.splitlines()
    assert lines[0] == f"{request_key(WRONG)[:20]}  2026-11-02  {WRONG}"
    assert lines[1] == f"    ledger-auditor, failed: the next prompt corrected it  {LEDGER}"
    assert lines[3:5] == [
        f"{request_key(GOOD)[:20]}  2026-11-01  {GOOD}",
        f"    pdf-forms, ok: a check passed after it  {FORMS}",
    ]
    found = told("--component", "pdf-forms")
    assert [one["text"] for one in found["requests"]] == [GOOD]
    assert (len(told("--limit", "1")["requests"]), told("--limit", "1")["more"]) == (1, 1)
    assert "is for --requests" in said("stats", "--component", "pdf-forms").stderr


def test_a_request_is_forgotten_alone_with_all_that_was_learned_from_it_and_does_not_come_back(home: Path) -> None:
    asked = said("forget", "--request", request_key(WRONG)[:20])
    assert (asked.exit_code, f"({WRONG})" in asked.stderr) == (1, True)
    done = said("forget", "--request", request_key(WRONG)[:20], "--yes", "--json")
    assert (json.loads(done.stdout)["what"], json.loads(done.stdout)["events"]) == ("request", 4)
    assert said("refresh", "--text-only").exit_code == 0
    assert [one["text"] for one in told()["requests"]] == [GOOD]
    with Store.open(home / "repertoire.db") as store:
        assert [(one.node, one.outcome) for one in known_trials(store)] == [(FORMS, "ok")]
    assert not [file for file in home.glob("repertoire.db*") if b"heliotrope" in file.read_bytes()]
    again = said("forget", "--request", request_key(WRONG), "--yes")
    assert "there is no past request" in str(again.exception)


def test_a_prompt_for_which_nothing_was_used_is_listed_after_the_others_and_forgotten_alone(home: Path) -> None:
    said_once = "translate the saxifrage leaflet"
    with Store.open(home / "repertoire.db") as store:
        asked = Event("2026-11-03T10:00:00Z", ASKED, "s", str(home), request_key(said_once), data={"prompt": said_once})
        store.events.append([asked, replace(asked, session="t")])
    assert [(one["text"], len(one["selected"])) for one in told()["requests"]] == [
        (WRONG, 1),
        (GOOD, 1),
        (said_once, 0),
    ]
    assert "saxifrage" not in said("stats", "--requests", "--component", "pdf-forms").stdout
    assert "nothing is learned from it" in said("stats", "--requests").stdout
    assert said("forget", "--request", request_key(said_once)[:20], "--yes").exit_code == 0
    assert not [file for file in home.glob("repertoire.db*") if b"saxifrage" in file.read_bytes()]
    assert len(told()["requests"]) == 2


def test_a_long_prompt_is_whole_in_json_as_it_is_stored(home: Path) -> None:
    prompt = f"translate the leaflet {'on saxifrage ' * 100}now"
    with Store.open(home / "repertoire.db") as store:
        store.events.append(
            [Event("2026-11-03T10:00:00Z", ASKED, "s", "", request_key(prompt), data={"prompt": prompt})]
        )
    assert told()["requests"][-1]["text"] == prompt
