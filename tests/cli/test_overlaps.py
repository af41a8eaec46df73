"""`overlaps` through the command line: what is installed first, what to do, dismissed for good."""

from __future__ import annotations

import json

BODY = " ".join(f"Look at part {number} of the ledger and compare it with the bank." for number in range(12))


def test_two_installed_skills_of_one_name_are_listed_until_dismissed(run, skill, tmp_path):
    user, project = tmp_path / "user" / ".claude", tmp_path / "project" / ".claude"
    skill(user, "ledger-check", "Checks a ledger against the bank.", BODY)
    skill(project, "ledger-check", "Draws ledgers as pictures.", "Take a pen.")
    assert run("refresh", "--text-only").returncode == 0

    found = json.loads(run("overlaps", "--installed", "--json").stdout)
    (conflict,) = [item for item in found["shown"] if item["kind"] == "conflicts_with"]
    assert conflict["first"]["installed"]
    assert conflict["second"]["installed"]
    text = run("overlaps").stdout
    assert "conflict: ledger-check and ledger-check" in text
    assert "both answer to /ledger-check; one hides the other" in text
    assert "to do: keep one of them, or rename one" in text
    assert "overlaps among installed components: 1" in run("status").stdout

    done = run("overlaps", "--dismiss", conflict["id"])
    assert "Not listed again until one of the two changes" in done.stdout
    assert run("refresh", "--text-only").returncode == 0
    assert "conflict:" not in run("overlaps").stdout
    assert "overlaps among" not in run("status").stdout

    assert "Listed again" in run("overlaps", "--dismiss", conflict["id"], "--undo").stdout
    assert "conflict: ledger-check" in run("overlaps").stdout


def test_a_copy_of_what_is_installed_is_told_with_the_line_that_silences_it(run, skill, tmp_path):
    skill(tmp_path / "user" / ".claude", "ledger-check", "Checks a ledger against the bank.", BODY)
    file = skill(tmp_path / "mirror", "ledger-check", "Checks a ledger against the bank.", BODY + " Then stop.")
    run("refresh", "--text-only")
    assert run("ingest", str(tmp_path / "mirror")).returncode == 0

    text = run("overlaps").stdout
    assert "copies: ledger-check and ledger-check" in text
    assert "it is the one that is installed" in text
    (line,) = [line for line in text.splitlines() if "silence it: repertoire mute " in line]
    silenced = line.partition("repertoire mute ")[2]
    assert silenced.endswith(f"{file.relative_to(tmp_path / 'mirror').as_posix()}")
    assert run("mute", silenced).returncode == 0
    assert "the other is muted already" in run("overlaps").stdout
    assert "copies:" in run("explain", "ledger-check").stdout


def test_of_exact_copies_one_file_is_to_be_deleted_and_named_since_a_mute_silences_both(run, skill, tmp_path):
    user, project = tmp_path / "user" / ".claude", tmp_path / "project" / ".claude"
    for root in (user, project):
        skill(root, "ledger-check", "Checks a ledger against the bank.", BODY)
    skill(tmp_path / "mirror", "ledger-check", "Checks a ledger against the bank.", BODY)
    assert run("ingest", str(tmp_path / "mirror")).returncode == 0
    assert run("refresh", "--text-only").returncode == 0

    def copies(*options):
        shown = json.loads(run("overlaps", *options, "--json").stdout)["shown"]
        return [item for item in shown if item["kind"] == "twin_of"]

    (here,) = copies("--installed")
    (other,) = {here["first"]["id"], here["second"]["id"]} - {here["keep"]}
    assert here["advice"] == f"delete the file of {other}"
    apart = [item["advice"] for item in copies() if item["id"] != here["id"]]
    assert set(apart) == {"do not install the other beside ledger-check"}

    assert run("mute", other).returncode == 0
    (here,) = copies("--installed")
    assert (here["first"]["muted"], here["second"]["muted"]) == (True, True)
    assert here["advice"] == f"delete the file of {other}"


def test_wrong_use_is_told(run):
    assert run("overlaps", "--installed", "--all").returncode == 2
    assert run("overlaps", "--undo").returncode == 2
    done = run("overlaps", "--dismiss", "nope")
    assert (done.returncode, "no overlap has the id nope" in done.stderr) == (2, True)
    assert "No component overlaps with an installed one." in run("overlaps").stdout


def test_one_file_that_is_reached_twice_is_no_pair_of_copies(run, skill, tmp_path):
    user = tmp_path / "user/.claude"
    skill(user, "weave", "Weaves baskets from willow rods that were soaked.")
    (user / "skills/alias").symlink_to("weave")
    run("refresh", "--text-only")
    assert json.loads(run("overlaps", "--installed", "--json").stdout)["shown"] == []


def test_what_two_projects_have_is_no_overlap_and_of_a_persons_and_a_projects_the_persons_stays(run, skill, tmp_path):
    projects = [tmp_path / name for name in ("one", "two")]
    for project in projects:
        skill(project / ".claude", "weave", "Weaves baskets from willow rods that were soaked.")
        assert run("refresh", "--text-only", cwd=project).returncode == 0
    assert json.loads(run("overlaps", "--installed", "--json").stdout)["shown"] == []
    own = skill(tmp_path / "user/.claude", "weave", "Weaves baskets from willow rods that were soaked.")
    assert run("refresh", "--text-only", cwd=projects[0]).returncode == 0
    found = json.loads(run("overlaps", "--installed", "--json").stdout)["shown"]
    assert own.exists()
    assert {one["keep"] for one in found} == {"user:~/.claude:skills/weave/SKILL.md"}


def test_every_pair_can_be_listed_in_pages(run, skill, tmp_path):
    for name in ("one", "two", "three"):
        skill(tmp_path / "mirror" / name, "ledger-check", "Checks a ledger against the bank.", f"{BODY} {name}")
    assert run("ingest", str(tmp_path / "mirror")).returncode == 0

    def listed(*options):
        return [pair["id"] for pair in json.loads(run("overlaps", "--all", *options, "--json").stdout)["shown"]]

    pairs = listed()
    assert len(pairs) > 1
    assert f"{len(pairs) - 1} more: --offset 1 lists the next" in run("overlaps", "--all", "--limit", "1").stdout
    assert listed("--limit", "1", "--offset", "1") == pairs[1:2]
    assert listed("--offset", "1") == pairs[1:]
    assert f"There are only {len(pairs)}." in run("overlaps", "--all", "--offset", "99").stdout
