"""Capabilities are found where a component states them, and not where it only mentions or excludes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.catalogue import reading
from repertoire.ingestion.capabilities import Vocabulary, provided

SHIPPED = reading.load()
SMALL = Vocabulary.of(
    {
        "planning": "planning",
        "plan": "planning",
        "docker": "docker",
        "dependency update": "dependency-management",
        "agents": "agents",
        "multi agent system": "agents",
        "github": "github",
        "pull request": "pull-requests",
        "postgres": "postgresql",
        "mcp server": "mcp",
        "sql": "sql",
        "nodejs": "nodejs",
        "node": "nodejs",
    },
    {"postgresql": "databases"},
    ("plan", "agents"),
)


def found(kind: str = "skill", **texts: str) -> dict[str, float]:
    return {item.term: item.weight for item in provided(SMALL, kind, texts)}


def test_the_vocabulary_holds_at_least_300_terms_in_a_shallow_hierarchy():
    assert len(SHIPPED.capabilities) >= 300
    broader = {term: capability.broader for term, capability in SHIPPED.capabilities.items()}
    for above in broader.values():
        steps, term = 0, above
        while term:
            steps, term = steps + 1, broader[term]
        assert steps <= 4


def test_an_ordinary_phrase_is_a_phrase_of_its_term():
    for capability in SHIPPED.capabilities.values():
        assert set(capability.ordinary) <= {capability.term.replace("-", " "), *capability.synonyms}


def test_an_ordinary_word_counts_where_things_are_named_and_hardly_where_they_are_told():
    assert "planning" in found(name="write-plan", description="Writes one.")
    assert "planning" not in found(name="deployer", description="Rolls out a release. Shows the plan first.")
    assert "planning" in found(name="deployer", description="Planning of rollouts.")


def test_the_first_sentence_of_a_description_weighs_more_than_the_rest():
    assert (
        found(description="Docker images. Small.")["docker"] > found(description="Small images. For docker.")["docker"]
    )


@pytest.mark.parametrize(
    "boundary",
    [
        "NOT for docker.",
        "Do not use for docker.",
        "Don't invoke for docker work!",
        "Distinct from docker, which is another thing.",
        "Use it rather than docker.",
    ],
)
def test_what_a_description_rules_out_is_not_provided(boundary):
    assert "docker" not in found(name="tuner", description=f"Tunes postgres. {boundary}")
    assert "postgresql" in found(name="tuner", description=f"Tunes postgres. {boundary}")


def test_what_follows_a_boundary_counts_again():
    assert "docker" in found(description="Tunes postgres. Not for sql. Works in docker.", body="docker")


def test_examples_in_a_description_are_not_what_it_is_about():
    text = "Tunes postgres. Specifically:\\n\\n<example>Context: docker is down. user: 'docker?'</example>"
    assert set(found("agent", description=text)) <= {"postgresql", "databases"}


def test_being_called_an_agent_is_no_capability_but_building_agents_is():
    assert "agents" not in found("agent", name="agents-of-change", description="Use these agents when asked.")
    assert "agents" in found("agent", description="Designs a multi-agent system.")
    assert "mcp" not in found("mcp_server", name="docs", description="An MCP server of docs.")


def test_the_interpreter_of_a_hooks_command_is_no_capability():
    text = 'Runs on PreToolUse: node "${CLAUDE_PLUGIN_ROOT}/docker-guard.js"'
    assert set(found("hook", name="docker-guard", description=text, body=text)) == {"docker"}


@pytest.mark.parametrize(
    ("one", "many"),
    [("dependency update", "dependencies update"), ("pull request", "pull requests"), ("docker", "docker")],
)
def test_singular_and_plural_are_one_phrase(one, many):
    assert SMALL.count(one) == SMALL.count(many) != {}


@pytest.mark.parametrize("word", ["branches", "indexes", "searches", "caches", "databases", "processes", "patches"])
def test_a_plural_is_the_word_that_its_singular_is(word):
    singular = {"indexes": "index", "caches": "cache", "databases": "database", "processes": "process"}
    one = singular.get(word, word[:-2])
    vocabulary = Vocabulary.of({one: "term"}, {})
    assert vocabulary.count(word) == {"term": 1}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Reachable at https://api.example.com", {}),
        ("Wraps an HTTP API", {"api-design": 1}),
        ("Carries the migration of x86 to Arm out", {}),
        ("Writes reversible migrations", {"database-migrations": 1}),
        ("Writes a database migration", {"database-migrations": 1}),
        ("Reviews each schema migration", {"database-migrations": 1}),
        ("Plods through codebase migrations", {"legacy-modernization": 1}),
    ],
)
def test_an_address_is_no_http_api_and_only_databases_have_migrations(text, terms):
    assert shipped_vocabulary().count(text) == terms


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Extracts structured data from any website.", "seo"),
        ("Searches preprints by keywords.", "seo"),
    ],
)
def test_words_of_many_trades_are_no_capability_in_running_text(text, wrong):
    described = {"name": "helper", "description": text}
    assert wrong not in {item.term for item in provided(shipped_vocabulary(), "skill", described)}


def test_a_term_brings_its_broader_one_at_half_its_weight():
    terms = found(name="postgres", description="Postgres.")
    assert terms["databases"] == pytest.approx(terms["postgresql"] / 2, abs=0.002)


def test_another_set_of_ordinary_phrases_is_another_vocabulary():
    assert Vocabulary.of({"a": "b"}, {}).digest != Vocabulary.of({"a": "b"}, {}, ("a",)).digest


@given(st.sampled_from(["skill", "agent", "hook", "mcp_server", "plugin"]), st.text(), st.text())
def test_whatever_is_written_weights_are_sure_enough_and_few(kind, name, description):
    vocabulary = Vocabulary.of(SHIPPED.phrases(), {}, SHIPPED.ordinary())
    terms = provided(vocabulary, kind, {"name": name, "description": description, "body": description * 2})
    assert len(terms) <= 8
    assert all(0.3 <= item.weight <= 1.0 and item.evidence for item in terms)
    assert [item.weight for item in terms] == sorted((item.weight for item in terms), reverse=True)
