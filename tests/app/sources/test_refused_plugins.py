"""What a marketplace lists and Claude Code cannot install is no plugin here, and the author is told what to change."""

from __future__ import annotations

import json

import pytest

from ingestion.workbench import skill

PLUGIN = {
    "plugins/books/.claude-plugin/plugin.json": json.dumps({"name": "books"}),
    "plugins/books/skills/a/SKILL.md": skill("a"),
}


def marketplace(**entry: object) -> str:
    listed = [{"name": "books", "source": "./plugins/books"}, {"name": "extra", "description": "Sorts.", **entry}]
    return json.dumps({"name": "tools", "owner": {"name": "Ada"}, "plugins": listed})


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "extra: Claude Code installs nothing without a `source`"),
        (
            {"source": "../extra"},
            "extra: its `source` leads out of the repository; Claude Code takes one below it, as ./x",
        ),
        (
            {"name": "my extra", "source": "./plugins/books"},
            "my extra: Claude Code finds no plugin whose name has more than letters, digits, `.`, `_` and `-`",
        ),
    ],
)
def test_an_entry_that_the_client_refuses_is_no_plugin_but_a_note(bench, entry, said):
    report = bench.ingest(bench.write({".claude-plugin/marketplace.json": marketplace(**entry), **PLUGIN}))
    assert report.warnings == (f".claude-plugin/marketplace.json: {said}",)
    assert sorted(one.name for one in bench.all().values()) == ["a", "books"]
    assert {one.marketplace for one in bench.all().values()} == {"tools"}


def test_an_entry_whose_folder_is_not_there_is_told(bench):
    report = bench.ingest(
        bench.write({".claude-plugin/marketplace.json": marketplace(source="./plugins/extra"), **PLUGIN})
    )
    (told,) = report.warnings
    assert told.startswith(".claude-plugin/marketplace.json: extra: no file lies in plugins/extra, its `source`")


def test_a_sound_marketplace_draws_no_note(bench):
    other = {"source": "github", "repo": "ada/extra"}
    assert (
        bench.ingest(bench.write({".claude-plugin/marketplace.json": marketplace(source=other), **PLUGIN})).warnings
        == ()
    )
