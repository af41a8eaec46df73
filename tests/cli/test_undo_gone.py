"""What a person took back with the client itself counts as undone, and the rest is undone."""

from __future__ import annotations

import json
import sys

import pytest

from cli.conftest import tree, write
from cli.test_installation import client, market  # noqa: F401 - a fixture

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: the client is an sh script")

FAILS = 'case "$*" in *uninstall*|*remove*|*disable*) echo no; exit 1;; esac'


def lists(user, marketplaces: list[str], plugins: dict[str, str]) -> None:
    """Write the client's lists of marketplaces, and of plugins with the scope of each."""
    records = {name: [{"scope": scope, "installPath": "/nowhere"}] for name, scope in plugins.items()}
    write(user / "plugins/known_marketplaces.json", json.dumps({name: {} for name in marketplaces}))
    write(user / "plugins/installed_plugins.json", json.dumps({"version": 2, "plugins": records}))


def test_a_plugin_and_a_marketplace_that_a_person_removed_hinder_no_undo(run, market, shelf, user, tmp_path):  # noqa: F811
    before, path = tree(user), client(tmp_path, FAILS)
    assert run("install", "kit:weave", "weaver", "--yes", **path).returncode == 0
    lists(user, ["other"], {"kit@shelf": "project"})

    undone = run("install", "--undo", **path)

    assert undone.returncode == 0, undone.stderr
    assert "note: there was nothing left for `claude plugin uninstall kit@shelf` to take back" in undone.stdout
    assert {name for name in tree(user) if not name.startswith("plugins")} == set(before)


@pytest.mark.parametrize("left", ["the plugin", "the marketplace"])
def test_what_the_client_still_has_is_not_called_gone(run, market, user, tmp_path, left):  # noqa: F811
    path = client(tmp_path, FAILS)
    assert run("install", "kit:weave", "--yes", **path).returncode == 0
    lists(user, ["shelf"], {"kit@shelf": "user"} if left == "the plugin" else {})
    refused = run("install", "--undo", **path)
    assert refused.returncode == 1
    command = "uninstall kit@shelf" if left == "the plugin" else "marketplace remove shelf"
    assert f"`claude plugin {command}` failed: no; the rest stays as it is" in refused.stderr


def test_a_plugin_that_a_person_disabled_again_hinders_no_undo(run, market, user, tmp_path):  # noqa: F811
    lists(user, ["shelf"], {"kit@shelf": "user"})
    (user / "settings.json").write_text('{"enabledPlugins": {"kit@shelf": false}}')
    path = client(tmp_path, FAILS)
    assert run("refresh", "--text-only").returncode == 0
    shown = run("install", "kit:weave", "--yes", **path)
    assert "runs now: claude plugin enable kit@shelf" in shown.stdout, shown.stderr
    assert run("install", "--undo", **path).returncode == 0
