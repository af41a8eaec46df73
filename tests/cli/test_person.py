"""What a person says of components, silences, and takes back."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from repertoire.cli.main import main

ZEBRAFISH = (
    *("--title", "Zebrafish build dies", "--context", "The zebrafish build dies with code 137."),
    *("--solution", "Give it 4 GB of memory."),
)
VITE = ("--title", "Vite dies", "--context", "The vite build dies.", "--solution", "Give it a new cache.")


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


def test_a_mute_here_holds_in_the_folders_below_and_is_undone_there(run, skill, tmp_path):
    skill(tmp_path / "user" / ".claude", "zebra-crossing", "Paints zebra crossings on roads when a street needs one.")
    below = tmp_path / "repository" / "src"
    below.mkdir(parents=True)
    (below.parent / ".git").mkdir()

    def is_muted() -> bool:
        return json.loads(run("explain", "zebra-crossing", "--json", cwd=below).stdout)["muted"]

    run("refresh", "--text-only")
    assert run("mute", "zebra-crossing", "--here", cwd=below.parent).returncode == 0
    assert is_muted()
    assert run("mute", "zebra-crossing", "--undo", cwd=below).returncode == 0
    assert not is_muted()


def test_what_shares_its_name_with_another_component_is_muted_by_its_id_alone(run, skill, tmp_path):
    ids = []
    for shelf in ("roads", "trams"):
        skill(tmp_path / shelf, "crossing", f"Tells how to cross {shelf}.")
        assert run("ingest", str(tmp_path / shelf)).returncode == 0
        ids.append(f"folder:{tmp_path / shelf}:skills/crossing/SKILL.md")

    refused = run("mute", "crossing")

    assert refused.returncode == 2
    assert "several are called 'crossing': name one by its id" in refused.stderr
    assert all(one in refused.stderr for one in ids)
    assert "is not muted; muted now: nothing" in run("mute", "crossing", "--undo").stderr
    assert json.loads(run("mute", ids[0], "--json").stdout)["targets"] == ids[:1]
    assert json.loads(run("mute", "crossing", "--undo", "--json").stdout)["targets"] == ids[:1]


def test_forgetting_all_says_what_stays(run, tmp_path):
    run("refresh", "--text-only")
    home = tmp_path / "home"
    gone = [home / "packs" / "click" / "pack.db", home / "sources" / "a-clone" / "README.md"]
    for file in (home / "env" / "any", home / "installs" / "1" / "journal.json", *gone):
        file.parent.mkdir(parents=True)
        file.write_text("kept or not")
    told = run("forget", "--all", "--yes").stdout
    assert f"holds no data of yours: {home / 'env'}" in told
    assert not [file for file in gone if file.parent.parent.exists()]
    assert (home / "installs" / "1" / "journal.json").exists()
    assert f"former contents of your settings.json among it: {home / 'installs'}." in told
    assert "stays" not in run("forget", "--requests", "--yes").stdout


def test_forgetting_all_names_what_could_not_be_deleted_and_the_commons_that_is_still_joined(run, tmp_path):
    run("refresh", "--text-only")
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (home / "packs").symlink_to(elsewhere, target_is_directory=True)
    (home / "commons").mkdir()
    joined = {
        "url": "https://commons.example",
        "key": "k",
        "community": "team",
        "member": "ann",
        "joined": "2026-01-01",
    }
    (home / "commons" / "joined.json").write_text(json.dumps(joined))
    told = json.loads(run("forget", "--all", "--yes", "--json").stdout)
    assert told["undeleted"] == [str(home / "packs")]
    assert told["commons"] == "https://commons.example"
    assert "delete them: " + str(home / "packs") in told["message"]
    assert "(`repertoire commons leave`)" in told["message"]
    (home / "commons" / "joined.json").write_text("{")
    assert json.loads(run("forget", "--all", "--yes", "--json").stdout)["commons"] == str(home / "commons")
    assert "commons" not in run("forget", "--requests", "--yes").stdout


def test_forgetting_all_takes_a_folder_among_the_memories_along_and_the_skills_of_packs(run, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "soak.md").write_text("# Soaking\n\nWillow rods lie in water for a week.\n")
    assert run("pack", "build", "willow", "--from", str(tmp_path / "docs")).returncode == 0
    assert run("pack", "skill", "willow").returncode == 0
    skills, memories = tmp_path / "user" / ".claude" / "skills", tmp_path / "home" / "projects"
    (skills / "mine").mkdir()
    (memories / "strange").mkdir(parents=True)
    (memories / "strange" / "any").write_text("")
    assert [*skills.glob("pack-willow/*")]
    done = run("forget", "--all", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert [*memories.iterdir()] == []
    assert [file.name for file in skills.iterdir()] == ["mine"]


def test_forgetting_a_project_says_before_and_after_that_its_memory_goes(run, tmp_path):
    (tmp_path / "project" / "pyproject.toml").write_text('[project]\nname = "a"\n')
    assert run("project", "init", "--no-vectors").returncode == 0
    assert "memory with all notes and tasks" in run("forget", "--project", ".").stderr
    assert "and its memory" in run("forget", "--project", ".", "--yes").stdout
    assert "memory" not in run("forget", "--project", ".", "--yes").stdout
    assert f"solved in {tmp_path / 'project'}, and" in run("forget", "--project", ".").stderr


def test_forgetting_a_project_names_the_files_of_its_memory_that_stay(run, tmp_path):
    assert run("project", "init", "--no-vectors").returncode == 0
    assert run("project", "save", "note", "Sessions live in Redis").returncode == 0
    assert run("project", "mirror").returncode == 0
    stays = f"The files in {tmp_path / 'project/.repertoire'} stay; delete the folder to be rid of them."
    assert stays in run("project", "forget", "--yes").stdout
    assert stays in run("forget", "--project", ".", "--yes").stdout


def test_forgetting_a_folder_of_which_nothing_was_recorded_says_so_whether_it_is_there_or_not(run, tmp_path):
    (tmp_path / "project" / "shop").mkdir()
    for name in ("shop", "shopp"):
        told = run("forget", "--project", name, "--yes").stdout
        assert told.startswith(f"Nothing was recorded of {tmp_path / 'project' / name}. ")


def test_forgetting_a_folder_of_a_project_says_before_and_after_that_the_memory_of_the_project_stays(run, tmp_path):
    project, shop = tmp_path / "project", tmp_path / "project" / "shop"
    shop.mkdir()
    assert run("project", "init", "--no-vectors").returncode == 0
    assert (
        f"solved in {shop}, and not the memory of {project}, permanently" in run("forget", "--project", "shop").stderr
    )
    told = json.loads(run("forget", "--project", ".", "--yes", "--json", cwd=shop).stdout)
    assert (told["unknown"], told["within"]) == (str(shop), str(project))
    assert f"belongs to the project {project}, whose memory stays" in told["message"]
    assert json.loads(run("forget", "--project", str(project), "--yes", "--json", cwd=shop).stdout)["within"] == ""


def test_forgetting_a_folder_that_is_gone_says_that_its_draft_was_deleted(run, tmp_path):
    (tmp_path / "project" / "shop").mkdir()
    drafted = run("trace", "contribute", *ZEBRAFISH, "--json", cwd=tmp_path / "project" / "shop")
    (tmp_path / "project" / "shop").rmdir()
    assert run("forget", "--project", "shop", "--yes").stdout.startswith("Deleted what was recorded in this project")
    token = json.loads(drafted.stdout)["token"]
    assert "no draft has the token" in run("trace", "contribute", "--confirm", token).stderr


def test_forgetting_a_project_forgets_that_it_was_read_and_where_it_lay(run, tmp_path):
    run("refresh", "--text-only")
    assert f'"{tmp_path / "project"}"' in (tmp_path / "home" / "refresh.json").read_text()
    assert run("forget", "--project", ".", "--yes").returncode == 0
    assert str(tmp_path / "project") not in (tmp_path / "home" / "refresh.json").read_text()


def test_forgetting_a_project_says_that_its_mute_stays(run):
    assert "muted" not in run("forget", "--project", ".", "--yes").stdout
    assert run("mute", "project").returncode == 0
    assert "stays muted, and is stored with its path" in run("forget", "--project", ".", "--yes").stdout
    assert run("mute", "project", "--undo").returncode == 0
    assert "muted" not in run("forget", "--project", ".", "--yes").stdout


def test_forgetting_requests_takes_along_drafts_that_nobody_confirmed_and_no_trace_that_was_kept(run, tmp_path):
    kept = json.loads(run("trace", "contribute", *VITE, "--yes", "--json").stdout)
    run("trace", "contribute", *ZEBRAFISH)
    assert "drafts of traces" in run("forget", "--requests", "--yes").stdout
    for file in (tmp_path / "home").glob("repertoire.db*"):
        assert b"ebrafish" not in file.read_bytes()
    assert kept["id"] in run("trace", "list").stdout


def test_a_draft_that_is_discarded_goes_from_the_backup_too(run, tmp_path):
    token = json.loads(run("trace", "contribute", *ZEBRAFISH, "--json").stdout)["token"]
    run("refresh", "--text-only")
    assert b"ebrafish" in (tmp_path / "home" / "repertoire.db.backup").read_bytes()
    assert run("trace", "contribute", "--discard", token).returncode == 0
    assert b"ebrafish" not in (tmp_path / "home" / "repertoire.db.backup").read_bytes()


def test_forgetting_a_trace_takes_along_the_draft_of_its_next_version(run, tmp_path):
    kept = json.loads(run("trace", "contribute", *ZEBRAFISH, "--yes", "--json").stdout)
    draft = json.loads(run("trace", "amend", kept["id"], "--solution", "Raise it to 8 GB.", "--json").stdout)
    assert run("forget", "--trace", kept["id"], "--yes").returncode == 0
    for file in (tmp_path / "home").glob("repertoire.db*"):
        assert b"ebrafish" not in file.read_bytes()
    assert run("trace", "contribute", "--confirm", draft["token"]).returncode != 0


def test_forgetting_a_trace_takes_along_a_draft_that_amends_its_draft(run, tmp_path):
    kept = json.loads(run("trace", "contribute", *ZEBRAFISH, "--yes", "--json").stdout)
    token = json.loads(run("trace", "amend", kept["id"], "--solution", "Raise it to 8 GB.", "--json").stdout)["token"]
    last = json.loads(run("trace", "amend", token, "--solution", "Raise it to 16 GB.", "--json").stdout)["token"]
    assert run("forget", "--trace", kept["id"], "--yes").returncode == 0
    for file in (tmp_path / "home").glob("repertoire.db*"):
        assert b"ebrafish" not in file.read_bytes()
    assert "no draft has the token" in run("trace", "contribute", "--confirm", last).stderr


def test_forgetting_asks_first_and_then_forgets(run):
    run("refresh", "--text-only")
    asked = run("forget", "--requests")
    assert asked.returncode == 1
    assert "nobody answered" in asked.stderr
    assert run("forget", "--requests", "--yes").returncode == 0


def test_a_trace_is_named_by_its_title_before_it_is_forgotten_and_one_that_is_not_there_is_not_asked_about(run):
    kept = json.loads(run("trace", "contribute", *ZEBRAFISH, "--yes", "--json").stdout)["id"]
    asked = run("forget", "--trace", kept.removeprefix("trace:")[:6])
    assert (asked.returncode, f"Delete the trace {kept} (Zebrafish" in asked.stderr) == (1, True)
    refused = run("forget", "--trace", "nope")
    assert refused.returncode == 2
    assert refused.stderr.startswith("repertoire: there is no trace 'nope'")


def test_whoever_says_no_reads_that_nothing_was_changed():
    with CliRunner().isolation(input="n\n") as (_, asked, _), pytest.raises(SystemExit) as left:
        main(["forget", "--requests"])
    assert left.value.code == 1
    assert asked.getvalue().decode().endswith("[y/N]: n\nnothing was changed\n")


def test_feedback_is_kept_for_the_component_of_that_name_and_an_unknown_name_is_told(run, skill, tmp_path):
    skill(tmp_path / "user" / ".claude", "zebra-crossing", "Paints zebra crossings on roads when a street needs one.")
    assert run("refresh", "--text-only").returncode == 0
    said = run("feedback", "zebra-crossing", "failed", "--note", "used password=hunter2hunter2 in the open", "--json")
    assert json.loads(said.stdout)["name"] == "zebra-crossing"
    database = (tmp_path / "home" / "repertoire.db").read_bytes()
    assert b"in the open" in database
    assert b"hunter2hunter2" not in database
    unknown = run("feedback", "no-such-thing", "ok")
    assert unknown.returncode == 2
    assert "no-such-thing" in unknown.stderr
