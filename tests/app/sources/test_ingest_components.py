"""The files of one folder yield components of every type, with their fields and edges."""

from __future__ import annotations

import json

import pytest

from ingestion.workbench import skill
from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.wiring import open_repertoire
from repertoire.rendering.explanations import explanation_text

PLUGIN = {
    ".claude-plugin/marketplace.json": json.dumps(
        {
            "name": "acme-market",
            "owner": {"name": "Acme"},
            "plugins": [{"name": "kit", "source": "./kit", "category": "testing"}],
        }
    ),
    "LICENSE": "Permission is hereby granted, free of charge, to any person",
    "kit/.claude-plugin/plugin.json": json.dumps(
        {
            "name": "kit",
            "version": "1.0.0",
            "description": "Tests web pages.",
            "keywords": ["browser"],
            "dependencies": ["base"],
        }
    ),
    "kit/skills/page-testing/SKILL.md": skill(
        "page-testing",
        'Tests pages. Use when a user says \\"check my login page\\".'.replace('\\"', '"'),
        "# Page testing\n\nRun the page-walker agent, then /report-pages.\n\n```python\nawait page.goto(url)\n```\n",
        allowed_tools="Read, Bash(playwright:*), mcp__browser__click",
    ),
    "kit/skills/page-testing/scripts/run.py": "print('hello')\n",
    "kit/agents/page-walker.md": "---\nname: page-walker\ndescription: Walks.\nskills: page-testing\n---\nWalk.",
    "kit/commands/qa/report-pages.md": "Write a report of all pages that were seen.\n\n## Steps\n",
    "kit/hooks/hooks.json": json.dumps(
        {
            "hooks": {
                "PostToolUse": [
                    {"matcher": "Edit", "hooks": [{"type": "command", "command": "prettier --check ${REPORT_DIR}"}]}
                ]
            }
        }
    ),
    "kit/.mcp.json": json.dumps(
        {
            "mcpServers": {
                "browser": {
                    "command": "npx",
                    "args": ["-y", "@acme/browser@1.2"],
                    "env": {"BROWSER_KEY": "${BROWSER_KEY}"},
                }
            }
        }
    ),
    ".claude/settings.json": json.dumps({"permissions": {"allow": ["Bash(ls)"]}}),
}


def test_every_kind_of_file_becomes_a_component_of_its_type(bench):
    report = bench.ingest(bench.write(PLUGIN))

    found = {key: (component.type, component.name) for key, component in bench.all().items()}

    assert found == {
        "kit": ("plugin", "kit"),
        "kit/skills/page-testing/SKILL.md": ("skill", "page-testing"),
        "kit/agents/page-walker.md": ("agent", "page-walker"),
        "kit/commands/qa/report-pages.md": ("command", "report-pages"),
        "kit/hooks/hooks.json": ("hook", "kit"),
        "kit/.mcp.json#browser": ("mcp_server", "browser"),
        ".claude/settings.json#settings": ("setting", "repo-settings"),
    }
    assert (report.components, report.changed, report.unchanged, report.removed, report.skipped) == (7, 7, 0, 0, ())


def test_a_skill_tells_its_words_code_tools_licence_and_how_to_install_it(bench):
    folder = bench.write(PLUGIN)
    bench.ingest(folder)

    found = bench.one("skill")

    assert found.description == 'Tests pages. Use when a user says "check my login page".'
    assert "check my login page" in found.examples
    assert found.code == "await page.goto(url)"
    assert found.body.startswith("# Page testing")
    assert found.allowed_tools == ("Read", "Bash(playwright:*)", "mcp__browser__click")
    assert found.licence == "MIT"
    assert (found.plugin, found.marketplace) == ("kit", "acme-market")
    assert found.install == (f"/plugin marketplace add {folder}", "/plugin install kit@acme-market")
    assert found.path == "kit/skills/page-testing/SKILL.md"
    assert not found.installed


def test_a_command_without_front_matter_is_described_by_its_first_paragraph(bench):
    bench.ingest(bench.write(PLUGIN))

    assert bench.one("command").description == "Write a report of all pages that were seen."


