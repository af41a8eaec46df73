"""The state of a home, as `status` tells it."""

from __future__ import annotations

import json


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
    poorly = told[told.index("components without a known capability") :]
    assert "another-odd" in poorly
    assert "repertoire-odd" not in poorly
