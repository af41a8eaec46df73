"""Reading, re-reading and removing sources from the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from ingestion.workbench import commit, repository
from repertoire.app.upkeep.background_refresh import one_refresh


def test_an_ingest_reports_what_it_read_changed_left_and_skipped(run, skill, tmp_path):
    source = tmp_path / "source"
    skill(source, "paint-fence", "Paints a fence.")
    broken = source / "skills" / "broken" / "SKILL.md"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"\x00\xff\x00binary")
    first = json.loads(run("ingest", str(source), "--json").stdout)
    assert (first["components"], first["changed"], first["unchanged"], first["removed"]) == (1, 1, 0, 0)
    assert [row["path"] for row in first["skipped"]] == ["skills/broken/SKILL.md"]
    assert first["skipped"][0]["reason"]
    again = json.loads(run("ingest", str(source), "--json").stdout)
    assert (again["components"], again["changed"], again["unchanged"], again["removed"]) == (1, 0, 1, 0)


def test_a_rerun_keeps_the_revision_and_a_removed_source_leaves_nothing(run, skill, tmp_path):
    source = tmp_path / "source"
    skill(source, "paint-fence", "Paints a fence.")
    run("ingest", str(source))
    revision = json.loads(run("status", "--json").stdout)["revision"]
    run("ingest", str(source))
    assert json.loads(run("status", "--json").stdout)["revision"] == revision
    key = json.loads(run("sources", "--json").stdout)[0]["key"]
    told = json.loads(run("sources", "--files", key, "--json").stdout)
    assert [(fate["became"], fate["of"]) for fate in told] == [("component", "skill")]
    assert run("remove", key).returncode == 0
    state = json.loads(run("status", "--json").stdout)
    assert (state["counts"]["components"], state["counts"]["nodes"], state["sources"]) == (0, 0, 0)


def test_a_refresh_waits_for_the_one_that_runs_and_a_quiet_one_leaves(run, environment, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    line = [sys.executable, "-m", "repertoire", "refresh", "--text-only", "--json"]
    with one_refresh(home):
        quiet = run("refresh", "--text-only", "--quiet")
        waiting = subprocess.Popen(
            line, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        said = waiting.stderr.readline()
    out, _ = waiting.communicate(timeout=60)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert said == "another refresh is running; this one starts when it ends\n"
    assert (waiting.returncode, json.loads(out)[0]["source"]) == (0, "catalogue")


def test_a_refresh_that_a_person_asks_for_fetches_whatever_the_setting_says(run, skill, tmp_path):
    source = tmp_path / "source"
    skill(source, "paint-fence", "Paints a fence.")
    repository(source)
    run("ingest", source.as_uri(), "--quiet")
    skill(source, "mow-lawn", "Mows a lawn.")
    commit(source, date="2026-02-02")
    known = [
        row["components"] for row in json.loads(run("refresh", "--text-only", "--json", REPERTOIRE_FETCH="no").stdout)
    ]
    assert 2 in known


def test_what_is_shipped_is_not_removed_in_vain_and_has_no_files_to_tell_of(run):
    run("refresh", "--text-only", "--quiet")
    removed, told = run("remove", "catalogue"), run("sources", "--files", "catalogue")
    assert (removed.returncode, told.returncode) == (2, 2)
    assert "`repertoire mute catalogue` silences it" in removed.stderr
    assert "is shipped with Repertoire and has no files" in told.stderr
    assert run("mute", "catalogue").returncode == 0


def test_what_a_refresh_reads_again_is_not_removed_in_vain(run, skill, tmp_path):
    skill(tmp_path / "user" / ".claude", "paint-fence", "Paints a fence.")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "soak.md").write_text("# Soaking\n\nWillow soaks for a week.\n")
    assert run("pack", "build", "willow", "--from", str(tmp_path / "docs")).returncode == 0
    assert run("refresh", "--text-only", "--quiet").returncode == 0
    user = next(row["key"] for row in json.loads(run("sources", "--json").stdout) if row["kind"] == "user")
    for key, told in ((user, "is what Claude Code has"), ("packs", "`repertoire pack remove NAME` deletes one")):
        done = run("remove", key)
        assert (done.returncode, told in done.stderr) == (2, True)
        assert f"`repertoire mute {key}` silences it" in done.stderr
        assert run("mute", key).returncode == 0
    shutil.rmtree(tmp_path / "home" / "packs")
    shutil.rmtree(tmp_path / "user" / ".claude")
    assert {run("remove", key).returncode for key in (user, "packs")} == {0}


@pytest.mark.parametrize("verb", [("sources", "--files"), ("remove",)])
def test_a_source_that_is_spelled_nearly_so_is_named(run, verb):
    run("refresh", "--text-only", "--quiet")
    done = run(*verb, "catalog")
    assert done.returncode == 2
    assert "there is no source 'catalog'; did you mean catalogue?" in done.stderr


@pytest.mark.skipif(shutil.which("npm") is None, reason="NOT ASKED: no npm on PATH")
def test_why_npm_could_not_fetch_a_package_is_told(run):
    nowhere = {"npm_config_registry": "http://127.0.0.1:1", "npm_config_fetch_retries": "0"}
    done = run("ingest", "npm:acme-notes", **nowhere)
    assert done.returncode == 1
    assert "npm could not fetch the package: npm error code ECONNREFUSED" in done.stderr
