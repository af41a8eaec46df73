"""Catalogues become components: registry entries, lists of tools, lists of links, and a lone README."""

from __future__ import annotations

import json

import pytest

from ingestion.workbench import skill
from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.ask.search import search
from repertoire.app.sources.file_outcomes import account
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query
from repertoire.domain.component import DEPENDS_ON, PART_OF, is_pointer
from repertoire.rendering.answers import answer_text
from repertoire.rendering.explanations import explanation_text
from repertoire.retrieval.pipeline import Pipeline
from repertoire.settings import Settings

DOCKER = {
    "servers/paper/server.yaml": (
        "name: paper\nimage: mcp/paper\ntype: server\nabout:\n  title: Paper\n"
        "  description: Searches scientific papers.\nmeta:\n  category: search\n"
    ),
    "servers/paper/tools.json": json.dumps(
        [
            {
                "name": "search_papers",
                "description": "Searches papers by topic and year.",
                "arguments": [{"name": "topic", "type": "string", "desc": "What the paper is about"}],
            },
            {
                "name": "read_paper",
                "description": "Reads a paper in full.",
                "inputSchema": {"properties": {"id": {"type": "string"}}},
            },
        ]
    ),
    "servers/quiet/server.yaml": "name: quiet\nimage: mcp/quiet\nabout:\n  description: Keeps quiet.\n",
    "servers/quiet/tools.json": "[]",
    "servers/broken/server.yaml": "name: broken\nimage: mcp/broken\nabout:\n  description: Is broken.\n",
    "servers/broken/tools.json": "[{",
}


def fates(bench, folder):
    told = account(bench.store, bench.home, str(folder), settings=Settings())
    return {fate.path: (fate.became, fate.of) for fate in told}


def test_each_tool_of_a_server_is_a_component_and_a_part_of_it(bench):
    report = bench.ingest(bench.write(DOCKER))

    tool = bench.all()["servers/paper/tools.json#search_papers"]
    assert (tool.type, tool.name, tool.description) == ("tool", "search_papers", "Searches papers by topic and year.")
    assert tool.code == "search_papers(topic: string)"
    assert tool.install == ("docker mcp server enable paper",)
    assert list(bench.links(tool, PART_OF)) == ["servers/paper/server.yaml"]
    assert bench.all()["servers/paper/tools.json#read_paper"].code == "read_paper(id: string)"
    assert [(item.path, item.reason) for item in report.skipped] == [("servers/broken/tools.json", "not JSON")]


def test_of_a_servers_settings_only_those_are_required_that_it_cannot_do_without_and_none_is_looked_for_here(bench):
    config = {
        "secrets": [{"name": "tide.key", "env": "TIDE_KEY"}, {"name": "o", "env": "TIDE_OLD", "required": False}],
        "env": [
            {"name": "TIDE_HOST", "value": "{{tide.host}}"},
            {"name": "TIDE_PORT", "value": "{{tide.port}}"},
            {"name": "TIDE_MODE", "value": "stdio"},
            {"name": "TIDE_NAME", "example": "dover"},
        ],
        "parameters": {"type": "object", "properties": {"host": {}, "port": {}}, "required": ["host"]},
    }
    server = {"name": "tide", "image": "mcp/tide", "about": {"description": "Tells tides."}, "config": config}
    bench.ingest(bench.write({"servers/tide/server.yaml": json.dumps(server)}))
    found = bench.one("mcp_server")
    settings = {f"requirement:setting:{name}" for name in ("TIDE_KEY", "TIDE_HOST", "TIDE_NAME")}
    assert {*bench.links(found, DEPENDS_ON)} == {"requirement:binary:docker", *settings}
    bench.store.close()
    with open_repertoire(bench.home, environment={}) as opened:
        asked = ExplainRequest(found.id, environment={"PATH": ""})
        told = explanation_text(explain(opened.store, opened.pipeline, asked))
    assert [line for line in told.splitlines() if "requires" in line] == ["warning: it requires docker, not found here"]


