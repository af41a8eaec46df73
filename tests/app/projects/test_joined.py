"""Traces, packs and entries meet at what they are about, follow its renames, and share the credit of a good end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.projects.small_project import FILES, begin, read, write
from repertoire.app.projects.entries import link_entries, move_entries, save_entry
from repertoire.app.projects.entry_requests import LinkRequest, MoveRequest, save_request
from repertoire.app.projects.index import index_project
from repertoire.app.projects.joined import drop_lost_traces
from repertoire.app.traces.exchange import exported
from repertoire.app.traces.fields import TraceFields
from repertoire.app.traces.voting import NewVote
from repertoire.app.wiring import open_repertoire
from repertoire.domain.errors import UnknownComponent
from repertoire.projects.freshness import credit_of
from repertoire.verbs.decisions import FORGET, REPORT, DeletionRequest, FeedbackRequest
from repertoire.verbs.projects import GET_MEMORY
from repertoire.verbs.traces import CONTRIBUTE, VOTE, ContributeRequest
from repertoire.verbs.verb import Context
from sample_home import fill

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
    project = context.repertoire.projects.open(context.project)
    assert drop_lost_traces(project, lambda key: context.repertoire.store.traces.get(key) is not None) == 0
    FORGET.run(context, DeletionRequest("trace", trace.key))
    assert "solved by" not in GET_MEMORY.run(context, moved).related
    assert project.store.items.node_id(trace.key) is None


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


def test_a_vote_for_a_trace_credits_what_it_took_of_the_project_once_and_a_turned_vote_takes_it_back(context):
    project = context.repertoire.projects.open(context.project)
    trace = kept(context, HARDEN, "kiln/heat.py")
    asked = save_request({"kind": "note", "title": "Pots are hardened twice", "about": [HARDEN]})
    note = save_entry(project, asked, embedder=None).entries[0]

    def held_credit():
        nodes = {key: project.store.items.node_id(key) for key in (HARDEN, "file:kiln/heat.py")}
        held = project.store.credits.of([*nodes.values()])
        found = {key: held.get(node, 0.0) for key, node in nodes.items()}
        return {**found, "note": credit_of(project.store.entries.get(note.key))}

    for _ in range(2):
        VOTE.run(context, NewVote(trace.key, up=True))
    assert held_credit() == {HARDEN: 1.0, "file:kiln/heat.py": 1.0, "note": 0.5}
    assert GET_MEMORY.run(context, HARDEN).related["led to a good end"] == ("1 times",)
    (Path(context.project) / "kiln" / "heat.py").rename(Path(context.project) / "kiln" / "warmth.py")
    read(project.store)
    assert GET_MEMORY.run(context, "file:kiln/warmth.py").related["led to a good end"] == ("1 times",)
    VOTE.run(context, NewVote(trace.key, up=False))
    assert "led to a good end" not in GET_MEMORY.run(context, HARDEN).related
    assert credit_of(project.store.entries.get(note.key)) == 0.0


def test_feedback_on_a_component_credits_the_entries_that_name_it_and_what_these_are_about(context):
    project = context.repertoire.projects.open(context.project)
    fill(context.repertoire.store)
    asked = {"kind": "procedure", "title": "Fill in forms", "steps": ["open", "fill"], "about": [HARDEN]}
    done = save_entry(project, save_request(asked), embedder=None).entries[0]
    link_entries(project, LinkRequest(done.key, "relates_to", "component:pdf-forms"))
    for outcome in ("ok", "failed"):
        REPORT.run(context, FeedbackRequest("pdf-forms", outcome))
    assert credit_of(project.store.entries.get(done.key)) == 1.0
    assert GET_MEMORY.run(context, HARDEN).related["led to a good end"] == ("0.5 times",)
