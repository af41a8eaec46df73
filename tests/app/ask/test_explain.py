"""An explanation holds a component's description, needs, relations with evidence, use, and rank for a task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repertoire.app.ask.explain import ExplainRequest, Explanation, explain
from repertoire.app.ask.search import search
from repertoire.app.kernel import Repertoire
from repertoire.app.person.trust import show_flags
from repertoire.app.sources.patterns import renew_patterns
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query
from repertoire.domain.component import (
    ALTERNATIVE_TO,
    CATALOGUE,
    CO_OCCURS_WITH,
    CONFLICTS_WITH,
    DEPENDS_ON,
    MENTIONS,
    ONE_PLUGIN,
    PART_OF,
    TWIN_OF,
    Component,
    Edge,
    FileRecord,
)
from repertoire.domain.errors import UnknownComponent
from repertoire.domain.event import FAILED, OFFERED, SELECTED, Event
from repertoire.domain.trust import CRITICAL, Flag
from repertoire.ports import StoredComponent
from repertoire.rendering.explanations import explanation_data, explanation_text
from repertoire.rendering.person import report_text
from sample_home import NOW, SOURCE, component, filled_home, record_of

FORMS = component(
    "skill",
    "tax-forms",
    "Fills tax forms.",
    body="Read the fields first.",
    examples=("fill form 1040",),
    plugin="taxes",
    marketplace="acme",
    first_commit="2024-05-06",
    last_commit="2025-07-08",
    allowed_tools=("Read", "Bash"),
)
KIT = component("plugin", "taxes", "A plugin for taxes.")
OTHER = component("skill", "scanner", "Scans paper.")


@pytest.fixture
def repertoire(tmp_path: Path) -> Iterator[Repertoire]:
    home = filled_home(tmp_path / "data", KIT, OTHER)
    with open_repertoire(home, environment={}) as opened:
        edges = (
            Edge(FORMS.id, KIT.id, PART_OF, 1.0, "plugins/taxes"),
            Edge(FORMS.id, OTHER.id, CO_OCCURS_WITH, 2.0, "3 projects"),
            Edge(FORMS.id, OTHER.id, ALTERNATIVE_TO, 0.5, "same words"),
            Edge(OTHER.id, FORMS.id, DEPENDS_ON, 1.0, "its text"),
            Edge(OTHER.id, FORMS.id, MENTIONS, 1.0, "line 4"),
        )
        record = record_of(FORMS, provides=["tax-filing"], needs=["binary:pdftk"])
        record = FileRecord(record.path, record.content_hash, record.components, (), (*record.edges, *edges))
        info = SOURCE.__class__("folder:/taxes", "folder", "/taxes")
        opened.store.sources.write(info, [record], [], derived=[], now=NOW)
        yield opened


def told(repertoire: Repertoire, name: str, task: str = "") -> str:
    return explanation_text(
        explain(repertoire.store, repertoire.pipeline, ExplainRequest(name, task), muted=repertoire.muted())
    )


def test_it_tells_all_that_is_known(repertoire: Repertoire) -> None:
    text = told(repertoire, FORMS.id)
    for line in (
        "tax-forms (skill, available)",
        "description: Fills tax forms.",
        "excerpt: Read the fields first.",
        "examples: fill form 1040",
        "provides: tax-filing",
        "needs: binary pdftk",
        "needed by: scanner",
        "allowed tools: Read, Bash",
        "  - part of taxes (plugins/taxes)",
        "licence: MIT",
        f"dates: first commit 2024-05-06, last 2025-07-08; known here since {NOW[:10]}, version 1",
        "used: not recorded yet",
        f"id: {FORMS.id}",
    ):
        assert line in text.splitlines()
    assert "often together with scanner (3 projects)" in text
    assert "plugin taxes of marketplace acme" in text


def test_an_excerpt_does_not_say_the_description_again(repertoire: Repertoire) -> None:
    body = f"{FORMS.description} tax, forms"
    stored = StoredComponent(1, replace(FORMS, body=body), "s", "folder", NOW)
    assert "excerpt: tax, forms" in explanation_text(Explanation(stored)).splitlines()


@pytest.mark.parametrize("name", ["tax-forms", "/tax-forms", "taxes:tax-forms", "TAX-FORMS", FORMS.id])
def test_a_component_answers_to_its_id_and_to_its_names(repertoire: Repertoire, name: str) -> None:
    assert f"id: {FORMS.id}" in told(repertoire, name)


def test_an_unknown_name_is_answered_with_what_comes_near(repertoire: Repertoire) -> None:
    with pytest.raises(UnknownComponent, match=r"'tax forms filler'; did you mean tax-forms"):
        explain(repertoire.store, repertoire.pipeline, ExplainRequest("tax forms filler"))


def test_for_a_task_it_tells_the_rank_and_who_came_first(repertoire: Repertoire) -> None:
    assert 'for "fill tax forms": rank 1' in told(repertoire, FORMS.id, "fill tax forms")
    text = told(repertoire, OTHER.id, "fill tax forms")
    assert "ranked first: tax-forms (skill)" in text


def test_use_and_mutes_are_told(repertoire: Repertoire) -> None:
    repertoire.store.requests.select("request:1", FORMS.id, now=NOW)
    repertoire.store.preferences.mute(FORMS.id, "component", now=NOW)
    assert "used: not recorded yet; chosen for one request; muted, so not suggested here" in told(repertoire, FORMS.id)


def test_those_of_the_same_name_are_listed(repertoire: Repertoire) -> None:
    twin = Component(id="folder:/twin:x.md", type="skill", name="tax-forms", content_hash="1", path="x.md")
    info = SOURCE.__class__("folder:/twin", "folder", "/twin")
    repertoire.store.sources.write(info, [record_of(twin)], [], derived=[], now=NOW)
    assert "same name: " in told(repertoire, "tax-forms")


def test_of_several_of_a_name_the_first_that_a_search_finds_is_explained_and_said_to_be_one(
    repertoire: Repertoire,
) -> None:
    paths = [f"{number}.md" for number in range(5)]
    more = [component("agent", "scanner", "A scanner of paper, slides and film.", path=path) for path in paths]
    info = SOURCE.__class__("folder:/film", "folder", "/film")
    repertoire.store.sources.write(info, [record_of(one) for one in more], [], derived=[], now=NOW)
    first = search(repertoire.pipeline, Query("scanner", limit=1)).hits[0].component
    lines = told(repertoire, "scanner").splitlines()
    assert first.id != OTHER.id
    assert (lines[1], lines[-1]) == (f"6 are called scanner; this is {first.id}", f"id: {first.id}")
    assert lines[-2].startswith("same name: ")
    assert lines[-2].endswith(", and 2 more")
    assert "are called" not in told(repertoire, OTHER.id)


def test_where_one_alone_of_a_name_is_installed_nothing_is_ranked_to_explain_it(
    repertoire: Repertoire, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = replace(component("agent", "scanner", "Scans slides.", path="s.md"), installed=True)
    info = SOURCE.__class__("folder:/film", "folder", "/film")
    repertoire.store.sources.write(info, [record_of(own)], [], derived=[], now=NOW)
    monkeypatch.setattr(type(repertoire.pipeline), "rank", None)  # whoever ranks fails
    lines = told(repertoire, "scanner").splitlines()
    assert (lines[-1], lines[-2]) == (f"id: {own.id}", f"same name: {OTHER.id}")


def test_what_it_requires_is_looked_for_on_this_machine(repertoire: Repertoire) -> None:
    asked = ExplainRequest(FORMS.id, environment={"PATH": ""})
    text = explanation_text(explain(repertoire.store, repertoire.pipeline, asked))
    assert "needs: binary pdftk (not found here)" in text.splitlines()


def test_for_a_task_it_tells_its_place_in_the_set_or_what_keeps_it_out_and_what_each_stage_did(
    repertoire: Repertoire,
) -> None:
    text = told(repertoire, FORMS.id, "fill tax forms")
    assert "  in the set: yes, for " in text
    assert "  stages: plan " in text
    assert "  in the set: no, " in told(repertoire, OTHER.id, "fill tax forms")


def test_what_happened_to_it_is_counted(repertoire: Repertoire) -> None:
    events = [Event(NOW, kind, "s", node=FORMS.id) for kind in (OFFERED, OFFERED, SELECTED, FAILED)]
    repertoire.store.events.append(events)
    said = f"used: once, last {NOW[:10]}; suggested 2 times; its call failed once"
    assert said in told(repertoire, FORMS.id)


@pytest.mark.parametrize(("failed", "said"), [(1, "called once, which failed"), (3, "called 3 times, all failed")])
def test_calls_that_all_failed_are_told_as_uses(repertoire: Repertoire, failed: int, said: str) -> None:
    repertoire.store.events.append([Event(NOW, FAILED, f"s{n}", node=FORMS.id) for n in range(failed)])
    assert f"used: {said}" in told(repertoire, FORMS.id).splitlines()


def test_its_graph_holds_itself_what_its_edges_say_and_only_edges_between_what_is_shown(repertoire: Repertoire) -> None:
    repertoire.store.requests.select("request:1", FORMS.id, now=NOW)
    asked = ExplainRequest(FORMS.id, "fill tax forms", graph=True)
    explanation = explain(repertoire.store, repertoire.pipeline, asked)
    graph = explanation.graph
    assert graph is not None
    keys = [node.key for node in graph.nodes]
    assert keys[0] == FORMS.id
    assert {"capability:tax-filing", "requirement:binary:pdftk"} <= set(keys)
    assert not any(node.type == "request" for node in graph.nodes)
    assert {end for edge in graph.edges for end in (edge.source, edge.target)} <= set(keys)
    assert "  - tax-filing (capability): provides ← tax-forms" in explanation_text(explanation).splitlines()


def test_what_no_set_may_hold_is_told_to_be_withheld_and_the_muted_to_be_muted(repertoire: Repertoire) -> None:
    source = SOURCE.__class__("folder:/taxes", "folder", "/taxes")
    record = record_of(replace(FORMS, flags=(Flag("curl-shell", CRITICAL),)))
    repertoire.store.sources.write(source, [record], [], derived=[], now=NOW)

    def said(*, muted: frozenset[str] = frozenset(), unfit: frozenset[str] = frozenset()) -> str:
        asked = ExplainRequest(FORMS.id, "fill tax forms")
        return explanation_text(explain(repertoire.store, repertoire.pipeline, asked, muted=muted, unfit=unfit))

    assert "  in the set: no, withheld: static checks found a critical flag" in said(unfit=frozenset({FORMS.id}))
    assert "  in the set: no, muted" in said(muted=frozenset({FORMS.id}))


def test_what_the_checks_found_is_told_also_if_that_is_nothing_or_nothing_was_read(repertoire: Repertoire) -> None:
    catalogue = SOURCE.__class__(CATALOGUE, CATALOGUE, "shipped with Repertoire")
    listed = replace(
        component("skill", "loom", "Weaves."), id="github.com/acme/looms:loom", repository="github.com/acme/looms"
    )
    repertoire.store.sources.write(catalogue, [record_of(listed)], [], derived=[], now=NOW)
    assert "checks: nothing found" in told(repertoire, FORMS.id)
    assert "checks: none, its files were not read; ingest_repo, or" in told(repertoire, listed.id)
    assert not [line for line in told(repertoire, KIT.id).splitlines() if line.startswith("checks:")]
    read, unread = (report_text(show_flags(repertoire.store, one.id)) for one in (FORMS, listed))
    assert read == "The checks found nothing."
    assert unread.startswith("Nothing was checked: only the catalogue's entry is known. `repertoire ingest https://")


def test_known_combinations_are_told_with_whom_they_put_it_but_once(repertoire: Repertoire) -> None:
    changelog = f"{SOURCE.key}:skills/changelog.md"
    parts = [Edge(one, KIT.id, PART_OF, 1.0, "plugins/taxes") for one in (OTHER.id, changelog)]
    sibling = Edge(FORMS.id, changelog, CO_OCCURS_WITH, 1.0, ONE_PLUGIN)
    repertoire.store.sources.set_edges([*parts, sibling], now=NOW, file="plugin")
    renew_patterns(repertoire.store)
    lines = told(repertoire, FORMS.id).splitlines()
    assert "  - scanner (skill): part of taxes's set, with tax-forms" in lines
    assert [line for line in lines if "changelog" in line] == [
        "  - often together with changelog (parts of one plugin)"
    ]


def test_of_many_relations_the_first_are_told_and_how_many_more_there_are(repertoire: Repertoire) -> None:
    many = [component("skill", f"reader-{number}", "Reads.", path=f"{number}.md") for number in range(12)]
    relations = (DEPENDS_ON, MENTIONS, CONFLICTS_WITH, TWIN_OF)
    edges = tuple(Edge(one.id, OTHER.id, relation, 1.0, "its text") for one in many for relation in relations)
    info = SOURCE.__class__("folder:/many", "folder", "/many")
    repertoire.store.sources.write(info, [record_of(one) for one in many], [], derived=[], now=NOW)
    repertoire.store.sources.set_edges(edges, now=NOW, file="many")
    explanation = explain(repertoire.store, repertoire.pipeline, ExplainRequest(OTHER.id))
    lines = explanation_text(explanation).splitlines()
    assert next(line for line in lines if line.startswith("needed by: ")).endswith(", and 4 more")
    related = {line: lines.index(line) for line in ("works with:", "conflicts with:", "copies:")}
    more = [line for line in lines if line.startswith("  - and ")]
    assert sorted(related.values()) == list(related.values())
    assert more == ["  - and 5 more", "  - and 4 more", "  - and 9 more"]  # it works with another, besides
    assert len(explanation_data(explanation)["conflicts"]) == 8


def test_related_ones_of_one_name_are_told_apart_by_their_ids(repertoire: Repertoire) -> None:
    names = ("reader", "Reader", "writer", OTHER.name)
    many = [component("skill", name, "Reads.", path=f"{at}.md") for at, name in enumerate(names)]
    edges = [Edge(one.id, OTHER.id, ALTERNATIVE_TO, 1.0, "") for one in many]
    edges.append(Edge(many[0].id, OTHER.id, CONFLICTS_WITH, 1.0, "one file"))
    repertoire.store.sources.write(
        SOURCE.__class__("folder:/many", "folder", "/many"), [record_of(one) for one in many], [], derived=[], now=NOW
    )
    repertoire.store.sources.set_edges(edges, now=NOW, file="many")
    lines = told(repertoire, OTHER.id).splitlines()
    for one in (many[0], many[1], many[3]):
        assert f"  - alternative to {one.name} [{one.id}]" in lines
    assert "  - alternative to writer" in lines
    assert f"  - reader [{many[0].id}] (one file)" in lines
