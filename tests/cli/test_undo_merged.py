"""Of settings that others changed too, an undo takes out exactly what it added, or leaves them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import HOOKS, SETTINGS, tree, write

GROUP = HOOKS["PostToolUse"][0]
OTHER = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}


@pytest.fixture
def settings(user):
    """Return a function that changes the settings as another program does, and returns them."""

    def change(*, drop: tuple[str, ...] = (), **more: object) -> dict[str, object]:
        file = user / "settings.json"
        held = {name: value for name, value in json.loads(file.read_text()).items() if name not in drop}
        file.write_text(json.dumps({**held, **more}))
        return json.loads(file.read_text())

    return change


def test_a_hook_is_taken_out_of_settings_that_others_changed_too(run, shelf, user, settings):
    assert run("install", "tidy", "weave", "--yes").returncode == 0
    settings(hooks={"Stop": [], "PostToolUse": [OTHER, GROUP]}, permissions={"allow": ["Bash"]}, drop=("model",))
    (user / "settings.json").chmod(0o600)

    undone = run("install", "--undo")

    assert undone.returncode == 0, undone.stderr
    file = user / "settings.json"
    assert f"note: {file} was changed by others too: only what was added was taken out (hooks.PostToolUse)" in (
        undone.stdout
    )
    assert f"as it was: {file}" not in undone.stdout
    left = {"hooks": {"Stop": [], "PostToolUse": [OTHER]}, "permissions": {"allow": ["Bash"]}}
    assert json.loads(file.read_text()) == left
    assert file.stat().st_mode & 0o777 == 0o600
    assert not (user / "skills").exists()


def test_what_was_added_leaves_no_empty_objects_behind(run, shelf, user, settings):
    (user / "settings.json").unlink()
    assert run("install", "tidy", "--yes").returncode == 0
    settings(model="sonnet")
    assert run("install", "--undo").returncode == 0
    assert json.loads((user / "settings.json").read_text()) == {"model": "sonnet"}


def test_settings_that_hold_nothing_but_what_was_added_are_removed_however_others_wrote_them(
    run, shelf, user, settings
):
    (user / "settings.json").unlink()
    assert run("install", "tidy", "--yes").returncode == 0
    settings()
    assert run("install", "--undo").returncode == 0
    assert not (user / "settings.json").exists()


@pytest.mark.parametrize(
    "now",
    [
        {"model": "opus", "hooks": {"Stop": [], "PostToolUse": [{**GROUP, "matcher": "Write"}]}},
        {"model": "opus", "hooks": {"Stop": []}},
        {"model": "opus", "hooks": []},
    ],
)
def test_a_hook_that_is_not_as_it_was_added_is_left_alone_and_named(run, shelf, user, environment, now):
    assert run("install", "weave", "tidy", "--yes").returncode == 0
    (user / "settings.json").write_text(json.dumps(now))
    held = tree(user)
    refused = run("install", "--undo")
    assert refused.returncode == 1
    assert f"{user / 'settings.json'} (where hooks" in refused.stderr
    assert "is not as it was added); nothing was taken back" in refused.stderr
    assert refused.stderr.endswith(f"remove by hand what was installed, and then {held_at(environment)}\n")
    assert tree(user) == held


def held_at(environment: dict[str, str]) -> Path:
    return Path(environment["REPERTOIRE_HOME"]) / "installs/1"


@pytest.mark.parametrize(("key", "own"), [("LOOM_KEY", "of my own"), ("MORE", "1")])
def test_a_setting_of_several_keys_that_a_person_changed_is_not_taken_apart(run, user, tmp_path, key, own):
    line = {"type": "command", "command": "loom", "env": {"LOOM_KEY": "${LOOM_KEY}"}}
    shelf = tmp_path / "env"
    place = "cli-tool/components/settings/statusline/loom.json"
    write(shelf / place, json.dumps({"env": {"LOOM_KEY": "x"}, "statusLine": line}))
    assert run("ingest", str(shelf)).returncode == 0
    assert run("install", f"folder:{shelf}:{place}#settings", "--yes").returncode == 0
    now = {**json.loads(SETTINGS), "env": {"LOOM_KEY": "x"}, "statusLine": {**line, "env": {key: own}}}
    (user / "settings.json").write_text(json.dumps(now))
    assert "(where statusLine is not as it was added)" in run("install", "--undo").stderr
    assert json.loads((user / "settings.json").read_text()) == now


def test_two_installations_are_taken_back_in_any_order(run, shelf, user):
    write(shelf / "hooks/other.json", json.dumps({"hooks": {"PostToolUse": [OTHER]}}))
    assert run("ingest", str(shelf)).returncode == 0
    for name in ("tidy", "other"):
        assert run("install", name, "--yes").returncode == 0
    for number in ("1", "2"):
        assert run("install", "--undo", number).returncode == 0
    left = {"model": "opus", "hooks": {"Stop": [], "PostToolUse": []}}
    assert json.loads((user / "settings.json").read_text()) == left


def test_without_a_kept_merge_as_in_older_journals_changed_settings_are_left_alone(run, shelf, user, environment):
    assert run("install", "tidy", "--yes").returncode == 0
    [file] = json.loads((held_at(environment) / "journal.json").read_text())["files"]
    (held_at(environment) / file["after"]).unlink()
    (user / "settings.json").write_text(SETTINGS.replace("opus", "sonnet"))
    refused = run("install", "--undo")
    assert f"changed since they were installed: {user / 'settings.json'}; nothing was taken back" in refused.stderr


def test_what_a_later_installation_found_there_already_is_not_taken_out_before_that_one(run, shelf, user):
    write(shelf / "hooks/both.json", json.dumps({"hooks": {"PostToolUse": [GROUP, OTHER]}}))
    write(shelf / "hooks/same.json", json.dumps({"hooks": {"PostToolUse": [GROUP]}}))
    assert run("ingest", str(shelf)).returncode == 0
    for name in ("tidy", "both", "same"):
        assert run("install", name, "--yes").returncode == 0
    held = tree(user)

    for relying in ("3", "2"):
        refused = run("install", "--undo", "1")
        assert refused.returncode == 1
        assert f"installation {relying} relies on what this one added; nothing was taken back" in refused.stderr
        assert tree(user) == held
        assert run("install", "--undo", relying).returncode == 0
        held = tree(user)
    assert run("install", "--undo", "1").returncode == 0
    assert (user / "settings.json").read_text() == SETTINGS


def test_who_installs_the_same_again_relies_on_nothing_new(run, shelf, user):
    assert run("install", "tidy", "--yes").returncode == 0
    assert "Nothing to do." in run("install", "tidy", "--yes").stdout


def test_the_folders_that_an_undo_had_to_leave_to_another_installation_go_with_that_one(run, shelf, user):
    before = tree(user)
    write(shelf / "skills/plait/SKILL.md", "---\nname: plait\ndescription: Plaits willow.\n---\nPlait.\n")
    assert run("ingest", str(shelf)).returncode == 0
    for name in ("weave", "plait"):
        assert run("install", name, "--yes").returncode == 0
    for number in ("1", "2"):
        assert run("install", "--undo", number).returncode == 0
    assert tree(user) == before
    (user / "skills").mkdir()  # a person's own now
    assert run("install", "plait", "--yes").returncode == 0
    assert run("install", "--undo").returncode == 0
    assert [*user.glob("skills*")] == [user / "skills"]
