"""Known combinations are mined by an ingest, kept by the next, and deleted with the sources that they came from."""

from __future__ import annotations

import json

import pytest

from ingestion.workbench import skill
from repertoire.app.person.forget import forget
from repertoire.app.sources.ingest import ingest
from repertoire.app.sources.patterns import renew_patterns
from repertoire.app.sources.settle import remove_source
from repertoire.domain.component import MEMBER_OF, PATTERN
from repertoire.settings import Settings
from repertoire.store.requests import Request, Selection

NOW = "2026-01-02T03:04:05Z"
KIT = {
    ".claude-plugin/plugin.json": json.dumps({"name": "release-kit", "description": "Releases."}),
    "skills/notes/SKILL.md": skill("notes", "Writes release notes."),
    "skills/tag/SKILL.md": skill("tag", "Tags a git release."),
    "agents/releaser.md": "---\nname: releaser\ndescription: Releases.\nskills: [notes, tag]\n---\nRelease.",
}


def patterns(store):
    topology = store.graph.topology()
    data = store.graph.data(PATTERN)
    found = {}
    for source, target, relation in zip(topology.source, topology.target, topology.relation, strict=True):
        if relation == MEMBER_OF:
            told = data[int(topology.ids[target])]
            name = (topology.names[target], told["origin"], told["support"])
            found.setdefault(name, set()).add(topology.names[source])
    return found


def select_together(store, project, *names, first=0):
    """Record two requests that selected these, and one that selected something else."""
    for number, chosen in enumerate((names, names, ("releaser",)), first):
        ids = [entry.component.id for name in chosen for entry in store.graph.by_name(name)]
        request = Request(f"request:{number}", "text", project, selected=tuple(map(Selection, ids)))
        store.requests.record_many([request], now=NOW)


def test_an_ingest_keeps_what_a_plugin_carries_and_what_an_agent_declares(bench):
    bench.ingest(bench.write(KIT))
    whole = {"releaser", "notes", "tag"}
    assert patterns(bench.store) == {("releaser", "agent", 2): whole}


def test_ingesting_again_keeps_the_patterns_and_the_revision(bench):
    folder = bench.write(KIT)
    bench.ingest(folder)
    before, revision = patterns(bench.store), bench.revision()
    bench.ingest(folder)
    renew_patterns(bench.store)
    assert (patterns(bench.store), bench.revision()) == (before, revision)


def test_a_changed_file_changes_the_patterns_that_it_is_in(bench):
    folder = bench.write(KIT)
    bench.ingest(folder)
    bench.write({"skills/check/SKILL.md": skill("check", "Checks a release.")})
    bench.ingest(folder)
    assert patterns(bench.store) == {
        ("releaser", "agent", 1): {"releaser", "notes", "tag"},
        ("release-kit", "plugin", 1): {"releaser", "notes", "tag", "check"},
    }


def test_a_removed_source_takes_its_patterns_with_it(bench):
    report = bench.ingest(bench.write(KIT))
    remove_source(bench.store, report.source)
    assert bench.store.graph.data(PATTERN) == {}
    assert bench.store.graph.counts()["nodes"] == 0


def test_what_a_person_put_together_for_a_project_is_a_pattern(bench, monkeypatch):
    project = bench.write(
        {
            ".claude/skills/lint/SKILL.md": skill("lint", "Lints."),
            ".claude/commands/ship.md": "---\ndescription: Ships.\n---\nShip.",
        },
        under="shop",
    )
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    ingest(bench.store, bench.home, "installed", settings=Settings())
    assert patterns(bench.store) == {("shop", "project", 1): {"lint", "ship"}}


@pytest.fixture
def used(bench):
    bench.ingest(bench.write(KIT))
    select_together(bench.store, "/projects/a", "notes", "tag")
    renew_patterns(bench.store)
    return bench


PAIR = ("notes + tag", "request", 2)


def test_what_requests_selected_together_is_a_pattern(used):
    assert patterns(used.store)[PAIR] == {"notes", "tag"}


def test_forgetting_requests_forgets_what_they_showed(used):
    forget(used.store, "requests")
    assert PAIR not in patterns(used.store)
    assert ("releaser", "agent", 2) in patterns(used.store)
    assert not [row for row in used.store._connection.rows("SELECT name FROM node") if row == ("notes + tag",)]


def test_forgetting_a_project_leaves_what_other_projects_showed(used):
    select_together(used.store, "/projects/b", "notes", "tag", first=10)
    renew_patterns(used.store)
    assert ("notes + tag", "request", 4) in patterns(used.store)
    forget(used.store, "project", project="/projects/b")
    assert PAIR in patterns(used.store)
    forget(used.store, "project", project="/projects/a")
    assert all(origin != "request" for _, origin, _ in patterns(used.store))
