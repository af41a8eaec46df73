"""The state of a home, as `status` tells it."""

from __future__ import annotations

import json
import subprocess
import sys


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


def test_in_a_folder_that_was_removed_a_command_says_so_and_the_doctor_examines_the_rest(environment, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    told = {}
    for verb in ("status", "doctor"):
        command = f"rmdir {gone} 2>/dev/null; exec {sys.executable} -m repertoire {verb}"
        gone.mkdir(exist_ok=True)
        told[verb] = subprocess.run(
            ["/bin/sh", "-c", command], cwd=gone, env=environment, capture_output=True, text=True, check=False
        )
    assert told["status"].returncode == 2
    assert "the current folder does not exist any more; change into one that does" in told["status"].stderr
    assert "ok, " in told["doctor"].stdout
    assert "client " in told["doctor"].stdout