def test_what_became_of_every_file_is_told(bench):
    folder = bench.write({**DOCKER, "LICENSE": "MIT", "logo.svg": "<svg/>", "notes/plan.md": "# Plan\n"})

    assert fates(bench, folder) == {
        "LICENSE": ("none", "a licence"),
        "logo.svg": ("none", "no strategy reads such files"),
        "notes/plan.md": ("none", "Markdown without the front matter of an agent or a command"),
        "servers/broken/server.yaml": ("component", "mcp_server"),
        "servers/broken/tools.json": ("skipped", "not JSON"),
        "servers/paper/server.yaml": ("component", "mcp_server"),
        "servers/paper/tools.json": ("component", "tool"),
        "servers/quiet/server.yaml": ("component", "mcp_server"),
        "servers/quiet/tools.json": ("part", "servers/quiet/server.yaml"),
    }


@pytest.mark.parametrize(
    "listed",
    [
        {"tools": [{"name": "ping", "description": "Answers.", "input_schema": {"properties": {"to": {}}}}]},
        {"jsonrpc": "2.0", "result": {"tools": [{"name": "ping", "description": "Answers."}]}},
        [{"type": "function", "function": {"name": "ping", "description": "Answers.", "parameters": {}}}],
        {"ping": {"description": "Answers."}},
    ],
)
def test_tools_are_read_in_each_of_the_usual_forms(bench, listed):
    bench.ingest(bench.write({"agent/tools.json": json.dumps(listed)}))
    assert (bench.one("tool").name, bench.one("tool").description) == ("ping", "Answers.")


def test_a_tool_is_found_by_whoever_asks_for_tools_and_displaces_no_server(bench):
    bench.ingest(bench.write(DOCKER))
    pipeline = Pipeline(bench.store.graph, bench.store.vectors, embedder=None)

    def found(*types):
        answer = search(pipeline, Query("search papers by topic and year", types=types))
        return {(hit.component.type, hit.component.name) for hit in answer.hits}

    assert ("mcp_server", "paper") in found()
    assert "tool" not in {kind for kind, _ in found()}
    assert ("tool", "search_papers") in found("tool")


REGISTRY = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json",
    "name": "io.github.acme/tides",
    "title": "Tides",
    "description": "Tells the tides of any harbour.",
    "version": "1.2.0",
    "repository": {"url": "https://github.com/acme/tides", "source": "github"},
    "packages": [
        {
            "registryType": "npm",
            "identifier": "@acme/tides-mcp",
            "version": "1.2.0",
            "transport": {"type": "stdio"},
            "packageArguments": [{"type": "named", "name": "--units", "value": "metric"}],
            "environmentVariables": [{"name": "TIDES_KEY", "description": "Key of the service", "isSecret": True}],
        }
    ],
}


def test_an_entry_of_the_mcp_registry_is_a_server_with_its_package_and_variables(bench):
    bench.ingest(bench.write({"server.json": json.dumps(REGISTRY)}))

    server = bench.one("mcp_server")
    assert (server.id.rpartition(":")[2], server.name) == ("server.json", "tides")
    assert server.description == "Tells the tides of any harbour."
    assert server.repository == "github.com/acme/tides"
    assert server.install == (
        "claude mcp add tides -e 'TIDES_KEY=${TIDES_KEY}' -- npx -y @acme/tides-mcp --units metric",
    )
    assert "TIDES_KEY: Key of the service" in server.body
    needed = {link.other for link in bench.store.graph.links(server.id) if link.relation == "depends_on"}
    assert {"requirement:env:TIDES_KEY", "requirement:package:@acme/tides-mcp"} <= needed


