"""The text of searches and sets: what a reader finds in it, and that nobody else writes its lines."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.app.ask.explain import Explanation
from repertoire.domain.answer import Answer, Hit, Item, Other, Recommendation, Why
from repertoire.domain.component import Component
from repertoire.domain.text import MAX_COPIED, UNCOPIED, clean_line, to_copy
from repertoire.domain.trust import Flag
from repertoire.ports import StoredComponent
from repertoire.rendering.answers import answer_text, recommendation_text
from repertoire.rendering.data import answer_data, recommendation_data
from repertoire.rendering.explanations import explanation_data, explanation_text

COMPONENT = Component(
    id="s:a.md", type="mcp_server", name="postgres", description="Runs SQL.", install=("add market", "install it")
)
HIT = Hit(
    COMPONENT,
    0.9,
    whys=(Why("words", "words: sql"), Why("request", "asked for: the merger"), Why("words", "words: sql")),
)


def test_a_ranked_list_reads_at_a_glance() -> None:
    assert answer_text(Answer((HIT,), fits=True, confidence=0.9, degraded=("1 of 2 is missing",))).splitlines() == [
        "1 component, best first:",
        "1. postgres (mcp server, available)",
        "   Runs SQL.",
        "   why: words: sql; chosen before for a similar request",
        "   install: add market",
        "   then: install it",
        "   id: s:a.md",
        "Note: 1 of 2 is missing",
    ]


def test_nothing_fits_is_said_before_the_nearest_misses() -> None:
    text = answer_text(Answer((HIT,), fits=False, confidence=0.1))
    assert text.startswith("Nothing fits well. The nearest misses:\n1. postgres")
    assert answer_text(Answer((), fits=False, confidence=0.0)) == "Nothing fits, and nothing is close."


def test_an_empty_set_says_what_was_left_out_of_it() -> None:
    left_out = "postgres exceeds the budget of 100 tokens"
    assert f"Warning: {left_out}" in recommendation_text(Recommendation((), near=(HIT,), warnings=(left_out,)))


@pytest.mark.parametrize(("severity", "refused"), [("medium", False), ("high", True), ("critical", True)])
def test_who_is_shown_what_the_checks_refuse_to_install_gets_no_line_that_passes_them_by(
    severity: str, refused: bool
) -> None:
    flagged = replace(COMPONENT, flags=(Flag("remote-code", severity, reason="it runs what it fetches"),))
    told = answer_text(Answer((replace(HIT, component=flagged),), fits=True, confidence=0.9))
    explained = explanation_text(Explanation(StoredComponent(1, flagged, "s", "folder", "2026-01-01")))
    for text in (told, explained):
        assert ("install it" not in text) is refused
        assert ("a person decides: repertoire trust show s:a.md" in text) is refused


def test_a_set_tells_parts_install_lines_gaps_and_what_kept_others_out() -> None:
    near, like, copy = (Component(id=f"s:{name}.md", type="skill", name=name) for name in ("mysql", "sqlite", "pg"))
    near = replace(near, description="Runs SQL on MySQL." + " And more." * 30)
    text = recommendation_text(
        Recommendation(
            items=(Item(HIT, role="sql", tokens=10, alternatives=(Other(like, "a like job"),)),),
            near=(Hit(near, 0.5),),
            gaps=("charts", "maps"),
            gap_words={"charts": "plot"},
            unprovided=("maps",),
            why_not=(Other(copy, "the same as postgres"), Other(near, "needs docker, not found here", "with docker")),
            install=("add market", "install it"),
            warnings=("big exceeds the budget",),
            confidence=0.876,
        )
    )
    assert text.splitlines() == [
        "1 component for this task, confidence 0.88:",
        "1. postgres (mcp server, available)",
        "   for: sql",
        "   Runs SQL.",
        "   why: words: sql; chosen before for a similar request",
        "   install: add market",
        "   then: install it",
        "   or: sqlite",
        "   id: s:a.md",
        "Install:",
        "   add market",
        "   install it",
        "Not covered by this set: plot (charts), maps (no known component provides it)",
        "Warning: big exceeds the budget",
        "Next likeliest, not in the set:",
        f"   mysql (skill, available): {clean_line(near.description, 160)}",
        "      needs docker, not found here; would be chosen with docker",
        "      id: s:mysql.md",
        "Why not:",
        "   pg (skill): the same as postgres",
    ]


def test_an_install_line_that_wants_a_value_of_a_persons_own_says_where() -> None:
    line = "claude mcp add --transport http loom https://loom.example.net/YOUR_TOKEN"
    component = replace(COMPONENT, install=(line,))
    said = "   with your value in place of https://loom.example.net/YOUR_TOKEN"
    hit = replace(HIT, component=component)
    told = recommendation_text(Recommendation((Item(hit, role="", tokens=1),), install=(line,))).splitlines()
    assert told.count(said) == 2
    assert said in answer_text(Answer((hit,), fits=True, confidence=0.9)).splitlines()
    explained = explanation_text(Explanation(StoredComponent(1, component, "s", "folder", "2026-01-01")))
    assert said.strip() in explained
    assert said not in answer_text(Answer((HIT,), fits=True, confidence=0.9))


def test_what_stands_in_reserve_comes_last_under_a_heading_of_its_own() -> None:
    spare = Hit(Component(id="s:b.md", type="skill", name="mysql", description="Runs SQL."), 0.5)
    items = (
        Item(HIT, role="", tokens=1),
        Item(spare, role="", tokens=1, spare=True),
        Item(replace(HIT, component=replace(COMPONENT, name="charts")), role="", tokens=1),
    )
    lines = recommendation_text(Recommendation(items)).splitlines()
    unindented = [line for line in lines if not line.startswith(" ")]
    assert unindented[0].startswith("2 components for this task and 1 in reserve")
    assert [line.partition(" (")[0] for line in unindented[1:5]] == [
        "1. postgres",
        "2. charts",
        "In reserve:",
        "3. mysql",
    ]


def test_a_set_that_is_unsure_says_so_first() -> None:
    text = recommendation_text(Recommendation((Item(HIT, role="", tokens=10),), fits=False, confidence=0.1))
    assert text.startswith("No set clearly fits this task. The nearest set (1 component, confidence 0.10)")


def test_an_empty_set_names_what_came_near() -> None:
    text = recommendation_text(Recommendation((), near=(HIT,), gaps=("charts",)))
    assert text.startswith("Nothing fits this task. The nearest misses:\n- postgres")
    assert "Not covered by this set: charts" in text


@given(st.text(max_size=400), st.text(max_size=400), st.text(max_size=100))
def test_a_strangers_text_never_starts_a_line_nor_grows_one(name: str, description: str, why: str) -> None:
    stranger = Component(id="s:c.md", type="skill", name=name, description=description, install=(description,))
    plain = Component(id="s:c.md", type="skill", name="x", description="x", install=("x",))
    text = answer_text(Answer((Hit(stranger, 1.0, whys=(Why("words", why),)),), fits=True, confidence=1.0))
    model = answer_text(Answer((Hit(plain, 1.0, whys=(Why("words", "x"),)),), fits=True, confidence=1.0))
    starts = [line[:6].strip()[:3] for line in model.splitlines()]
    assert all(line[:6].strip()[:3] in starts or line.startswith("   ") for line in text.splitlines())
    assert len(text.splitlines()) <= len(model.splitlines())
    assert max(len(line) for line in text.splitlines() if not line.startswith("   install: ")) <= 350


def test_a_server_of_a_plugin_says_to_which_it_belongs() -> None:
    server = replace(COMPONENT, type="mcp_server", description="MCP server slack", plugin="marketing")
    text = answer_text(Answer((replace(HIT, component=server),), fits=True, confidence=0.9))
    assert "   MCP server slack (of the plugin marketing)" in text.splitlines()


def test_a_plugin_that_the_client_refuses_says_that_it_cannot_be_installed_as_a_whole() -> None:
    plugin = replace(COMPONENT, type="plugin", install=())
    text = answer_text(Answer((replace(HIT, component=plugin),), fits=True, confidence=0.9))
    assert "   install: not as it is: Claude Code refuses its manifest; its parts can be installed one by one" in text
    there = replace(HIT, component=replace(plugin, installed=True))
    assert "install:" not in answer_text(Answer((there,), fits=True, confidence=0.9))


LONG = "mkdir -p ~/.claude/skills && cp -R '/a folder/" + "deep/" * 120 + "weave' ~/.claude/skills/weave"


@pytest.mark.parametrize("line", [LONG, "cp 'a  b' c", "x" * MAX_COPIED])
def test_a_line_to_copy_stands_whole_in_every_rendering(line: str) -> None:
    lines = ("/plugin marketplace add acme/shelf", line)
    hit = replace(HIT, component=replace(COMPONENT, install=lines))
    recommendation = Recommendation((Item(hit, role="", tokens=1),), install=lines)
    explained = Explanation(StoredComponent(1, hit.component, "s", "folder", "2026-01-01"))
    shown = line if clean_line(line, MAX_COPIED) == line else UNCOPIED
    for text in (
        answer_text(Answer((hit,), fits=True, confidence=1.0)),
        recommendation_text(recommendation),
        explanation_text(explained),
    ):
        assert f" {shown}\n" in f"{text}\n"
        assert "shelf &&" not in text
    for data in (
        answer_data(Answer((hit,), fits=True, confidence=1.0))["components"][0],
        recommendation_data(recommendation),
        explanation_data(explained),
    ):
        assert data["install"] == [lines[0], shown]


@pytest.mark.parametrize("line", ["x" * (MAX_COPIED + 1), "cp a\nrm b", "cp \u202e b", "cp a  b"])
def test_a_line_that_cannot_be_copied_as_it_is_is_not_shown(line: str) -> None:
    assert to_copy((line, "cp a b")) == (UNCOPIED, "cp a b")
