"""Installed plugins are compared with their marketplace's clone byte by byte, and each difference is reported."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from ingestion.workbench import commit, git, repository, skill
from repertoire.app.health.stale import odd_copies
from repertoire.sources.plugin_diff import CURRENT, GONE, MODIFIED, OUTDATED, UNKNOWN, compare

KIT = {".claude-plugin/plugin.json": '{"name": "kit", "version": "1.0.0"}', "skills/a/SKILL.md": skill("a")}


class Machine:
    """A machine with one marketplace, cloned, and the plugin `kit` installed from it."""

    def __init__(self, bench) -> None:
        self.bench = bench
        self.folder = bench.root / "person/.claude/plugins"
        self.list([{"name": "kit", "source": "./kit"}], "origin")
        self.origin = repository(bench.write({f"kit/{path}": text for path, text in KIT.items()}, under="origin"))

    def list(self, plugins: list[dict[str, object]], under: str) -> None:
        stated = json.dumps({"name": "market", "owner": {"name": "o"}, "plugins": plugins})
        self.bench.write({".claude-plugin/marketplace.json": stated}, under=under)

    def clone(self, *options: str) -> None:
        self.market = self.folder / "marketplaces/market"
        self.market.parent.mkdir(parents=True)
        git(self.bench.root, "clone", "-q", *options, self.origin.as_uri(), str(self.market))
        self.copy = self.folder / "cache/market/kit/1.0.0"
        shutil.copytree(self.market / "kit", self.copy)
        record = {"scope": "user", "installPath": str(self.copy), "gitCommitSha": self.head()}
        known = {"source": {"source": "url", "url": self.origin.as_uri()}, "installLocation": str(self.market)}
        self.write("installed_plugins.json", {"version": 2, "plugins": {"kit@market": [record]}})
        self.write("known_marketplaces.json", {"market": known})

    def write(self, name: str, value: object) -> None:
        (self.folder / name).write_text(json.dumps(value), encoding="utf-8")

    def head(self) -> str:
        return git(self.market, "rev-parse", "HEAD").strip()

    def upstream(self, **files: str) -> None:
        """Change the plugin at its origin and fetch that, as Claude Code does."""
        self.bench.write({f"kit/{path}": text for path, text in files.items()}, under="origin")
        commit(self.origin, date="2026-02-02")
        git(self.market, "pull", "-q", "--ff-only")

    def state(self) -> tuple[str, str]:
        (copy,) = compare(os.environ)
        return copy.state, copy.detail


@pytest.fixture(params=["full", "shallow"])
def machine(bench, request):
    made = Machine(bench)
    made.clone(*(("--depth", "1") if request.param == "shallow" else ()))
    return made


def test_an_untouched_copy_is_current_whatever_running_it_left_behind(machine):
    (machine.copy / "__pycache__").mkdir()
    (machine.copy / "__pycache__/x.pyc").write_bytes(b"x")
    assert machine.state() == (CURRENT, "")


def test_what_the_client_notes_in_a_copy_is_no_change_of_it_and_a_folder_of_that_name_inside_is(machine):
    (machine.copy / ".in_use").mkdir()
    (machine.copy / ".in_use/4711").write_text("", encoding="utf-8")
    assert machine.state() == (CURRENT, "")
    (machine.copy / "skills/.in_use").mkdir()
    (machine.copy / "skills/.in_use/x.md").write_text("mine", encoding="utf-8")
    assert machine.state()[0] == MODIFIED


def test_a_copy_of_an_older_state_is_outdated(machine):
    machine.upstream(**{"skills/a/SKILL.md": skill("a", "Newer."), "skills/b/SKILL.md": skill("b")})
    state, detail = machine.state()
    assert state == OUTDATED
    assert detail.startswith("skills/a/SKILL.md, skills/b/SKILL.md: ")
    (copy,) = compare(os.environ)
    assert copy.sure


def test_one_changed_byte_of_the_same_length_is_told_as_changed_here(machine):
    file = machine.copy / "skills/a/SKILL.md"
    file.write_bytes(file.read_bytes().replace(b"Text.", b"text."))
    assert machine.state() == (MODIFIED, "skills/a/SKILL.md: changed here")


def test_what_was_added_here_is_told_too(machine):
    (machine.copy / "mine.md").write_text("mine", encoding="utf-8")
    assert machine.state() == (MODIFIED, "mine.md: changed here")


def test_changed_here_and_behind_is_told_as_far_as_history_reaches(bench):
    machine = Machine(bench)
    machine.clone()
    (machine.copy / "skills/a/SKILL.md").write_text("mine", encoding="utf-8")
    machine.upstream(**{"skills/b/SKILL.md": skill("b")})
    assert machine.state() == (MODIFIED, "skills/a/SKILL.md: changed here; it is behind as well")
    shutil.rmtree(machine.market / ".git")
    (copy,) = compare(os.environ)
    assert (copy.state, copy.sure) == (OUTDATED, False)
    (odd,) = odd_copies((copy,))
    assert odd.advice.startswith("if you changed those files, keep them elsewhere first")


def test_what_is_not_there_any_more_is_gone(machine):
    machine.list([{"name": "other", "source": "./kit"}], str(machine.market))
    assert machine.state() == (GONE, "its marketplace lists it no more")
    machine.list([{"name": "kit", "source": "./moved"}], str(machine.market))
    assert machine.state() == (GONE, "its marketplace lists it and does not hold it")
    machine.list([{"name": "kit", "source": "../../../../../.."}], str(machine.market))
    assert machine.state()[0] == GONE
    shutil.rmtree(machine.market)
    assert machine.state() == (GONE, "its marketplace is not on this machine")
    shutil.rmtree(machine.copy)
    assert machine.state() == (GONE, "its files are not where it was installed")


def test_what_a_marketplace_only_points_to_cannot_be_compared(machine):
    machine.list([{"name": "kit", "source": {"source": "github", "repo": "x/kit"}}], str(machine.market))
    assert machine.state()[0] == UNKNOWN


def test_links_are_compared_by_where_they_lead(machine):
    (machine.copy / "skills/a/SKILL.md").unlink()
    (machine.copy / "skills/a/SKILL.md").symlink_to("/etc/passwd")
    assert machine.state()[0] == MODIFIED
