"""Other kinds of files in repositories: workflows, guidance, Copilot's files, agent frameworks."""

from __future__ import annotations

import json

import pytest

from repertoire.app.sources.file_outcomes import account
from repertoire.domain.invocation import MODEL, PERSON
from repertoire.settings import Settings

TRIAGE = """name: Issue triage
on:
  issues:
    types: [opened]
permissions:
  issues: write
jobs:
  triage:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - name: Label the issue
        uses: anthropics/claude-code-action@v1
        with:
          anthropic_api_key: ${{ secrets.ANTHROPIC_API_KEY }}
          prompt: Read the new issue and label it.
"""
AGENTIC = """---
on:
  schedule:
    - cron: "0 9 * * 1"
engine: copilot
permissions: read-all
safe-outputs:
  create-issue:
---
# Weekly research

Look for news about this repository's field, and open an issue with a summary.
"""
PLAN = "# Release\n\n## Step 1: freeze\n\nStop.\n\n## Step 2: tag\n\nTag it.\n\n## Step 3: publish\n\nPublish it.\n"


def one(bench, files):
    """Ingest files that hold one component and return it, with its key."""
    bench.ingest(bench.write(files))
    ((key, component),) = bench.all().items()
    return key, component


def left(bench, files):
    folder = bench.write(files)
    told = account(bench.store, bench.home, str(folder), settings=Settings())
    return {fate.path: (fate.became, fate.of) for fate in told}


def test_an_action_that_runs_an_agent_is_a_workflow(bench):
    key, found = one(bench, {".github/workflows/triage.yml": TRIAGE})

    assert (key, found.type, found.name) == (".github/workflows/triage.yml", "workflow", "Issue triage")
    assert found.description == (
        "GitHub workflow Issue triage, on issues, runs claude-code-action: triage, Label the issue"
    )
    assert found.install[0].endswith(" .github/workflows/")
    needed = {link.other for link in bench.store.graph.links(found.id) if link.relation == "depends_on"}
    assert needed == {"requirement:env:ANTHROPIC_API_KEY"}


def test_an_agentic_workflow_in_markdown_is_one(bench):
    _, found = one(bench, {"workflows/weekly-research.md": AGENTIC})
    assert (found.type, found.name) == ("workflow", "weekly-research")
    assert found.description.startswith("Look for news about this repository's field")


def test_steps_of_an_agent_framework_are_a_workflow(bench):
    text = "name: Release\ndescription: Freezes, tags and publishes.\nsteps:\n  - id: freeze\n  - id: tag\n"
    _, found = one(bench, {"bmad/workflows/release.yaml": text})
    assert (found.type, found.description, found.install) == ("workflow", "Freezes, tags and publishes.", ())
    _, found = one(bench, {"bmad/workflows/release.yaml": text.replace("description", "about")})
    assert found.description == "Workflow Release: freeze, tag"


def test_what_lies_among_workflows_and_is_none_is_left_with_the_reason(bench):
    assert left(
        bench,
        {
            ".github/workflows/test.yml": "name: test\non: push\njobs:\n  t:\n    steps:\n      - run: make test\n",
            "workflows/plan.md": PLAN,
            "workflows/notes.md": "Some notes.",
            "docs/workflows/release.md": PLAN,
            "workflows/values.yaml": "replicas: 3\n",
            "workflows/broken.yaml": "a: [",
        },
    ) == {
        ".github/workflows/test.yml": ("none", "a GitHub workflow that runs no agent"),
        "workflows/plan.md": ("component", "workflow"),
        "workflows/notes.md": ("none", "Markdown in a folder of workflows that lists no steps"),
        "docs/workflows/release.md": ("none", "Markdown in a folder of workflows that lists no steps"),
        "workflows/values.yaml": ("none", "YAML in a folder of workflows that has no steps"),
        "workflows/broken.yaml": ("skipped", "not YAML (did not find expected node content, noticed in line 2)"),
    }