def test_a_page_of_the_registry_gives_each_of_its_servers(bench):
    remote = {
        "name": "com.example/moon",
        "description": "Tells the phase of the moon.",
        "remotes": [
            {
                "type": "streamable-http",
                "url": "https://moon.example.com/mcp",
                "headers": [
                    {"name": "Authorization", "value": "Bearer {moon_key}", "isSecret": True},
                    {"name": "X-Place", "isRequired": True},
                    {"name": "X-Trace", "description": "for those who look for a fault"},
                ],
            }
        ],
    }
    page = {"servers": [{"server": REGISTRY, "_meta": {}}, {"server": remote}, {"server": {"name": "nameless"}}]}

    bench.ingest(bench.write({"registry.json": json.dumps(page)}))

    found = {key: component.install[0] for key, component in bench.all().items()}
    assert set(found) == {"registry.json#io.github.acme/tides", "registry.json#com.example/moon"}
    assert found["registry.json#com.example/moon"] == (
        "claude mcp add --transport http moon https://moon.example.com/mcp"
        " --header 'Authorization: Bearer ${MOON_KEY}' --header 'X-Place: ${MOON_X_PLACE}'"
    )


def test_a_server_json_of_something_else_is_left_with_the_reason(bench):
    empty = {"$schema": REGISTRY["$schema"], "name": "x"}
    folder = bench.write({"web/server.json": '{"port": 80}', "mcp/server.json": json.dumps(empty)})

    assert fates(bench, folder) == {
        "web/server.json": ("none", "a server.json of something else"),
        "mcp/server.json": ("skipped", "an entry of the MCP registry without a name or a description"),
    }


AWESOME = """# Awesome Claude Code [![Awesome](https://awesome.re/badge.svg)](https://awesome.re)

> A list of things.

- [Skills](#skills)
- [Servers](#servers)

## Skills

- [Chart Painter](https://github.com/acme/chart-painter) - Paints charts from tables of numbers.
- **[Ledger](https://github.com/acme/ledger/tree/main/skills/ledger)** by [Acme](https://acme.example) - Balances books.
{more}

## MCP Servers

| Name | What it does |
|---|---|
| [Moon](https://github.com/acme/moon) | Tells the phase of the moon. |
"""
MORE = "\n".join(f"- [Tool {n}](https://example.com/tool-{n}) - Does the thing of number {n}." for n in range(8))


def test_each_line_of_a_list_is_a_pointer_with_its_address_and_nothing_that_installs_it(bench):
    bench.ingest(bench.write({"README.md": AWESOME.format(more=MORE), "LICENSE": "Permission is hereby granted"}))

    found = bench.all()
    chart = found["https://github.com/acme/chart-painter"]
    assert (chart.type, chart.name, chart.description) == (
        "skill",
        "Chart Painter",
        "Paints charts from tables of numbers.",
    )
    assert (chart.repository, chart.install, chart.licence) == ("github.com/acme/chart-painter", (), "")
    assert is_pointer(chart.id)
    assert found["https://github.com/acme/moon"].type == "mcp_server"
    assert found["https://github.com/acme/ledger/tree/main/skills/ledger"].description.endswith("Balances books.")
    assert len(found) == 11


SERVERS = """# Awesome MCP Servers

### 💻 <a name="coding-agents"></a>Coding Agents

Full coding agents.

{lines}
- [acme/tide-mcp](https://github.com/acme/tide-mcp.git) 📇 ☁️ - Tells the **tides** of any harbour.
- [`no words`](https://github.com/acme/no-words)
"""
OF_TWO_LINES = """# Awesome Claude Code

## Agent Skills 🤖 [🔝](#awesome-claude-code)

> Skills are folders.

<details open>
<summary><h3>General</h3></summary>

{lines}
[`Chart Painter`](https://github.com/acme/chart-painter) &nbsp; by &nbsp; [Acme](https://acme.example) &nbsp;⚖️ MIT
Paints charts from tables of numbers.

![GitHub Stats](https://stats.example.com/pin?repo=chart-painter)
</details>
"""


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        (SERVERS, "- [acme/s-{n}](https://github.com/acme/s-{n}) 🐍 - Does the thing of number {n}.", "tide-mcp"),
        (
            OF_TWO_LINES,
            "[`S {n}`](https://x.example/{n}) by [a](https://a.example)\nDoes number {n}.\n",
            "Chart Painter",
        ),
    ],
)
def test_lists_are_read_as_people_write_them(bench, text, line, found):
    bench.ingest(bench.write({"README.md": text.format(lines="\n".join(line.format(n=n) for n in range(10)))}))

    kinds = {(component.name, component.type) for component in bench.all().values()}
    assert len(kinds) == 11
    assert (found, "mcp_server" if text is SERVERS else "skill") in kinds
    (told,) = [component.description for component in bench.all().values() if component.name == found]
    assert told in ("Tells the tides of any harbour.", "Paints charts from tables of numbers.")


