"""A plugin is installed as a whole: answers name its other parts, count them in the budget, prefer lighter copies."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ingestion.workbench import skill
from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.sources.catalogue_source import INFO, records_of
from repertoire.app.sources.ingest import ingest
from repertoire.app.wiring import open_repertoire
from repertoire.catalogue import reading
from repertoire.domain.answer import Query, Task
from repertoire.rendering.answers import hit_lines, recommendation_text, unit_lines
from repertoire.rendering.data import recommendation_data
from repertoire.rendering.explanations import explanation_text
from repertoire.settings import Settings
from repertoire.store.light.start import StartReader
from sample_home import NOW

TASK = "make tide tables of harbour gauges"
TIDES = skill("tide-tables", "Makes tide tables of harbour gauges.", "# Tides\n\nRead the gauges of the harbour.")


def market(name: str, files: dict[str, str]) -> dict[str, str]:
    plugins = [{"name": name, "source": "./", "description": "d"}]
    listed = {"name": f"{name}-market", "owner": {"name": "o"}, "plugins": plugins}
    manifest = json.dumps({"name": name, "version": "1.0.0"})
    return files | {
        ".claude-plugin/marketplace.json": json.dumps(listed),
        ".claude-plugin/plugin.json": manifest,
        "skills/tide-tables/SKILL.md": TIDES,
    }


CROWD = {
    f"agents/sailor-{n}.md": f"---\nname: sailor-{n}\ndescription: {'Hauls ropes. ' * 30}\n---\nHaul."
    for n in range(40)
}
LARGE, SMALL = market("armada", CROWD), market("dinghy", {"commands/row.md": "---\ndescription: Rows.\n---\nRow."})


@pytest.fixture
def opened(bench):
    bench.store.close()
    with open_repertoire(bench.home, environment={}) as found:
        yield found


def read(opened, bench, **folders):
    for name, files in folders.items():
        ingest(opened.store, bench.home, str(bench.write(files, under=name)), settings=Settings())


def test_what_an_install_line_brings_is_said_in_text_in_data_and_in_an_explanation(opened, bench):
    read(opened, bench, large=LARGE)
    found = recommend(opened.pipeline, Task(TASK))
    (item,) = found.items
    assert item.hit.unit.counts == {"agent": 40, "skill": 1}
    assert 3_500 < item.hit.unit.tokens < 5_000
    assert "only this one: repertoire install " in recommendation_text(found)
    told = f"armada@armada-market brings 40 agents, 1 skill; about {item.hit.unit.tokens:,} tokens"
    assert told in recommendation_text(found)
    assert told in explanation_text(explain(opened.store, opened.pipeline, ExplainRequest("tide-tables")))
    (data,) = recommendation_data(found)["items"]
    assert data["brings"]["counts"] == {"agent": 40, "skill": 1}


def test_a_set_installs_a_skill_alone_out_of_a_large_plugin(opened, bench):
    read(opened, bench, large=LARGE)
    found = recommend(opened.pipeline, Task(TASK))
    assert found.install == (f"repertoire install {found.items[0].hit.component.id} --alone",)
    assert found.items[0].hit.component.install[-1] == "/plugin install armada@armada-market"


def test_a_set_installs_the_large_plugin_whose_files_a_skill_starts(opened, bench):
    bound = skill("tide-tables", "Makes tide tables of harbour gauges.", "Run ${CLAUDE_PLUGIN_ROOT}/gauges.py.")
    read(opened, bench, large=LARGE | {"skills/tide-tables/SKILL.md": bound})
    found = recommend(opened.pipeline, Task(TASK))
    assert found.install[-1] == "/plugin install armada@armada-market"
    assert "only this one" not in recommendation_text(found)


def test_a_component_alone_is_said_to_lack_the_server_of_its_plugin_that_it_needs(opened, bench):
    gauged = TIDES.replace("---\n\n", "allowed-tools: mcp__gauges__read\n---\n\n", 1)
    served = {".mcp.json": json.dumps({"mcpServers": {"gauges": {"command": "gauges"}}})}
    read(opened, bench, large=LARGE | served | {"skills/tide-tables/SKILL.md": gauged})
    lack = "alone it lacks what it needs: the MCP server gauges"
    assert lack in recommendation_text(recommend(opened.pipeline, Task(TASK)))
    assert lack in explanation_text(explain(opened.store, opened.pipeline, ExplainRequest("tide-tables")))


def test_a_hint_copies_a_skill_alone_out_of_a_large_plugin(opened, bench):
    read(opened, bench, large=LARGE)
    assert "install: /repertoire:install tide-tables --alone)" in offer(opened.pipeline, TASK, HintLimits()).text


def test_a_hint_says_nothing_of_the_little_that_a_small_plugin_brings(opened, bench):
    read(opened, bench, large=LARGE, small=SMALL)
    found = offer(opened.pipeline, TASK, HintLimits())
    assert found.hits[0].component.plugin == "dinghy"
    assert "install: /repertoire:install tide-tables)" in found.text.split("\n")[1]


def test_a_session_start_counts_what_comes_along_as_answers_do(opened, bench):
    read(opened, bench, large=LARGE, small=SMALL)
    snapshot, start = opened.pipeline.snapshot(), StartReader(bench.home / "repertoire.db")
    units = {summary.id: snapshot.units.of(row) for row, summary in enumerate(snapshot.summaries)}
    found = {key: start.coming_along(key) for key, unit in units.items() if unit and "skills/" in key}
    start.close()
    assert sorted(found.values()) == [(1, True), (40, True)]
    assert found == {key: (units[key].others, True) for key in found}


def test_what_is_copied_with_a_plugin_of_no_marketplace_says_so(opened, bench):
    """Its install line copies the folder of the plugin, since the skill starts a file of it."""
    bound = skill("tide-tables", "Makes tide tables of harbour gauges.", "Run ${CLAUDE_PLUGIN_ROOT}/gauges.py.")
    fleet = LARGE | {
        "skills/tide-tables/SKILL.md": bound,
        "skills/knots/SKILL.md": skill("knots", "Ties knots.", "Tie."),
    }
    del fleet[".claude-plugin/marketplace.json"]
    read(opened, bench, fleet=fleet)
    snapshot, start = opened.pipeline.snapshot(), StartReader(bench.home / "repertoire.db")
    units = {summary.id: snapshot.units.of(row) for row, summary in enumerate(snapshot.summaries)}
    along = {key: start.coming_along(key) for key in units if "skills/" in key}
    start.close()
    assert {key: (unit.others if unit else 0, True) for key, unit in units.items() if "skills/" in key} == along
    assert sorted(along.values()) == [(0, True), (41, True)]
    told = recommendation_text(recommend(opened.pipeline, Task(TASK)))
    assert "armada brings 40 agents, 2 skills; about " in told
    assert "only this one" not in told
    assert "brings 41 more components" in offer(opened.pipeline, TASK, HintLimits()).text


def test_of_a_plugin_that_the_catalogue_holds_in_part_only_a_lower_bound_is_said(opened):
    opened.store.sources.write(INFO, records_of(reading.load()), [], derived=[], now=NOW)
    snapshot = opened.pipeline.snapshot()
    units = [snapshot.units.of(row) for row in range(len(snapshot))]
    large = max(filter(None, units), key=lambda unit: sum(unit.counts.values()))
    row = units.index(large)
    assert not large.whole
    assert f"{large.name} brings at least " in unit_lines(large, snapshot_component(opened, row))[0]
    along = StartReader(opened.home / "repertoire.db").coming_along(snapshot.summaries[row].id)
    assert along == (large.others, False)


def snapshot_component(opened, row):
    (stored,) = opened.store.graph.components([opened.pipeline.snapshot().summaries[row].node_id]).values()
    return stored.component


def test_a_budget_counts_all_that_is_installed(opened, bench):
    read(opened, bench, large=LARGE)
    found = recommend(opened.pipeline, Task(TASK, budget=2_000))
    assert not found.items
    assert any("exceeds the budget" in warning for warning in found.warnings)


@pytest.mark.parametrize("order", [("large", "small"), ("small", "large")])
def test_of_those_that_serve_alike_the_one_that_brings_least_is_taken_and_named(opened, bench, order):
    files = {"large": LARGE, "small": SMALL}
    read(opened, bench, **{name: files[name] for name in order})
    (item,) = recommend(opened.pipeline, Task(TASK)).items
    assert item.hit.component.plugin == "dinghy"
    assert [hit.component.plugin for hit in offer(opened.pipeline, TASK, HintLimits()).hits][:1] == ["dinghy"]


def test_what_is_installed_brings_nothing_along(bench):
    folder = bench.write(LARGE, under="person/.claude/plugins/cache/armada-market/armada/1.0.0")
    record = {"scope": "user", "installPath": str(folder)}
    listed = json.dumps({"version": 2, "plugins": {"armada@armada-market": [record]}})
    bench.write({"installed_plugins.json": listed}, under="person/.claude/plugins")
    bench.store.close()
    with open_repertoire(bench.home, environment={}) as opened:
        ingest(opened.store, bench.home, "installed", settings=Settings())
        (item,) = recommend(opened.pipeline, Task(TASK, budget=100)).items
    assert item.hit.unit is None


def test_of_what_is_there_as_a_copy_nobody_is_told_what_its_plugin_would_bring(opened, bench):
    read(opened, bench, large=LARGE)
    (hit,) = search(opened.pipeline, Query(TASK, limit=1)).hits
    lines = unit_lines(hit.unit, hit.component)
    assert "   only this one: repertoire install " in "\n".join(hit_lines(hit, "1."))
    told = hit_lines(replace(hit, there_as="user:~/.claude:skills/tide-tables/SKILL.md"), "1.")
    assert any("the same component is installed already" in line for line in told)
    assert not {f"   {line}" for line in lines} & {*told}


def test_the_letters_of_a_large_plugin_in_chinese_are_tokens(opened, bench):
    read(
        opened,
        bench,
        large=market("armada", {path: text.replace("Hauls ropes. ", "拉紧缆绳。") for path, text in CROWD.items()}),
    )
    (item,) = recommend(opened.pipeline, Task(TASK)).items
    assert 40 * 5 * 30 * 0.8 < item.hit.unit.tokens < 40 * 5 * 30 * 1.5