TREE = {
    "cli-tool/components/agents/security/auditor.md": "---\nname: auditor\ndescription: Audits code.\n---\nAudit.",
    "cli-tool/components/commands/testing/run-tests.md": "Run the tests and tell what failed.",
    "cli-tool/components/hooks/git/guard.json": (
        '{"description": "Guards main.", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": '
        '[{"type": "command", "command": "git branch"}]}]}}'
    ),
    "cli-tool/components/mcps/database/pg.json": '{"mcpServers": {"pg": {"command": "npx", "args": ["-y", "pg-mcp"]}}}',
    "cli-tool/components/settings/statusline/context.json": (
        '{"description": "Shows how full the context is.", "statusLine": {"type": "command", "command": "ctx"}}'
    ),
    "cli-tool/components/skills/documents/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF.\n---\nRead.",
    "cli-tool/components/skills/documents/pdf/agents/helper.md": "Help.",
}


def test_a_tree_of_components_by_kind_and_topic_is_read_whole(bench):
    bench.ingest(bench.write(TREE))

    root = "cli-tool/components"
    assert {key.removeprefix(f"{root}/"): (c.type, c.name) for key, c in bench.all().items()} == {
        "agents/security/auditor.md": ("agent", "auditor"),
        "commands/testing/run-tests.md": ("command", "run-tests"),
        "hooks/git/guard.json": ("hook", "guard"),
        "mcps/database/pg.json#pg": ("mcp_server", "pg"),
        "settings/statusline/context.json#settings": ("setting", "context"),
        "skills/documents/pdf/SKILL.md": ("skill", "pdf"),
    }
    assert left(bench, TREE)[f"{root}/skills/documents/pdf/agents/helper.md"] == (
        "part",
        f"{root}/skills/documents/pdf/SKILL.md",
    )


COPILOT = {
    "chatmodes/Planner.chatmode.md": (
        "---\ndescription: 'Plans changes without making them.'\ntools: ['codebase', 'search']\n---\nPlan first."
    ),
    "prompts/write-tests.prompt.md": "---\nmode: agent\ndescription: 'Writes tests for a file.'\n---\nWrite tests.",
    "instructions/go.instructions.md": "---\napplyTo: '**/*.go'\ndescription: 'Idiomatic Go.'\n---\nWrite Go.",
    "collections/go.collection.yml": (
        "id: go-kit\nname: Go kit\ndescription: What a Go developer needs.\ntags: [go]\n"
        "items:\n  - path: prompts/write-tests.prompt.md\n    kind: prompt\n"
    ),
    "collections/empty.collection.yml": "id: empty\n",
}


def test_what_is_written_for_copilot_is_read_by_what_it_does(bench):
    report = bench.ingest(bench.write(COPILOT))

    found = {key: (c.type, c.name, c.description, bool(c.install)) for key, c in bench.all().items()}
    assert found == {
        "chatmodes/Planner.chatmode.md": ("agent", "Planner", "Plans changes without making them.", False),
        "prompts/write-tests.prompt.md": ("command", "write-tests", "Writes tests for a file.", True),
        "instructions/go.instructions.md": ("setting", "go", "Idiomatic Go.", True),
        "collections/go.collection.yml": ("plugin", "go-kit", "What a Go developer needs.", False),
    }
    assert bench.all()["chatmodes/Planner.chatmode.md"].allowed_tools == ("codebase", "search")
    clients = {key: c.client for key, c in bench.all().items()}
    assert clients == {
        "chatmodes/Planner.chatmode.md": "GitHub Copilot",
        "prompts/write-tests.prompt.md": "",
        "instructions/go.instructions.md": "",
        "collections/go.collection.yml": "GitHub Copilot",
    }
    assert bench.all()["prompts/write-tests.prompt.md"].install[0].endswith("~/.claude/commands/write-tests.md")
    kit = bench.all()["collections/go.collection.yml"]
    assert "prompts/write-tests.prompt.md" in bench.links(kit, "depends_on")
    assert [item.reason for item in report.skipped] == ["a collection without a name or items"]