def test_each_command_of_a_persons_hooks_is_a_component_of_its_own(bench):
    lines = ("npm run lint", "npm test", "python a/check.py", "python b/check.py", "npm test")
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": line} for line in lines]}]}
    bench.ingest(bench.write({".claude/settings.json": json.dumps({"hooks": hooks})}))

    assert sorted(found.body for found in bench.all().values()) == sorted(set(lines))


def test_parts_point_at_their_plugin_and_siblings_at_each_other(bench):
    bench.ingest(bench.write(PLUGIN))

    agent = bench.one("agent")

    assert set(bench.links(agent, "part_of")) == {"kit"}
    siblings = {link.other for link in bench.store.graph.links(agent.id) if link.relation == "co_occurs_with"}
    assert bench.one("skill").id in siblings


def test_names_in_a_body_become_mentions_with_their_evidence(bench):
    bench.ingest(bench.write(PLUGIN))

    mentions = bench.links(bench.one("skill"), "mentions")

    assert set(mentions) == {"kit/agents/page-walker.md", "kit/commands/qa/report-pages.md"}
    assert "page-walker" in mentions["kit/agents/page-walker.md"].evidence


def test_requirements_are_edges_to_what_is_needed(bench):
    bench.ingest(bench.write(PLUGIN))

    assert set(bench.links(bench.one("skill"), "depends_on")) == {
        "requirement:binary:playwright",
        "kit/.mcp.json#browser",
    }
    assert set(bench.links(bench.one("agent"), "depends_on")) == {"kit/skills/page-testing/SKILL.md"}
    assert set(bench.links(bench.one("plugin"), "depends_on")) == {"requirement:component:base"}
    assert set(bench.links(bench.one("hook"), "depends_on")) == {
        "requirement:binary:prettier",
        "requirement:env:REPORT_DIR",
    }
    assert set(bench.links(bench.one("mcp_server"), "depends_on")) == {
        "requirement:binary:npx",
        "requirement:runtime:node",
        "requirement:package:@acme/browser@1.2",
        "requirement:env:BROWSER_KEY",
    }


@pytest.mark.parametrize(
    ("header", "requirements"),
    [
        (
            'dependencies: ["torch>=2.0.0", "pandas[excel] >=1, <3", railway-cli]',
            {"package:torch>=2.0.0", "package:pandas>=1,<3", "package:railway-cli"},
        ),
        (
            "compatibility: Requires Python 3.11+, the gh CLI and the memory MCP server.",
            {"runtime:python>=3.11", "binary:gh", "mcp_server:memory"},
        ),
        ("compatibility: Works best with the memory MCP server.", set()),
        ('engines: {node: ">= 18"}', {"runtime:node>=18"}),
    ],
)
def test_ranges_and_what_a_skill_says_it_works_with_are_requirements(bench, header, requirements):
    bench.ingest(bench.write({"skills/kit/SKILL.md": f"---\nname: kit\ndescription: A kit.\n{header}\n---\n\nUse it."}))

    assert set(bench.links(bench.one("skill"), "depends_on")) == {f"requirement:{name}" for name in requirements}


@pytest.mark.parametrize(
    ("header", "heading", "kind"),
    [
        ("tools: [Read, mcp__loom__weave]", "Weaving", "optional_mcp_server"),
        ("tools: [mcp__loom__weave, mcp__loom__knot]", "Weaving", "mcp_server"),
        ("tools: [Read, mcp__loom__weave]\nmcpServers: [loom]", "Weaving", "mcp_server"),
        ("tools: [Read, mcp__loom__weave]\nmcpServers: [loom]", "MCP tools (optional)", "optional_mcp_server"),
    ],
)
def test_a_server_whose_tool_is_allowed_beside_others_is_no_condition(bench, header, heading, kind):
    text = f"---\nname: weaver\ndescription: Weaves.\n{header}\n---\n\n## {heading}\n\nWeave."
    bench.ingest(bench.write({"agents/weaver.md": text}))
    agent = bench.one("agent")
    assert set(bench.links(agent, "depends_on")) == {f"requirement:{kind}:loom"}
    bench.store.close()
    with open_repertoire(bench.home, environment={}) as opened:
        asked = ExplainRequest(agent.id, environment={})
        told = explanation_text(explain(opened.store, opened.pipeline, asked))
    assert ("warning: it requires the MCP server loom" in told) is (kind == "mcp_server")
    assert f"needs: {kind.replace('_', ' ')} loom" in told


