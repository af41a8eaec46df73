"""Traces, packs and entries meet at what they are about, follow its renames, and share the credit of a good end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.projects.small_project import FILES, begin, read, write
from repertoire.app.projects.entries import move_entries, save_entry
from repertoire.app.projects.entry_requests import MoveRequest, save_request
from repertoire.app.projects.index import index_project
from repertoire.app.traces.exchange import exported
from repertoire.app.traces.fields import TraceFields
from repertoire.app.wiring import open_repertoire
from repertoire.domain.errors import UnknownComponent
from repertoire.projects.freshness import credit_of
from repertoire.verbs.projects import GET_MEMORY
from repertoire.verbs.traces import CONTRIBUTE, ContributeRequest
from repertoire.verbs.verb import Context

HARDEN = "symbol:kiln/clay.py::Thing.harden"


@pytest.fixture
def context(tmp_path, monkeypatch):
    root = write(tmp_path / "kiln-project", FILES)
    with begin(tmp_path / "home", root) as memory:
        read(memory)
    with open_repertoire(tmp_path / "home", environment={}) as repertoire:
        yield Context.of(repertoire, project=str(root))


def kept(context, *uses):
    told = TraceFields("Pots crack", "They cracked in the kiln.", "Harden them for longer.", uses=uses)
    drafted = CONTRIBUTE.run(context, ContributeRequest(told))
    return CONTRIBUTE.run(context, ContributeRequest(token=drafted.token)).trace


def test_a_trace_names_files_and_symbols_of_the_project_is_shown_at_them_and_follows_a_rename(context):
    trace = kept(context, "Thing.harden", "kiln/heat.py")
    assert trace.uses == (HARDEN, "file:kiln/heat.py")
    assert GET_MEMORY.run(context, HARDEN).related["solved by"] == (trace.key,)
    root = Path(context.project)
    (root / "kiln" / "clay.py").rename(root / "kiln" / "loam.py")
    index_project(context.repertoire.projects.open(context.project).store, most_files=1_000)
    moved = HARDEN.replace("clay", "loam")
    assert GET_MEMORY.run(context, moved).related["solved by"] == (trace.key,)
    context.repertoire.store.traces.drop(trace.key)
    assert "solved by" not in GET_MEMORY.run(context, moved).related


def test_where_a_trace_was_solved_does_not_leave_the_home(context):
    kept(context, "kiln/heat.py")
    [line] = exported(context.repertoire.store)
    assert "uses" not in json.loads(line)
    with pytest.raises(UnknownComponent):
        kept(context, "kiln/nowhere.py")


def test_a_file_names_the_packs_of_the_packages_that_it_imports(context, tmp_path):
    docs = write(tmp_path / "docs", {"clay.md": "# Clay\n\nClay is dug from a pit and dried in the yard.\n"})
    from click.testing import CliRunner

    from repertoire.cli.main import cli

    built = CliRunner().invoke(
        cli, ["pack", "build", "kiln", "--from", str(docs)], env={"REPERTOIRE_HOME": str(tmp_path / "home")}
    )
    assert built.exit_code == 0, built.output
    assert GET_MEMORY.run(context, "file:kiln/heat.py").related["documented in"] == ("pack kiln",)
    assert "documented in" not in GET_MEMORY.run(context, "file:kiln/clay.py").related


def test_a_done_task_credits_all_on_its_path_once_and_changes_no_version(context):
    project = context.repertoire.projects.open(context.project)

    def saved(kind, title, **more):
        return save_entry(project, save_request({"kind": kind, "title": title, **more}), embedder=None).entries[0]

    note = saved("note", "Pots are hardened twice", about=[HARDEN])
    other = saved("note", "Nothing to do with it")
    epic = saved("epic", "Better pots")
    task = saved("task", "Harden the pots again", about=[HARDEN], epic=epic.key)
    for _ in range(2):
        move_entries(project, MoveRequest((task.key,), "done"))
    entries = {one.key: one for one in project.store.entries.all(("note", "epic", "task"))}
    assert {one: credit_of(entries[one]) for one in (note.key, epic.key, other.key)} == {
        note.key: 0.5,
        epic.key: 1.0,
        other.key: 0.0,
    }
    assert entries[note.key].version == note.version