@pytest.mark.parametrize(
    ("path", "name", "installed_by"),
    [
        ("output-styles/terse.md", "terse", "~/.claude/output-styles/"),
        (".claude/rules/testing.md", "testing", "~/.claude/rules/"),
        ("rules/testing.md", "testing", "~/.claude/rules/"),
        (".cursor/rules/api.mdc", "api", "> ~/.claude/rules/api.md"),
        ("templates/nextjs/CLAUDE.md", "nextjs", "into CLAUDE.md"),
    ],
)
def test_what_shapes_every_answer_is_a_setting(bench, path, name, installed_by):
    _, found = one(bench, {path: "---\ndescription: Says what matters first.\n---\nBe brief.\n"})
    assert (found.type, found.name, found.description) == ("setting", name, "Says what matters first.")
    assert found.install[0].endswith(installed_by)


def test_guidance_for_a_repository_itself_and_the_rules_of_a_linter_are_no_components(bench):
    assert left(bench, {"AGENTS.md": "Run make.", "docs/rules/no-var.md": "# no-var\n\nUse let.\n"}) == {
        "AGENTS.md": ("none", "guidance for this source itself"),
        "docs/rules/no-var.md": ("none", "Markdown without the front matter of an agent or a command"),
    }


CREW = {
    "src/news/config/agents.yaml": (
        "researcher:\n  role: >\n    {topic} researcher\n  goal: >\n    Find what is new about {topic}\n"
        "  backstory: >\n    You read everything.\n"
    ),
    "src/news/config/tasks.yaml": (
        "research_task:\n  description: >\n    Find what is new.\n  expected_output: A list.\n  agent: researcher\n"
    ),
}


def test_a_crews_agents_and_tasks_are_agents_and_a_workflow(bench):
    bench.ingest(bench.write(CREW))

    found = bench.all()
    agent = found["src/news/config/agents.yaml#researcher"]
    assert (agent.type, agent.description) == ("agent", "{topic} researcher: Find what is new about {topic}")
    assert agent.install == ()
    crew = found["src/news/config/tasks.yaml"]
    assert (crew.type, crew.name) == ("workflow", "news")
    assert list(bench.links(crew, "depends_on")) == ["src/news/config/agents.yaml#researcher"]


PYTHON = '''"""Answers questions about the weather."""
from typing import Annotated
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, StateGraph
from crewai import Agent


@tool
def forecast(city: str, days: int = 3) -> str:
    """Tell the weather of the coming days."""
    return lookup(city, days)


@tool("sea-state", description="Tells how high the waves are.")
def sea(place: str) -> str:
    return "calm"


class TideTool(BaseTool):
    name: str = "tides"
    description: str = (
        "Tells the tides of a harbour."
    )

    def _run(self, harbour: str) -> str:
        return ""


class Base(BaseTool):
    """What our tools share."""


sailor = Agent(role="Sailor", goal="Bring the boat home", backstory="Sailed for years.")
graph = StateGraph(dict)
graph.add_node("ask", forecast)
graph.add_node("answer", sea)
raise RuntimeError("this file must never be run")
'''


def test_what_python_tells_agent_frameworks_is_read_and_never_run(bench):
    bench.ingest(bench.write({"weather/graph.py": PYTHON, "LICENSE": "MIT"}))

    found = {key: (c.type, c.name, c.description, c.code) for key, c in bench.all().items()}
    assert found == {
        "weather/graph.py#forecast": (
            "tool",
            "forecast",
            "Tell the weather of the coming days.",
            "forecast(city: str, days: int=3) -> str",
        ),
        "weather/graph.py#sea-state": ("tool", "sea-state", "Tells how high the waves are.", "sea(place: str) -> str"),
        "weather/graph.py#tides": (
            "tool",
            "tides",
            "Tells the tides of a harbour.",
            "class TideTool\n_run(self, harbour: str) -> str",
        ),
        "weather/graph.py#Sailor": ("agent", "Sailor", "Sailor: Bring the boat home", ""),
        "weather/graph.py#weather": (
            "workflow",
            "weather",
            "Answers questions about the weather.\nLangGraph graph of the nodes ask, answer",
            "",
        ),
    }