def test_capabilities_carry_how_sure_they_are_and_where_they_were_found(bench):
    bench.ingest(bench.write(PLUGIN))

    found = bench.links(bench.one("skill"), "provides")

    assert found["capability:testing"].weight > 0.6
    assert "name" in found["capability:testing"].evidence
    assert all(0.3 <= link.weight <= 1.0 for link in found.values())
    assert len(found) <= 8


def test_a_curators_capabilities_win_over_what_ingestion_finds_and_survive(bench):
    folder = bench.write(PLUGIN)
    bench.ingest(folder)
    target = bench.one("skill")
    bench.store.preferences.correct(target.id, ("visual-regression",), now="2026-01-01T00:00:00Z")

    bench.ingest(folder)
    bench.ingest(folder)

    assert bench.links(target, "provides") == {}  # the verb that corrects writes the edges itself


def test_secrets_of_a_configuration_never_reach_the_store(bench):
    servers = {
        "a": {
            "command": "npx",
            "args": ["-y", "thing", "--api-key", "sk-live-0123456789abcdef"],
            "env": {"TOKEN": "tok-42424242"},
        },
        "b": {
            "type": "http",
            "url": "https://u:pw-77@x.example/mcp?key=q-9999",
            "headers": {"Authorization": "Bearer h-1234"},
        },
        "c": {"command": "node", "args": ["--token=t-5555", "aB3xY9kLm2Qw8Zt5Rv7Np1Ds"]},
    }
    bench.ingest(bench.write({".mcp.json": json.dumps({"mcpServers": servers})}))

    bench.store.close()
    stored = b"".join(path.read_bytes() for path in bench.home.glob("repertoire.db*"))

    for secret in (b"sk-live", b"tok-42", b"pw-77", b"q-9999", b"h-1234", b"t-5555", b"aB3xY9"):
        assert secret not in stored
    assert b"thing" in stored


def test_a_plugin_of_many_parts_gets_few_edges_for_each_and_not_one_for_every_pair(bench):
    files = {".claude-plugin/plugin.json": '{"name": "big", "description": "x"}'}
    files.update(
        {f"skills/s{number}/SKILL.md": skill(f"s{number}", "Testing and deployment of APIs.") for number in range(60)}
    )
    bench.ingest(bench.write(files))

    rows = bench.store._connection.rows(
        "SELECT id, (SELECT count(*) FROM edge WHERE relation = 'co_occurs_with' AND node.id IN (source, target))"
        " FROM node WHERE type = 'component'"
    )

    assert 1 <= max(count for _, count in rows) <= 8


def test_a_file_that_only_describes_itself_as_an_agent_is_one(bench):
    bench.ingest(
        bench.write(
            {
                "categories/web/api-designer.md": "---\nname: api-designer\ndescription: Designs.\ntools: Read\n---\nx",
                "docs/guide.md": "---\ntitle: A guide\n---\nSome text.",
                "README.md": "---\nname: no\ndescription: no\ntools: no\n---\n",
            }
        )
    )

    assert {key: item.type for key, item in bench.all().items()} == {"categories/web/api-designer.md": "agent"}


def test_what_a_skill_keeps_in_its_folder_is_a_part_of_it_and_counts_in_its_version(bench):
    files = {
        "skills/maker/SKILL.md": skill("maker"),
        "skills/maker/agents/grader.md": "Grade the result.",
        "skills/maker/agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nHelp.",
    }
    folder = bench.write(files)
    bench.ingest(folder)
    before = bench.one("skill")
    assert {item.type for item in bench.all().values()} == {"skill", "agent"}

    bench.write({"skills/maker/agents/grader.md": "Grade the result twice."})
    report = bench.ingest(folder)

    assert report.changed == 1
    assert bench.one("skill").version == before.version + 1


