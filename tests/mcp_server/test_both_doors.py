"""One question by both doors, the command line and the protocol: one answer, one record, one reading of names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mcp_server.talk import Talk, events_of
from repertoire.cli.main import cli, main
from repertoire.domain.event import OFFERED
from repertoire.mcp_server.tool_definitions import TOOLS
from repertoire.retrieval.pipeline import Pipeline
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, record_of

pytestmark = pytest.mark.anyio
TASK = "fill the fields of PDF forms"
SHOP = str(Path(__file__).parent)  # a folder without a stack
QUESTIONS: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    ("search_components", {"query": "notes of a release"}, ("search", "notes of a release")),
    ("search_components", {"query": "pdf-forms", "limit": 3}, ("search", "pdf-forms", "--limit", "3")),
    (
        "recommend_set",
        {"task": TASK, "size": 2, "mode": "thorough"},
        ("recommend", TASK, "--size", "2", "--mode", "thorough"),
    ),
    ("recommend_set", {"task": TASK, "installed": False}, ("recommend", TASK, "--available")),
    ("explain_component", {"id": "pdf-forms", "task": TASK}, ("explain", "pdf-forms", "--task", TASK)),
    (
        "explain_component",
        {"id": "pdf-forms", "task": TASK, "project": SHOP},
        ("explain", "pdf-forms", "--task", TASK, "--project", SHOP),
    ),
    ("explain_component", {"id": "ship", "detail": "graph"}, ("explain", "ship", "--detail", "graph")),
)


@pytest.fixture
def project(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project of Python and Kubernetes that the client names; the process stands elsewhere."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["kubernetes", "psycopg"]\n')
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(folder))
    for name, value in (*environment.items(), ("REPERTOIRE_QUERY_MS", "60000")):
        monkeypatch.setenv(name, value)
        environment[name] = value
    monkeypatch.chdir(tmp_path)
    return folder


def said(*arguments: str) -> Any:
    """Return what the command line prints as data."""
    done = typed(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def typed(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


async def data(talk: Talk, tool: str, arguments: dict[str, Any]) -> Any:
    async with talk("any-client") as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error
    return result.structured_content


async def test_every_question_has_one_answer_the_command_lines_data_are_the_tools(talk: Talk, project: Path) -> None:
    for tool, arguments, words in QUESTIONS:
        assert said(*words) == await data(talk, tool, arguments), words


async def test_tools_answer_with_the_data_that_the_command_line_prints_and_their_schema_tells(
    talk: Talk, project: Path
) -> None:
    calls: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
        "status": ({}, ("status",)),
        "report_outcome": ({"id": "ship", "outcome": "ok"}, ("feedback", "ship", "ok")),
        "mute": ({"target": "changelog"}, ("mute", "changelog")),
        "forget": ({"what": "requests"}, ("forget", "--requests", "--yes")),
    }
    schemas = {tool.name: tool.output["properties"] for tool in TOOLS if tool.name in calls}
    for tool, (arguments, words) in calls.items():
        told = await data(talk, tool, arguments)
        assert set(told) == set(said(*words)) == set(schemas[tool]), tool


async def test_a_component_names_what_was_solved_with_it_and_a_trace_is_explained_by_its_id(
    talk: Talk, project: Path
) -> None:
    words = ("trace", "contribute", "--title", "Forms stay empty", "--context", "OSError: no form in the file", "--yes")
    kept = said(*words, "--solution", "Flatten them first.", "--use", "pdf-forms", "--env", "framework=pypdf 4.2")
    said("trace", "vote", kept["id"], "down", "--tag", "outdated", "--note", "not with 5")
    told = await data(talk, "explain_component", {"id": "pdf-forms"})
    assert told == said("explain", "pdf-forms")
    assert [(one["id"], one["trust"][:16]) for one in told["traces"]] == [(kept["id"], "worked 0 of 1 ti")]
    assert kept["id"] in typed("explain", "pdf-forms").output
    draft = said("trace", "amend", kept["id"], "--solution", "Write the fields with version 5.")
    newer = said("trace", "contribute", "--confirm", draft["token"])
    old = await data(talk, "explain_component", {"id": kept["id"]})
    assert old == said("explain", kept["id"]) == said("trace", "show", kept["id"])
    assert (old["superseded_by"], old["errors"]) == (newer["id"], ["OSError no form in the file"])
    assert "did not work (outdated): “not with 5”" in old["told"][0]
    text = typed("explain", kept["id"]).output
    for part in ("pypdf 4.2", "no form in the file", f"superseded by: {newer['id']}", "outdated"):
        assert part in text
    assert [one["id"] for one in said("explain", "pdf-forms")["traces"]] == [newer["id"]]


async def test_a_trace_is_muted_and_forgotten_through_either_door(talk: Talk, project: Path) -> None:
    words = ("--context", "It stops with exit code 137.", "--yes")
    told = ("--solution", "Raise the limit."), ("--solution", "Split the build.")
    one, two = (said("trace", "contribute", "--title", "The build is killed", *how, *words)["id"] for how in told)
    for silence in (said("mute", one), await data(talk, "mute", {"target": two})):
        assert silence["scope"] == "trace"
    found = await data(talk, "search_traces", {"query": "the build is killed"})
    assert found["traces"]
    assert all("muted" in trace["whys"] for trace in found["traces"])
    await data(talk, "mute", {"target": one, "undo": True})
    said("mute", two, "--undo")
    assert "muted" not in str(said("trace", "search", "the build is killed"))
    assert said("forget", "--trace", one.removeprefix("trace:"), "--yes")["what"] == "trace"
    assert [trace["id"] for trace in said("trace", "search", "the build is killed")["traces"]] == [two]
    assert "trace" in (await data(talk, "forget", {"what": "trace", "trace": two}))["message"]
    assert said("trace", "search", "the build is killed")["traces"] == []


async def test_what_is_muted_in_a_project_is_in_no_set_for_it_wherever_it_is_asked(
    talk: Talk, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(other))
    assert typed("mute", "pdf-forms", "--here").exit_code == 0
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    for folder, muted in ((other, True), (project, False)):
        by_tool = await data(talk, "recommend_set", {"task": TASK, "project": str(folder)})
        for found in (by_tool, said("recommend", TASK, "--project", str(folder))):
            assert ("pdf-forms" not in [item["name"] for item in found["items"]]) == muted
    assert "pdf-forms" not in [item["name"] for item in said("recommend", TASK, "--project", "other")["items"]]


async def test_a_set_that_was_asked_for_is_recorded_as_offered_by_both_doors(
    talk: Talk, project: Path, home: Path
) -> None:
    await data(talk, "recommend_set", {"task": TASK})
    await data(talk, "status", {})  # waits until what was asked is recorded
    said("recommend", TASK)
    first, second = [(e.kind, e.node, e.project, e.data) for e in events_of(home, OFFERED)]
    assert first == second
    assert first[2] == str(project)


def test_the_command_line_takes_the_project_that_the_client_names(project: Path, home: Path) -> None:
    (project / ".claude" / "skills" / "tide").mkdir(parents=True)
    said("mute", "postgres", "--here")
    said("feedback", "ship", "dismissed")
    with Store.open(home / "repertoire.db") as store:
        assert {mute.project for mute in store.preferences.mutes()} == {str(project)}
    assert said("stats")["project"] == str(project)


NAMING: dict[str, Callable[[str], tuple[str, ...]]] = {
    "explain": lambda name: ("explain", name),
    "feedback": lambda name: ("feedback", name, "ok"),
    "mute": lambda name: ("mute", name),
    "trust": lambda name: ("trust", "show", name),
    "install": lambda name: ("install", name, "--dry-run"),
}


@pytest.fixture
def kit(home: Path) -> str:
    """Put a plugin's skill into the home, and return its id."""
    skill = component("skill", "weave", "Weaves baskets.", plugin="baskets", marketplace="acme", path="kit/weave.md")
    with Store.open(home / "repertoire.db") as store:
        info = SOURCE.__class__("folder:/kit", "folder", "/kit")
        store.sources.write(info, [record_of(skill)], [], derived=[], now=NOW)
    return skill.id


