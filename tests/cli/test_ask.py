"""The questions a person asks, on a machine that has nothing but the checkout."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from privileges import held_back
from sample_home import filled_home

QUESTION = "add OAuth login with sessions to a FastAPI service"
PARTS = ["fill", "PDF", "forms"]


# None of these is needed for an answer to somebody who redirects it, and each takes longer than the answer does.
UNNEEDED = {"fastembed", "rich", "jsonschema", "yaml", "detect_secrets", "packaging.specifiers", "numpy.ma"} | {
    f"repertoire.{room}" for room in ("app.ingest", "app.opening", "app.evaluate", "ingestion.extract", "trust.scan")
}


def test_an_empty_machine_answers_from_the_shipped_catalogue_in_words_and_meaning(run):
    done = run("recommend", QUESTION)
    assert done.returncode == 0, done.stderr
    assert "until they are embedded" not in done.stdout
    assert "/plugin install" in done.stdout
    assert "fastapi" in done.stdout.lower()


def test_a_line_break_that_a_description_spells_is_not_shown_as_it_is_spelled(run, skill, tmp_path):
    spelled = r"Paints zebra crossings in C:\new roads. Further:\n\na street"
    skill(tmp_path / "user" / ".claude", "zebra-crossing", spelled)
    run("refresh", "--text-only")
    shown = r"Paints zebra crossings in C:\new roads. Further: a street"
    assert shown in run("search", "paint zebra crossings", "--wait").stdout


def test_the_first_answer_is_the_one_that_is_given_once_everything_was_brought_up_to_date(run):
    patient = {"REPERTOIRE_QUERY_MS": "60000"}
    first = run("recommend", QUESTION, **patient)
    run("refresh")
    assert run("recommend", QUESTION, **patient).stdout == first.stdout
    assert run("recommend", QUESTION, "--wait", **patient).stdout == first.stdout


@pytest.mark.parametrize("verb", ["search", "recommend"])
def test_a_fresh_answer_imports_what_it_needs_and_no_more(run, environment, tmp_path, verb):
    run("status")
    run(verb, QUESTION)  # which reads the catalogue first
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "repertoire", verb, QUESTION],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in told.stderr.splitlines()}
    assert "repertoire.retrieval.pipeline" in imported
    assert imported & UNNEEDED == set()


def test_waiting_for_vectors_gives_a_set_with_reasons_and_install_lines(run):
    done = run("recommend", QUESTION, "--wait", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert 1 <= len(answer["items"]) <= 3
    assert answer["degraded"] == []
    for item in answer["items"]:
        assert item["whys"], item["id"]
    assert any(line.startswith("/plugin install ") for line in answer["install"])


def test_a_task_that_is_too_vague_is_asked_back_in_text_and_data(run):
    told, data = run("recommend", "make it better"), json.loads(run("recommend", "make it better", "--json").stdout)
    assert told.returncode == 0, told.stderr
    assert "too vague" in told.stdout
    assert data["items"] == []
    for facet in data["facets"]:
        assert f"{facet['name']}: {', '.join(facet['values'])}" in told.stdout


def test_a_question_in_another_language_is_answered_with_a_note_of_how_it_was_read(run):
    done = run("search", "Anmeldung mit OAuth in einen FastAPI-Dienst einbauen")
    assert done.returncode == 0, done.stderr
    assert "fastapi" in done.stdout.lower()
    assert "Note: read from German word by word, as: login with OAuth" in done.stdout


def test_two_first_runs_at_once_both_answer(environment, tmp_path):
    command = [sys.executable, "-m", "repertoire", "search", "review a pull request", "--json"]
    both = [
        subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in both:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert json.loads(out)["components"]


def test_an_installed_skill_is_found_and_marked_as_installed(run, skill, tmp_path):
    skill(tmp_path / "user" / ".claude", "zebra-crossing", "Paints zebra crossings on roads when a street needs one.")
    done = run("search", "paint a zebra crossing", "--installed", "--json")
    hits = json.loads(done.stdout)["components"]
    assert [hit["name"] for hit in hits][:1] == ["zebra-crossing"]
    assert hits[0]["installed"] is True


def test_the_very_first_answer_leads_with_a_persons_own_skill_known_by_meaning(run, skill, tmp_path):
    said = "审查当前分支的代码改动，指出问题。"  # noqa: RUF001
    skill(tmp_path / "user" / ".claude", "daima-shencha", said)
    first, *_ = json.loads(run("recommend", "帮我审查一下这个分支的代码", "--json").stdout)["items"]
    assert (first["name"], first["installed"]) == ("daima-shencha", True)
    assert any(reason.startswith("similar in meaning") for reason in first["whys"])


def test_the_projects_own_components_are_known(run, skill, tmp_path):
    skill(tmp_path / "project" / ".claude", "tide-tables", "Reads tide tables of a harbour.")
    done = run("explain", "tide-tables")
    assert done.returncode == 0, done.stderr
    assert "Reads tide tables of a harbour" in done.stdout


def test_a_question_by_exact_name_is_answered_with_that_component_first(run):
    done = run("search", "auth-implementation-patterns", "--json")
    assert json.loads(done.stdout)["components"][0]["name"] == "auth-implementation-patterns"


def test_nonsense_is_answered_with_an_honest_no(run):
    done = run("recommend", "qwertz asdfgh yxcvbn", "--wait")
    assert done.returncode == 0
    assert "Nothing fits" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "advice"),
    [
        (("recommend", " "), 2, "the task holds no word"),
        (("explain", "no-such-component-here"), 2, "no-such-component-here"),
        (("ingest", "/no/such/folder"), 2, "/no/such/folder"),
        (("ingest", "npm:Not A Package"), 2, "names no package"),
        (("ingest", "/dev/null"), 2, "is not a folder, nor a .zip"),
        (("remove", "nothing"), 2, "there is no source"),
        (("forget",), 2, "--requests"),
        (("forget", "--requests", "--project", "."), 2, "--project FOLDER"),
        (("forget", "--project", "", "--yes"), 2, "--project FOLDER"),
        (("search",), 2, "QUERY"),
        (("recommend", "x", "--budget", "-5"), 2, "-5 is not in the range"),
        (("recommend", "x", "--size", "50"), 2, "50 is not in the range"),
        (("search", "x", "--limit", "0"), 2, "0 is not in the range"),
        (("serach", "x"), 2, "Did you mean search?"),
        (("uninstall", "x"), 2, "Did you mean install --undo?"),
        (("explain", "auth-implementation-patern"), 2, "did you mean auth-implementation-patterns"),
        (("ingest",), 2, "SOURCE"),
    ],
)
def test_bad_input_gets_one_line_of_advice_and_no_traceback(run, arguments, status, advice):
    done = run(*arguments)
    assert done.returncode == status
    assert advice in done.stderr
    assert "Traceback" not in done.stderr


def test_what_nothing_here_is_of_is_said_and_is_no_need_that_nothing_covers(run):
    task = ("recommend", "review a pull request")
    assert "Note: no tool is known here: `repertoire ingest` reads more sources" in run(*task, "--type", "tool").stdout
    assert run(*task, "--installed").stdout.startswith("Nothing fits")
    assert "needs that no component covers" not in run("status").stdout
    run("recommend", "qwertz asdfgh yxcvbn")
    assert "needs that no component covers:\n  - qwertz asdfgh yxcvbn" in run("status").stdout


def test_where_no_combination_is_known_a_question_for_them_is_told_where_they_come_from(run):
    told = run("search", "common auth stacks").stdout
    assert "Note: no combination is known for 'auth': they are seen in plugins, agents and projects" in told


def test_words_need_no_quotes(run, environment):
    filled_home(Path(environment["REPERTOIRE_HOME"]))
    for verb in ("recommend", "search"):
        bare, quoted = (
            run(verb, *words, "--json", REPERTOIRE_QUERY_MS="60000") for words in (PARTS, [" ".join(PARTS)])
        )
        assert bare.returncode == 0, bare.stderr
        first, second = (json.loads(done.stdout) for done in (bare, quoted))
        assert first == second


def test_a_home_that_cannot_be_written_still_answers_and_says_that_nothing_is_recorded(run, environment, tmp_path):
    assert run("refresh", "--text-only").returncode == 0
    home = tmp_path / "home"
    before = {path.name: path.stat().st_mtime_ns for path in home.iterdir()}
    done = _read_only(home, [sys.executable, "-m", "repertoire", "search", "review a pull request"], environment)
    assert done.returncode == 0, done.stderr
    assert "review" in done.stdout
    assert "nothing is recorded" in done.stdout + done.stderr
    assert {path.name: path.stat().st_mtime_ns for path in home.iterdir()} == before


def _read_only(home: Path, command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    for path in (*home.rglob("*"), home):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        return subprocess.run(
            held_back(command), env=environment, capture_output=True, text=True, timeout=120, check=False
        )
    finally:
        home.chmod(0o700)


def test_an_explanation_can_hold_the_graph_around_it(run):
    done = run("explain", "auth-implementation-patterns", "--detail", "graph")
    assert done.returncode == 0, done.stderr
    assert re.search(r"around it: \d+ nodes, \d+ edges", done.stdout)
    assert "  in the set: " not in done.stdout


def test_a_larger_set_can_be_asked_for_and_says_why_not_more(run):
    few, more = (
        json.loads(run("recommend", QUESTION, "--size", size, "--json").stdout)["items"] for size in ("1", "4")
    )
    assert len(few) == 1
    assert 1 < len(more) <= 4
    assert "would be chosen with size 2" in run("recommend", QUESTION, "--size", "1").stdout


@pytest.mark.parametrize("verb", [("recommend", "fill the fields of PDF forms"), ("explain", "pdf-forms")])
def test_the_nodes_that_carried_an_answer_are_drawn(run, environment, verb):
    filled_home(Path(environment["REPERTOIRE_HOME"]))
    told = json.loads(run(*verb, "--graph", "json").stdout)
    assert {"pdf-forms", "fill-pdf-forms"} <= {node["name"] for node in told["nodes"]}
    assert "provides" in {edge["relation"] for edge in told["edges"]}
    assert run(*verb, "--graph", "mermaid").stdout.startswith("flowchart LR\n")
    assert run(*verb, "--graph", "html").stdout.startswith("<!doctype html>")
    assert "around it: " in run(*verb, "--graph", "text").stdout
    assert run(*verb, "--graph", "text", "--json").returncode == 2


def test_a_server_whose_name_another_one_has_says_so_beside_its_install_line(run, tmp_path):
    servers = {"loom": {"command": "npx", "args": ["-y", "@acme/loom"]}}
    shelf, plugin, other = tmp_path / "shelf", tmp_path / "plugin", tmp_path / "other"
    plugin_manifest = json.dumps({"name": "kit", "description": "Weaves.", "mcpServers": servers})
    offered = {"name": "kit", "source": "./", "description": "Weaves."}
    marketplace = json.dumps({"name": "acme", "owner": {"name": "A"}, "plugins": [offered]})
    for path, text in (
        (shelf / ".mcp.json", json.dumps({"mcpServers": servers})),
        (plugin / ".claude-plugin" / "plugin.json", plugin_manifest),
        (plugin / ".claude-plugin" / "marketplace.json", marketplace),
        (other / ".mcp.json", json.dumps({"mcpServers": {"loom": {"command": "another-loom"}}})),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for folder in (shelf, plugin):
        assert run("ingest", str(folder)).returncode == 0

    def told(name: str, cwd: Path) -> dict[str, list[str]]:
        found = json.loads(run("search", "loom", "--json", cwd=cwd).stdout)["components"]
        return {one["id"]: one["notes"] for one in found if one["id"].startswith(f"folder:{tmp_path / name}:")}

    taken = "an MCP server called loom is configured already"
    assert told("shelf", other)
    assert taken not in str(told("shelf", other))
    (tmp_path / "user" / ".claude.json").write_text(json.dumps({"mcpServers": {"loom": {"command": "my-loom"}}}))
    for cwd in (other, tmp_path / "project"):
        assert run("refresh", "--text-only", cwd=cwd).returncode == 0
        assert f"{taken}: add this one under another name" in str(told("shelf", cwd))
        assert told("plugin", cwd)
        assert taken not in str(told("plugin", cwd))
    (tmp_path / "user" / ".claude.json").write_text("{}")
    assert run("refresh", "--text-only", cwd=other).returncode == 0
    assert [taken in str(told("shelf", cwd)) for cwd in (other, tmp_path / "project")] == [True, False]
