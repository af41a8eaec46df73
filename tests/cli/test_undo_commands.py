"""What the client did for an installation is undone without harm to what a person installed beside it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from cli.conftest import SETTINGS, tree, write
from cli.test_installation import client, market, told  # noqa: F401 - a fixture

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: the client is an sh script")


def test_a_marketplace_stays_while_a_person_has_another_plugin_of_it(run, market, user, tmp_path):  # noqa: F811
    path = client(tmp_path, "exit 0")
    assert run("install", "kit:weave", "--yes", **path).returncode == 0
    listed = {"version": 2, "plugins": {"other@shelf": [{"scope": "user"}], "kit@elsewhere": [{"scope": "user"}]}}
    write(user / "plugins/installed_plugins.json", json.dumps(listed))
    undone = run("install", "--undo", **path)
    assert undone.returncode == 0, undone.stderr
    assert told(tmp_path)[7:] == ["plugin", "uninstall", "kit@shelf"]
    assert "note: the marketplace stays, since other@shelf of it is installed" in undone.stdout
    assert "ran: claude plugin marketplace remove" not in undone.stdout


def test_an_undo_that_the_client_refuses_fails_and_is_tried_again(run, shelf, user, tmp_path):
    before = tree(user)
    path = client(tmp_path, f'test -e {tmp_path}/mended || case "$*" in *remove*) echo busy; exit 1;; esac')
    assert run("install", "loom", "tidy", "--yes", **path).returncode == 0
    write(tmp_path / "user/.claude.json", '{"mcpServers": {"loom": {"command": "loom"}}}')
    refused = run("install", "--undo", **path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "`claude mcp remove --scope user loom` failed: busy" in refused.stderr
    assert tree(user) != before
    (tmp_path / "mended").touch()
    undone = run("install", "--undo", **path)
    assert "ran: claude mcp remove --scope user loom" in undone.stdout
    assert tree(user) == before


def test_what_is_not_for_a_project_is_undone_after_the_project_is_gone(run, shelf, user, tmp_path):
    path, project = client(tmp_path, "exit 0"), tmp_path / "gone"
    project.mkdir()
    assert run("install", "loom", "--yes", cwd=project, **path).returncode == 0
    shutil.rmtree(project)
    assert run("install", "--undo", **path).returncode == 0
    assert told(tmp_path)[-5:] == ["mcp", "remove", "--scope", "user", "loom"]


@pytest.mark.parametrize("on", [True, False])
def test_a_plugin_that_a_projects_team_turned_on_is_no_installation_that_an_undo_would_turn_off(
    run,
    market,  # noqa: F811
    tmp_path,
    on,
):
    write(tmp_path / "project/.claude/settings.json", json.dumps({"enabledPlugins": {"kit@shelf": on}}))
    done = run("install", "kit:weave", "--project", "--yes", **client(tmp_path, "exit 0"))
    assert done.returncode == 0, done.stderr
    assert ("it is installed already: the project's settings turn it on" in done.stdout) == on
    assert ("install" in told(tmp_path)) == (not on)
    assert run("install", "--undo", **client(tmp_path, "exit 0")).returncode == (2 if on else 0)


def test_an_undo_has_no_dry_run(run, shelf, user):
    assert run("install", "weave", "--yes").returncode == 0
    assert run("install", "--undo", "--dry-run").returncode == 2
    assert (user / "skills/weave/SKILL.md").exists()


def test_a_projects_servers_are_as_they_were_byte_for_byte(run, shelf, user, tmp_path):
    file, text = tmp_path / "project/.mcp.json", '{"mcpServers": {"pg": {"command":"npx"}}}'
    file.write_text(text)
    path = client(tmp_path, f'case "$*" in *add*) echo "{{}}" > {file};; *) echo "[]" > {file};; esac')
    assert run("install", "loom", "--project", "--yes", **path).returncode == 0
    assert file.read_text() != text
    assert run("install", "--undo", **path).returncode == 0
    assert file.read_text() == text


@pytest.mark.parametrize(
    "settings",
    [
        '{"hooks": {"PostToolUse": null}}',
        '{"hooks": {"PostToolUse": {}}}',
        '{"u": "\\ud83d x"}',
        '{"permissions": {"deny": ["Read(./x)"]}, "permissions": {"allow": ["Bash"]}}',
        '{"e": 1e400}',
    ],
)
def test_settings_that_cannot_be_written_again_as_they_are_stay_as_they_are(run, shelf, user, settings):
    (user / "settings.json").write_text(settings)
    refused = run("install", "tidy", "--yes")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "try again" in refused.stderr
    assert (user / "settings.json").read_text() == settings


def test_a_hook_whose_script_is_not_there_is_refused(run, shelf, user):
    action = {"type": "command", "command": 'python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.py'}
    at_home = {"type": "command", "command": "~/.claude/hooks/note.sh"}
    for name, one in (("guard", action), ("note", at_home)):
        hook = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [one]}]}}
        write(shelf / f"hooks/{name}.json", json.dumps(hook))
    assert run("ingest", str(shelf)).returncode == 0
    for name in ("guard", "note"):
        refused = run("install", name, "--yes")
        assert refused.returncode == 1
        assert "which is not there" in refused.stderr
    assert (user / "settings.json").read_text() == SETTINGS
    write(user / "hooks/note.sh", "#!/bin/sh\n")
    assert run("install", "note", "--yes").returncode == 0


@pytest.mark.usefixtures("interruptible")
def test_an_installation_that_is_interrupted_takes_back_what_it_did(run, market, shelf, user, environment, tmp_path):  # noqa: F811
    before = tree(user)
    path = client(tmp_path, 'case "$*" in *install*) kill -2 $PPID; sleep 5;; esac')
    line = [sys.executable, "-m", "repertoire", "install", "weaver", "kit:plait", "--yes"]
    place = tmp_path / "project"
    stopped = subprocess.run(line, cwd=place, env={**environment, **path}, capture_output=True, text=True, check=False)
    assert (stopped.returncode, stopped.stderr.splitlines()[-1:]) == (130, ["interrupted"])
    assert tree(user) == before
    assert told(tmp_path)[-4:] == ["plugin", "marketplace", "remove", "shelf"]
    assert run("install", "tidy", "--yes").returncode == 0