def test_python_that_tells_no_framework_anything_is_left_and_what_cannot_be_parsed_skipped(bench):
    deep = "from langchain.tools import tool\nx = " + "(" * 500 + ")" * 500
    assert left(
        bench,
        {
            "app/views.py": "import json\n",
            "app/uses.py": "from langchain.tools import tool\n",
            "app/broken.py": "from langchain.tools import tool\ndef (:\n",
            "app/deep.py": deep,
            "tests/test_tools.py": PYTHON,
        },
    ) == {
        "app/views.py": ("none", "Python that imports no agent framework"),
        "app/uses.py": ("none", "Python that defines no tool, agent or graph"),
        "app/broken.py": ("skipped", "not Python that can be parsed (SyntaxError)"),
        "app/deep.py": ("skipped", "not Python that can be parsed (SyntaxError)"),
        "tests/test_tools.py": ("none", "belongs to the tests of its repository"),
    }


def test_what_looks_like_a_component_among_a_repositorys_tests_is_a_fixture(bench):
    skill = "---\nname: tides\ndescription: Makes tide tables.\n---\nRead the gauges."
    manifest = json.dumps({"name": "kit", "version": "1.0.0"})
    reason = ("none", "belongs to the tests of its repository")
    assert left(
        bench,
        {
            "tests/homes/kit/.claude-plugin/plugin.json": manifest,
            "tests/homes/kit/skills/tides/SKILL.md": skill,
            "src/__fixtures__/agents/tides.md": skill,
        },
    ) == dict.fromkeys(
        [
            "tests/homes/kit/.claude-plugin/plugin.json",
            "tests/homes/kit/skills/tides/SKILL.md",
            "src/__fixtures__/agents/tides.md",
        ],
        reason,
    )


@pytest.mark.parametrize(
    "path", ["skills/tests/SKILL.md", "commands/tests/run.md", "plugins/fixtures/agents/tides.md", "agents/testdata.md"]
)
def test_a_component_that_is_called_after_tests_is_none_of_them(bench, path):
    key, _ = one(bench, {path: "---\nname: tides\ndescription: Makes tide tables.\n---\nRead."})
    assert key == path


def test_a_json_schema_of_manifests_is_none_of_them(bench):
    schema = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "required": ["name"]})
    hinted = json.dumps({"$schema": "https://json.schemastore.org/claude-code-plugin.json", "description": "d"})
    unnamed = ("skipped", "not a valid plugin file: at the top, 'name' is a required property")
    assert left(
        bench, {"schemas/plugin.json": schema, "kit/plugin.json": hinted, "a/.claude-plugin/plugin.json": schema}
    ) == {
        "schemas/plugin.json": ("none", "a JSON Schema, which describes manifests and is none"),
        "kit/plugin.json": unnamed,
        "a/.claude-plugin/plugin.json": unnamed,
    }


@pytest.mark.parametrize("name", ['"{{AGENT_NAME}}"', "<your-agent>"])
def test_an_agent_whose_name_is_to_be_filled_in_is_a_template(bench, name):
    text = f"---\nname: {name}\ndescription: Says when to use it.\n---\nWork.\n"
    assert left(bench, {"agents/new.md": text}) == {
        "agents/new.md": ("none", "a template, whose name is to be filled in")
    }


def test_a_pointer_of_git_lfs_is_no_skill(bench):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    report = bench.ingest(bench.write({"skills/far/SKILL.md": pointer}))
    assert [item.reason for item in report.skipped] == ["a pointer of Git LFS, whose file was not fetched"]
    assert not bench.all()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("disable-model-invocation: on", PERSON),
        ("disable-model-invocation: 1", PERSON),
        ("user-invocable: off", MODEL),
        ("user-invocable: 0", MODEL),
    ],
)
def test_who_may_start_a_skill_is_read_from_every_word_that_the_client_takes(bench, line, told):
    _, found = one(bench, {"skills/a/SKILL.md": f"---\nname: a\ndescription: Does it.\n{line}\n---\nText.\n"})
    assert found.invocation == told
