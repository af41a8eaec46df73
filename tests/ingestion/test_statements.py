"""Statements about other components in prose count only if the name is unambiguous."""

from __future__ import annotations

import pytest

from repertoire.domain.component import ALTERNATIVE_TO, CONFLICTS_WITH, MENTIONS, Component
from repertoire.ingestion.statements import NamedComponent, stated, statements

OTHERS = ("fast-linter", "memory", "status", "code-review", "test-writer", "plan")


def said(text: str, *, body: str = "", source: str = "s") -> list[tuple[str, str]]:
    speaker = Component(id="me", type="skill", name="my-skill", description=text, body=body)
    named = [NamedComponent("me", "my-skill", "s", "", statements(speaker))]
    named += [NamedComponent(name, name, source, "") for name in OTHERS]
    return [(edge.relation, edge.target) for edge in stated(named)]


@pytest.mark.parametrize(
    "text",
    [
        "Do not use with fast-linter.",
        "Don't run this skill together with the `fast-linter` agent.",
        "It must not be combined with fast-linter",
        "Lints. Incompatible with `fast-linter`: both write the same file.",
        "This skill conflicts with fast-linter.",
        "Formats code. Replaces fast-linter.",
        "Mutually exclusive with /fast-linter",
    ],
)
def test_an_author_says_what_must_not_be_used_together(text):
    assert said(text) == [(CONFLICTS_WITH, "fast-linter")]
    assert said("", body=f"# Notes\n\n- {text}\n") == [(CONFLICTS_WITH, "fast-linter")]


@pytest.mark.parametrize(
    "text",
    [
        "Not for tests; use test-writer instead.",
        "Reviews designs. For reviewing code, use the code-review skill.",
        "NOT for writing tests - use test-writer for that.",
        "This differs from code-review (which reads code).",
        "Plans the tests, unlike test-writer which writes them.",
        "Does not write tests: hand off to test-writer.",
        "Do not use for tests (use `/test-writer`).",
    ],
)
def test_a_boundary_names_the_neighbour_and_makes_no_alternative_of_it(text):
    (found,) = said(text)
    assert found[0] == MENTIONS
    assert found[1] in {"test-writer", "code-review"}


@pytest.mark.parametrize(
    "text",
    [
        "Use this instead of code-review when the change is small.",
        "Prefer over code-review for large changes.",
        "**DEPRECATED 2026-04-28.** Use `code-review` instead.",
        "If subagents are available, use code-review instead of this skill.",
    ],
)
def test_one_that_is_preferred_to_another_is_its_alternative(text):
    assert said(text) == [(ALTERNATIVE_TO, "code-review")]


def test_a_statement_is_quoted_from_its_first_letter():
    speaker = Component(id="me", type="skill", name="my-skill", description="DEPRECATED - use code-review instead.")
    assert statements(speaker)[0].sentence == "DEPRECATED - use code-review instead"


@pytest.mark.parametrize(
    "text",
    [
        "Handles merge conflicts with care.",
        "Fixes what conflicts with status codes.",
        "Incompatible with React 18.",
        "Do not use with untrusted input.",
        "Never store it together with memory contents.",
        "It no longer conflicts with fast-linter.",
        "Check whether it conflicts with fast-linter.",
        "This replaces `/fast-linter`'s configuration file.",
        "Works well with fast-linter.",
        "For planning, use plan mode.",
        "Prefer composition over inheritance; use memory instead of disk.",
        "For deployment, see the docs.",
        "my-skill conflicts with my-skill.",
        "Replaces the whole file.",
        "",
    ],
)
def test_what_only_looks_like_a_statement_is_none(text):
    assert said(text) == []
    assert said("", body=text) == []


def test_another_authors_component_is_meant_only_by_a_name_that_is_no_common_word():
    assert said("For recalling facts, use the memory plugin instead.", source="elsewhere") == []
    assert said("For tests, use test-writer instead.", source="elsewhere") == []
    assert said("For tests, use the test-writer agent instead.", source="elsewhere") == [(MENTIONS, "test-writer")]


def test_a_name_that_two_strangers_bear_means_neither():
    speaker = Component(id="me", type="skill", name="mine", description="Replaces the fast-linter skill.")
    named = [NamedComponent("me", "mine", "s", "", statements(speaker))]
    both = [NamedComponent("a", "fast-linter", "x", ""), NamedComponent("b", "fast-linter", "y", "")]
    assert stated([*named, *both]) == []
    assert [edge.target for edge in stated([*named, both[0]])] == ["a"]


def test_the_sentence_is_kept_as_evidence_on_one_capped_line():
    text = "Lints.\n" + "Do not use with fast-linter because " + "x" * 400 + "\nNext."
    speaker = Component(id="me", type="skill", name="mine", description=text)
    (edge,) = stated(
        [NamedComponent("me", "mine", "s", "", statements(speaker)), NamedComponent("a", "fast-linter", "s", "")]
    )
    assert edge.evidence.startswith("says: Do not use with fast-linter because xxx")
    assert len(edge.evidence) <= 170
    assert "\n" not in edge.evidence


def test_code_is_no_statement():
    assert said("", body="```\nDo not use with fast-linter\n```\n") == []