def test_a_readme_with_some_links_in_it_is_no_list(bench):
    prose = "\n\n".join(f"Paragraph {n} tells how this is built." for n in range(12))
    links = "\n".join(f"- [Page {n}](https://example.com/{n}) - What page {n} says." for n in range(10))
    bench.ingest(bench.write({"README.md": f"# Kit\n\n{prose}\n\n{links}\n"}, under="kit"))
    assert [(c.type, c.name) for c in bench.all().values()] == [("package", "kit")]


def test_a_pointer_answers_only_where_nothing_that_was_read_fits(bench):
    bench.ingest(bench.write({"README.md": AWESOME.format(more=MORE)}))
    pipeline = Pipeline(bench.store.graph, bench.store.vectors, embedder=None)
    answer = search(pipeline, Query("paint charts from tables"))
    assert answer.hits[0].component.name == "Chart Painter"
    told = answer_text(answer)
    assert "Chart Painter (skill, listed, not read)" in told
    assert (
        "at: https://github.com/acme/chart-painter; `repertoire ingest https://github.com/acme/chart-painter`" in told
    )

    bench.ingest(
        bench.write(
            {"skills/plotter/SKILL.md": skill("plotter", "Paints charts from tables of numbers.", "Paint.")},
            under="other",
        )
    )
    names = [hit.component.name for hit in search(pipeline, Query("paint charts from tables")).hits]
    assert names[0] == "plotter"
    assert "Chart Painter" not in names


def test_a_pointer_to_what_is_read_itself_is_silent(bench):
    bench.ingest(bench.write({"README.md": AWESOME.format(more=MORE)}))
    named = {"name": "kit", "description": "Paints charts.", "repository": "https://github.com/acme/chart-painter"}
    bench.ingest(bench.write({".claude-plugin/plugin.json": json.dumps(named)}, under="chart-painter"))
    pipeline = Pipeline(bench.store.graph, bench.store.vectors, embedder=None)

    hits = search(pipeline, Query("Chart Painter paints charts from tables of numbers")).hits
    assert "Chart Painter" not in [hit.component.name for hit in hits]


README = """<h1 align="center">tide-table</h1>

[![build](https://example.com/b.svg)](https://example.com)

An **MCP server** that tells the tides of any harbour, by [the office](https://example.com).

## Install
"""


def test_a_repository_in_which_nothing_is_found_is_known_by_its_readme(bench):
    bench.ingest(bench.write({"README.md": README, "src/main.go": "package main"}, under="tide-table"))

    server = bench.one("mcp_server")
    assert (server.name, server.path, server.install) == ("tide-table", "README.md", ())
    assert server.description == "An MCP server that tells the tides of any harbour, by the office."

    report = bench.ingest(
        bench.write({"agents/tide.md": "---\nname: tide\ndescription: Tells.\n---\nTell."}, under="tide-table")
    )
    assert (report.components, report.removed) == (1, 1)


def test_a_readme_that_says_nothing_is_no_component(bench):
    report = bench.ingest(bench.write({"README.md": "# x\n\n[a](https://example.com)\n"}))
    assert report.components == 0
