"""Components for other clients than Claude Code are found and marked, but never recommended."""

from __future__ import annotations

import json

import pytest

from ingestion.workbench import skill
from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.sources.ingest import ingest
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query, Task
from repertoire.domain.component import TWIN_OF
from repertoire.rendering.answers import answer_text
from repertoire.rendering.explanations import explanation_text
from repertoire.settings import Settings

BODY = (
    "# Tide tables\n\nRead the gauge at every harbour, note the moon, and write high and low water for each day. " * 4
)
WHAT = "Makes tide tables of harbour gauges."
MARKET = {
    ".claude-plugin/marketplace.json": json.dumps(
        {"name": "sea", "owner": {"name": "o"}, "plugins": [{"name": "tides", "source": "./", "description": "d"}]}
    ),
    ".claude-plugin/plugin.json": '{"name": "tides", "version": "1.0.0", "commands": ["./extra/chart.md"]}',
}
PLUGIN = MARKET | {
    "skills/tide-tables/SKILL.md": skill("tide-tables", WHAT, BODY),
    ".cursor/skills/tide-tables/SKILL.md": skill("tide-tables", WHAT, BODY + "Ask Cursor to run it."),
    ".agents/skills/gauge-reading/SKILL.md": skill("gauge-reading", "Reads a gauge.", "Look at the gauge."),
    "agents/pilot.md": "---\nname: pilot\ndescription: Steers ships.\ntools: Read, Grep\n---\nSteer.",
    ".kiro/agents/pilot.md": "---\nname: pilot\ndescription: Steers.\nallowedTools:\n  - read\n---\nSteer well.",
    "commands/dredge.md": "---\ndescription: Dredges a channel.\n---\nDredge $ARGUMENTS.",
    ".opencode/commands/dredge.md": "---\ndescription: Dredges.\nagent: digger\nsubtask: true\n---\nDredge it.",
    "extra/chart.md": "---\ndescription: Draws a sea chart.\nargument-hint: [harbour]\n---\nDraw.",
    "old/commands/moor.md": "---\ndescription: Moors a ship.\n---\nMoor.",
    ".claude/commands/release.md": "---\ndescription: Releases this repository.\n---\nRelease.",
}


def test_only_what_claude_code_reads_of_a_plugin_comes_with_it(bench):
    bench.ingest(bench.write(PLUGIN))
    found = bench.all()
    with_it = {path for path, c in found.items() if "/plugin install tides@sea" in c.install}
    assert with_it == {".", "skills/tide-tables/SKILL.md", "agents/pilot.md", "extra/chart.md"}
    by_hand = {path for path, c in found.items() if any(line.startswith("mkdir -p ~/.claude/") for line in c.install)}
    assert by_hand == {
        ".agents/skills/gauge-reading/SKILL.md",
        "commands/dredge.md",  # its usual folder is not read, as the manifest names commands
        "old/commands/moor.md",
        ".claude/commands/release.md",
    }
    assert {path: c.client for path, c in found.items() if c.client} == {
        ".cursor/skills/tide-tables/SKILL.md": "Cursor",
        ".kiro/agents/pilot.md": "Kiro",
        ".opencode/commands/dredge.md": "OpenCode",
    }
    assert all(not c.install and not c.plugin for c in found.values() if c.client)


def test_another_clients_version_is_a_twin_of_the_one_that_claude_code_reads(bench):
    bench.ingest(bench.write(PLUGIN))
    theirs = bench.all()[".cursor/skills/tide-tables/SKILL.md"]
    links = bench.store.graph.links(theirs.id)
    assert [link.other.rpartition(":")[2] for link in links if link.relation == TWIN_OF] == [
        "skills/tide-tables/SKILL.md"
    ]
    assert "skills/tide-tables/SKILL.md, which is the one that Claude Code reads" in theirs.client_reason


def test_what_an_installed_plugin_holds_for_others_is_not_installed(bench):
    cache = bench.write(PLUGIN, under="person/.claude/plugins/cache/sea/tides/1.0.0")
    record = {"scope": "user", "installPath": str(cache)}
    listed = json.dumps({"version": 2, "plugins": {"tides@sea": [record]}})
    bench.write({"installed_plugins.json": listed}, under="person/.claude/plugins")
    bench.ingest_all("installed")
    assert {path for path, c in bench.all().items() if c.installed} == {
        ".",
        "skills/tide-tables/SKILL.md",
        "agents/pilot.md",
        "extra/chart.md",
    }


