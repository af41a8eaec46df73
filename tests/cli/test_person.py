"""What a person silences, is told and takes back."""

from __future__ import annotations

import json


def test_a_muted_component_is_not_recommended_until_the_mute_is_undone(run, skill, tmp_path):
    skill(tmp_path / "user" / ".claude", "zebra-crossing", "Paints zebra crossings on roads when a street needs one.")
    task = ("recommend", "paint zebra crossings on a road", "--wait", "--json")

    def recommended() -> list[str]:
        return [item["name"] for item in json.loads(run(*task).stdout)["items"]]

    assert "zebra-crossing" in recommended()
    assert run("mute", "zebra-crossing").returncode == 0
    assert "zebra-crossing" not in recommended()
    assert "zebra-crossing" in run("status").stdout
    assert run("mute", "zebra-crossing", "--undo").returncode == 0
    assert "zebra-crossing" in recommended()


def test_status_of_an_empty_home_says_what_to_do(run):
    done = run("status")
    assert done.returncode == 0, done.stderr
    assert "repertoire refresh" in done.stdout


def test_status_calls_no_part_of_ours_poorly_described(run, skill, tmp_path):
    for plugin in ("repertoire", "another"):
        folder = tmp_path / plugin
        (folder / ".claude-plugin").mkdir(parents=True)
        (folder / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": plugin, "version": "1.0.0"}))
        skill(folder, f"{plugin}-odd", "Qwertz asdfgh.")
        assert run("ingest", str(folder)).returncode == 0
    told = run("status").stdout
    poorly = told[told.index("described too poorly") :]
    assert "another-odd" in poorly
    assert "repertoire-odd" not in poorly


def test_forgetting_all_says_what_stays(run, tmp_path):
    run("refresh", "--text-only")
    (tmp_path / "home" / "env").mkdir()
    told = run("forget", "--all", "--yes").stdout
    assert f"holds nothing of yours and stays: {tmp_path / 'home' / 'env'}" in told
    assert "stays" not in run("forget", "--requests", "--yes").stdout


def test_forgetting_asks_first_and_then_forgets(run):
    run("refresh", "--text-only")
    asked = run("forget", "--requests")
    assert asked.returncode == 130
    assert run("forget", "--requests", "--yes").returncode == 0
