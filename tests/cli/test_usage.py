"""What was learned from use, as `stats` and `review` tell it."""

from __future__ import annotations

import json


def test_stats_tell_what_was_said_and_that_there_is_nothing_where_nothing_was(run, skill, tmp_path):
    assert "there are no statistics" in run("stats").stdout
    skill(tmp_path / "user" / ".claude", "zebra-crossing", "Paints zebra crossings on roads when a street needs one.")
    run("refresh", "--text-only")
    run("feedback", "zebra-crossing", "ok")
    run("feedback", "zebra-crossing", "failed")
    told = run("stats")
    assert told.returncode == 0, told.stderr
    assert "zebra-crossing" in told.stdout
    found = json.loads(run("stats", "--json").stdout)
    assert found["outcomes"] == {"ok": 0, "failed": 1, "unknown": 0}
    assert found["components"][0]["here"]["success"]["high"] < 1


def test_a_no_without_a_use_selects_nothing_and_a_repeated_one_is_known_already(run, skill, tmp_path):
    skill(tmp_path / "user" / ".claude", "zebra-crossing", "Paints zebra crossings on roads when a street needs one.")
    run("refresh", "--text-only")
    assert run("feedback", "zebra-crossing", "failed").stdout.startswith("Recorded: zebra-crossing failed, though no")
    again = run("feedback", "zebra-crossing", "failed")
    assert again.stdout.startswith("Recorded already: zebra-crossing failed")
    assert not json.loads(run("feedback", "zebra-crossing", "ok", "--json").stdout)["repeated"]
    assert not json.loads(run("feedback", "zebra-crossing", "failed", "--json").stdout)["repeated"]
    assert "here: recommended 0, selected 0, 0 ok and 1 failed" in run("stats").stdout
    found = json.loads(run("stats", "--json").stdout)
    assert (found["selected"], found["outcomes"]["failed"]) == (0, 1)


def test_review_says_that_nothing_waits_and_refuses_what_it_does_not_know(run):
    assert "no relation" in run("review").stdout
    refused = run("review", "--accept", "feedc0de")
    assert refused.returncode == 2
    assert "feedc0de" in refused.stderr