def agent(*lines: str) -> str:
    return "\n".join(("---", "name: helper", "description: Helps with harbours.", *lines, "---", "Help."))


@pytest.mark.parametrize(
    ("path", "text", "client"),
    [
        ("agents/helper.agent.md", agent("tools: ['codebase', 'search/usages']"), "GitHub Copilot"),
        ("agents/helper.agent.md", agent("tools: ['read', 'edit', 'search']"), "GitHub Copilot"),
        ("agents/helper.agent.md", agent("model: GPT-4.1"), "GitHub Copilot"),
        ("agents/helper.agent.md", agent(), ""),
        ("agents/helper.agent.md", agent("tools: ['Read', 'codebase']", "model: sonnet"), ""),
        ("agents/helper.md", agent("tools: [read_file, shell]"), "another client"),
        ("agents/helper.md", agent("tools: mcp__docs__search"), ""),
        ("agents/helper.md", agent("model: claude-opus-4-1-20250805"), ""),
        ("agents/helper.md", agent("model: Claude Sonnet 4.5"), "another client"),
        (".opencode/agents/helper.md", agent("tools:", "  write: false", "  bash: true"), "OpenCode"),
        ("prompts/helper.prompt.md", "---\ndescription: Helps.\n---\nHelp with ${input:what}.", "GitHub Copilot"),
        ("prompts/helper.prompt.md", "---\ndescription: Helps.\nmode: agent\n---\nHelp.", ""),
    ],
)
def test_front_matter_tells_whose_an_agent_or_a_prompt_is(bench, path, text, client):
    bench.ingest(bench.write({path: text}))
    found = bench.all()[path]
    assert found.client == client
    assert bool(found.install) == (not client)
    assert bool(found.client_reason) == bool(client)


@pytest.mark.parametrize(
    ("event", "entry", "client"),
    [
        ("preToolUse", {"type": "command", "bash": "./check.sh"}, "GitHub Copilot"),
        ("beforeShellExecution", {"command": "./check.sh"}, "Cursor"),
        ("BeforeTool", {"hooks": [{"type": "command", "command": "./check.sh"}]}, "Gemini CLI"),
        ("whenIdle", {"command": "./check.sh"}, "another client"),
        ("PreToolUse", {"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}, ""),
    ],
)
def test_events_tell_whose_hooks_are(bench, event, entry, client):
    bench.ingest(bench.write({"hooks/hooks.json": json.dumps({"version": 1, "hooks": {event: [entry]}})}))
    found = bench.one("hook")
    assert found.client == client
    assert bool(found.install) == (not client)


def test_what_another_client_reads_is_found_marked_and_explained_and_never_recommended(bench):
    bench.store.close()
    text = (
        "---\nname: tide-tables\ndescription: Makes tide tables of harbour gauges.\ntools: ['codebase']\n---\n" + BODY
    )
    with open_repertoire(bench.home, environment={}) as opened:
        ingest(opened.store, bench.home, str(bench.write({"a/tides.agent.md": text})), settings=Settings())
        task = "make tide tables of harbour gauges"
        assert not recommend(opened.pipeline, Task(task), muted=opened.unfit_for_sets()).items
        assert not offer(opened.pipeline, task, HintLimits(muted=opened.unfit_for_hints())).hits
        answer = search(opened.pipeline, Query(task), muted=opened.muted())
        assert [hit.component.name for hit in answer.hits] == ["tide-tables"]
        assert "for GitHub Copilot, not for Claude Code: none of its tools is one" in answer_text(answer)
        asked = ExplainRequest("tide-tables", task=task)
        told = explain(opened.store, opened.pipeline, asked, unfit=opened.unfit_for_sets())
    assert "for GitHub Copilot, not for Claude Code: none of its tools is one" in explanation_text(told)
    assert "GitHub Copilot reads it, Claude Code does not" in explanation_text(told)