@pytest.mark.parametrize("name", ["weave", "/weave", "baskets:weave", "Baskets:Weave", "/baskets:weave", " weave "])
async def test_every_verb_finds_a_component_by_each_of_its_names(
    talk: Talk, project: Path, kit: str, name: str
) -> None:
    for verb, words in NAMING.items():
        assert typed(*words(name)).exit_code == 0, verb
    async with talk("any-client") as client:
        told = await client.call_tool("set_capabilities", {"id": name, "capabilities": ["weave baskets"]})
    assert told.structured_content["id"] == kit


async def test_no_verb_takes_another_plugins_for_the_one_that_was_named(talk: Talk, project: Path, kit: str) -> None:
    for verb, words in NAMING.items():
        with pytest.raises(SystemExit) as left:
            main(list(words("others:weave")))
        assert left.value.code == 2, verb
    for tool, arguments in (
        ("explain_component", {"id": "others:weave"}),
        ("mute", {"target": "others:weave"}),
        ("report_outcome", {"id": "others:weave", "outcome": "ok"}),
        ("set_capabilities", {"id": "others:weave", "capabilities": ["weave"]}),
    ):
        async with talk("any-client") as client:
            told = await client.call_tool(tool, arguments)
        assert told.is_error
        assert "did you mean weave" in told.content[0].text, tool


@pytest.mark.parametrize(
    ("words", "times"),
    [
        (("recommend", TASK, "--graph", "text"), 1),
        (("explain", "pdf-forms", "--task", TASK, "--detail", "graph"), 1),
        (("explain", "pdf-forms", "--detail", "graph"), 0),
    ],
)
def test_no_question_is_ranked_twice(
    project: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], times: int
) -> None:
    rank, ranked = Pipeline.rank, []

    def counted(self: Pipeline, *arguments: Any, **more: Any) -> Any:
        ranked.append(arguments)
        return rank(self, *arguments, **more)

    monkeypatch.setattr(Pipeline, "rank", counted)
    done = typed(*words)
    assert done.exit_code == 0, done.output
    assert "around it: " in done.stdout
    assert len(ranked) == times