def test_plugins_that_a_marketplace_lists_elsewhere_are_known_with_their_install_lines(bench):
    listed = {
        "name": "market",
        "owner": {"name": "o"},
        "plugins": [
            {
                "name": "far",
                "description": "Sends parcels.",
                "source": {"source": "github", "repo": "acme/far"},
                "tags": ["email"],
                "installs": 999,
            },
            {"name": "near", "description": "No manifest of its own.", "source": "./near", "strict": False},
            {"name": "out", "source": "../../etc"},
        ],
    }
    bench.ingest(
        bench.write({".claude-plugin/marketplace.json": json.dumps(listed), "near/skills/a/SKILL.md": skill("a")})
    )

    found = bench.all()
    far = found[".claude-plugin/marketplace.json#far"]

    assert set(found) == {".claude-plugin/marketplace.json#far", "near", "near/skills/a/SKILL.md"}
    assert far.repository == "github.com/acme/far"
    assert far.install[-1] == "/plugin install far@market"
    assert far.popularity == 3.0
    assert set(bench.links(found["near/skills/a/SKILL.md"], "part_of")) == {"near"}


def test_a_registry_entry_carries_the_signatures_of_its_tools(bench):
    bench.ingest(
        bench.write(
            {
                "servers/atlas/server.yaml": "name: atlas\nimage: mcp/atlas\n"
                "about:\n  title: Atlas\n  description: Draws maps.\n"
                "meta:\n  category: maps\nconfig:\n  secrets:\n    - name: atlas.key\n      env: ATLAS_KEY\n",
                "servers/atlas/tools.json": json.dumps(
                    [{"name": "draw", "description": "Draws.", "arguments": [{"name": "place", "type": "string"}]}]
                ),
            }
        )
    )

    found = bench.one("mcp_server")

    assert found.code == "draw(place: string)"
    assert "- draw: Draws." in found.body
    assert found.install == ("docker mcp server enable atlas",)
    assert set(bench.links(found, "depends_on")) == {"requirement:binary:docker", "requirement:setting:ATLAS_KEY"}


def test_components_of_one_name_in_two_sources_are_alternatives_and_more_popular(bench):
    agent = "---\nname: reviewer\ndescription: Reviews code changes for mistakes.\n---\nReview."
    bench.ingest(
        bench.write({"agents/reviewer.md": agent, "agents/other.md": agent.replace("reviewer", "lonely")}, under="one")
    )
    bench.ingest(bench.write({"agents/reviewer.md": agent + " Twice."}, under="two"))

    rows = bench.store.graph.summaries()
    first, second = [row for row in rows if row.name == "reviewer"]
    links = [link for link in bench.store.graph.links(first.id) if link.relation == "alternative_to"]

    assert [link.other for link in links] == [second.id]
    assert first.popularity == second.popularity > next(row.popularity for row in rows if row.name == "lonely") == 0


_LICENCES = {  # the title of each text, and what it says of others
    "GPL-2.0": """GNU GENERAL PUBLIC LICENSE
                       Version 2, June 1991
        (Some other Free Software Foundation software is covered by the GNU Lesser General Public License instead.)""",
    "GPL-3.0": """GNU GENERAL PUBLIC LICENSE
                       Version 3, 29 June 2007
        13. Use with the GNU Affero General Public License.""",
    "LGPL-2.1": """GNU LESSER GENERAL PUBLIC LICENSE
                       Version 2.1, February 1999
        When a program is linked with a library, [...] The ordinary General Public License therefore permits""",
    "LGPL-3.0": """GNU LESSER GENERAL PUBLIC LICENSE
                       Version 3, 29 June 2007
        incorporates the terms and conditions of version 3 of the GNU General Public License""",
    "AGPL-3.0": """GNU AFFERO GENERAL PUBLIC LICENSE
                       Version 3, 19 November 2007
        13. Remote Network Interaction; Use with the GNU General Public License.""",
    "MPL-2.0": """Mozilla Public License Version 2.0
        means either the GNU General Public License, Version 2.0, the GNU Lesser General Public License, Version 2.1,
        the GNU Affero General Public License, Version 3.0, or any later versions of those licenses.""",
}


@pytest.mark.parametrize("licence", _LICENCES)
def test_a_licence_is_told_by_its_title_whatever_others_it_names(bench, licence):
    bench.ingest(bench.write({"LICENSE": _LICENCES[licence], "skills/a/SKILL.md": skill("a")}))

    assert bench.one("skill").licence == licence
