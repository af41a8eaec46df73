"""`stale` through the command line: what is old and why, copies that differ, lost sources; nothing is touched."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ingestion.workbench import commit, git, repository
from json_page import Page


@pytest.fixture
def old(tmp_path: Path, skill, run) -> Path:
    """A repository with a skill of 2020 and one that changed today, read as a source."""
    root = tmp_path / "repo"
    skill(root, "old-ledger", "Checks a ledger against the bank.")
    (root / "CHANGELOG.md").write_text("## 2.0.0 - 2021-05-01\n- BREAKING\n## 1.0.0 - 2020-01-01\n", encoding="utf-8")
    repository(root, date="2020-01-01")
    skill(root, "new-ledger", "Draws ledgers as pictures.")
    commit(root, date="2099-01-01")
    assert run("ingest", str(root)).returncode == 0
    return root


def test_what_is_old_is_listed_with_reasons_and_nothing_is_deleted(old, run):
    before = sorted(old.rglob("*"))
    report = json.loads(run("stale", "--json").stdout)
    (found,) = report["shown"]
    assert found["name"] == "old-ledger"
    assert found["reasons"][0].startswith("last changed 2020-01, ")
    assert found["reasons"][1] == "release 2.0.0 of 2021-05, since then, breaks compatibility"
    assert found["freshness"]["parts"]["breaking"] == 0.7
    assert found["advice"] == "look for a fresher component before you install this one"
    text = run("stale").stdout
    assert "old-ledger (skill, available, freshness 0.1" in text
    assert "new-ledger" not in text
    assert sorted(old.rglob("*")) == before
    assert "freshness: stale: last changed 2020-01" in run("explain", "old-ledger").stdout
    assert "freshness: last changed 2099-01, 0 days ago (score 1.00" in run("explain", "new-ledger").stdout


def test_age_alone_can_be_asked_for(old, run):
    assert "old-ledger" in run("stale", "--older-than", "2y").stdout
    assert "old-ledger" not in run("stale", "--older-than", "90y").stdout
    assert "Nothing is stale" in run("stale", "--installed").stdout
    assert "old-ledger" not in run("stale", REPERTOIRE_HALF_LIFE_DAYS="999999").stdout
    for wrong in ("soon", "-3d", "0", "1.5y"):
        done = run("stale", f"--older-than={wrong}")
        assert (done.returncode, "write 90d, 12w, 18m or 2y" in done.stderr) == (2, True)


def test_a_vanished_source_keeps_its_last_good_state_and_says_so_until_it_is_back(old, run, tmp_path):
    run("refresh", "--text-only")
    moved = old.rename(tmp_path / "elsewhere")
    assert run("refresh", "--text-only").returncode == 0

    text = run("stale").stdout
    assert f"folder:{old}: could not be read since " in text
    assert "; could not be read since " in run("sources").stdout
    assert "its components stay as they were" in text
    assert "   to do: nothing if it comes back, since the next refresh reads it; else run `repertoire ingest`" in text
    assert "old-ledger" in text
    assert "source: could not be read since" in run("explain", "old-ledger").stdout
    assert "1 sources could not be read; their components stay as they were" in run("status").stdout

    moved.rename(old)
    assert run("refresh", "--text-only").returncode == 0
    assert "could not be read" not in run("stale").stdout + run("status").stdout


def test_a_plugin_that_was_changed_here_is_told(run, skill, tmp_path):
    plugins = tmp_path / "user/.claude/plugins"
    market = plugins / "marketplaces/market"
    skill(market / "kit", "ledger-check", "Checks a ledger against the bank.")
    (market / ".claude-plugin").mkdir()
    stated = {"name": "market", "owner": {"name": "o"}, "plugins": [{"name": "kit", "source": "./kit"}]}
    (market / ".claude-plugin/marketplace.json").write_text(json.dumps(stated), encoding="utf-8")
    repository(market)
    copy = plugins / "cache/market/kit/1"
    shutil.copytree(market / "kit", copy)
    installed = {"plugins": {"kit@market": [{"scope": "user", "installPath": str(copy)}]}}
    (plugins / "installed_plugins.json").write_text(json.dumps(installed), encoding="utf-8")
    assert run("refresh", "--text-only").returncode == 0
    assert "installed copy: current" in run("explain", "ledger-check").stdout
    assert "installed plugins:" not in run("status").stdout

    (copy / "skills/ledger-check/SKILL.md").write_text("mine", encoding="utf-8")

    assert "kit@market: modified here (skills/ledger-check/SKILL.md: changed here)" in run("stale").stdout
    page, told = Page(), json.loads(run("stale", "--json").stdout)
    assert list(page.unlike(told, "stale", "stale")) == []
    assert [copy["state"] for copy in told["copies"]] == ["modified"]
    assert "installed plugins: 1 modified here" in run("status").stdout
    assert "installed copy: modified here" in run("explain", "ledger-check").stdout
    assert git(market, "status", "--porcelain") == ""


def test_a_marketplace_whose_folder_vanished_is_kept_while_it_is_listed(run, skill, tmp_path):
    plugins = tmp_path / "user/.claude/plugins"
    market = plugins / "marketplaces/market"
    skill(market / "kit", "ledger-check", "Checks a ledger against the bank.")
    stated = {"name": "market", "owner": {"name": "o"}, "plugins": [{"name": "kit", "source": "./kit"}]}
    (market / ".claude-plugin").mkdir()
    (market / ".claude-plugin/marketplace.json").write_text(json.dumps(stated), encoding="utf-8")
    known = {"market": {"source": {"source": "github", "repo": "acme/market"}, "installLocation": str(market)}}
    (plugins / "known_marketplaces.json").write_text(json.dumps(known), encoding="utf-8")
    run("refresh", "--text-only")
    shutil.rmtree(market)

    told = run("refresh", "--text-only").stdout
    assert "kept as it was: Claude Code lists it, and nothing is at" in told
    assert "ledger-check" in run("explain", "ledger-check").stdout
    assert "github.com/acme/market: could not be read since" in run("stale").stdout

    (plugins / "known_marketplaces.json").write_text("{}", encoding="utf-8")
    run("refresh", "--text-only")
    assert "github.com/acme/market" not in run("sources").stdout + run("stale").stdout


def test_advisories_from_a_file_are_matched_to_what_components_require(run, tmp_path):
    folder = tmp_path / "mine/skills/a"
    folder.mkdir(parents=True)
    text = "---\nname: a\ndescription: Checks ledgers.\ndependencies: [some-pkg==1.2]\n---\nText.\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    run("ingest", str(tmp_path / "mine"))
    events = [{"introduced": "0"}, {"fixed": "1.3"}]
    affected = {
        "package": {"name": "some-pkg", "ecosystem": "PyPI"},
        "ranges": [{"type": "ECOSYSTEM", "events": events}],
    }
    (tmp_path / "osv.json").write_text(json.dumps({"id": "PYSEC-1", "affected": [affected]}), encoding="utf-8")

    done = run("advisories", str(tmp_path / "osv.json"))

    assert (done.returncode, "requires some-pkg==1.2, which is affected; fixed in 1.3" in done.stdout) == (0, True)
    assert run("advisories", str(tmp_path / "none.json")).returncode == 2
    assert run("advisories", "--forget", str(tmp_path / "osv.json")).returncode == 2
    assert json.loads(run("advisories", "--json").stdout)["kept"] == 1


def test_a_file_that_is_no_json_is_refused_and_among_others_it_is_named(run, tmp_path):
    (tmp_path / "osv").mkdir()
    (tmp_path / "osv" / "notes.json").write_text("no JSON")
    done = run("advisories", str(tmp_path / "osv" / "notes.json"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "notes.json: not read as JSON" in done.stderr
    assert "name a JSON file of OSV records" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "notes.json" in run("advisories", str(tmp_path / "osv")).stdout
