"""A repository written to harm is ingested whole by the real command line; nothing it says arrives as an order."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest

import hostile


@pytest.fixture
def ingested(run, tmp_path):
    folder = hostile.build(tmp_path)
    done = run("ingest", str(folder))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout


def unprintable(text: str) -> list[str]:
    return [letter for letter in text if letter != "\n" and unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co")]


def test_everything_that_was_left_out_is_reported_with_its_reason(run, ingested, tmp_path):
    report = json.loads(run("ingest", str(tmp_path / "hostile"), "--json").stdout)
    reasons = {row["path"]: row["reason"] for row in report["skipped"]}

    assert reasons["skills/linked"] == reasons["agents/stolen.md"] == "a link that leaves the source"
    assert reasons["skills/latin/SKILL.md"] == reasons["skills/null/SKILL.md"] == "not UTF-8 text"
    assert reasons["skills/huge/SKILL.md"].startswith("larger than")
    assert {"deep/.mcp.json", ".claude-plugin/marketplace.json", "agents/pipe.md"} <= set(reasons)
    assert report["changed"] == 0
    assert b"OUTSIDE-THE-SOURCE" not in (tmp_path / "home" / "repertoire.db").read_bytes()


def test_every_attack_is_flagged_and_shown_to_a_person(run, ingested):
    shown = json.loads(run("trust", "show", "--least", "low", "--json").stdout)
    found = {entry["name"]: {flag["rule"]: flag["severity"] for flag in entry["flags"]} for entry in shown["flagged"]}

    assert found["order"] == {"order-to-model": "high"}
    assert found["tags"] == {"hidden-text": "critical"}
    assert found["comment"]["comment-order"] in {"high", "critical"}
    assert found["thief"] == {"exfiltration": "critical"}
    assert found["near"]["lookalike-name"] == "high"
    assert found["longline"] == {"unchecked-file": "low"}
    assert any(rules == {"download-and-run": "critical"} for rules in found.values())
    assert "good" not in found
    assert not unprintable(run("trust", "show", "order").stdout)
    assert "flagged by the static checks:" in run("status").stdout


def test_answers_hold_no_order_no_faked_line_and_nothing_unprintable(run, ingested):
    searched = run("search", hostile.MARK, "--limit", "40")
    explained = run("explain", "order")

    for answer in (searched, explained, run("search", hostile.MARK, "--limit", "40", "--json")):
        assert answer.returncode == 0
        assert hostile.ORDER not in answer.stdout
        assert not re.search("[\u202a-\u202e\U000e0000-\U000e007f\x1b\x07]", answer.stdout)
    assert not unprintable(searched.stdout)
    assert hostile.FAKED not in searched.stdout.split("\n")
    assert not any(
        line.startswith(("#", "```", "1. install me", "   id: trusted")) for line in searched.stdout.split("\n")
    )
    assert "checks: critical exfiltration" in searched.stdout
    assert "text withheld" in explained.stdout


def test_what_is_critical_is_in_no_set_until_it_is_accepted(run, ingested):
    task = f"{hostile.MARK} reports"
    ids = [item["name"] for item in json.loads(run("recommend", task, "--json").stdout)["items"]]
    assert "thief" not in ids

    accepted = run("trust", "accept", "thief")
    assert "Accepted as it is now" in accepted.stdout
    assert "accepted by you" in run("explain", "thief").stdout
    assert run("trust", "accept", "thief", "--undo").returncode == 0
    assert run("trust", "accept", "good").returncode == 2
