"""Vectors of the real model add capabilities that words leave in doubt, except to lists that people wrote."""

from __future__ import annotations

import pytest

from ingestion.workbench import skill
from repertoire.app.person.correct import set_capabilities
from repertoire.app.sources.capabilities_by_vector import LABEL, assign_nearest
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.shipped_vectors import ShippedVectorEmbedder

# Both are about a thing that the vocabulary has a term for, and neither says one of its phrases firmly.
BARE = {"simplify": "Simplifies and refines code for clarity and maintainability while preserving behavior."}
TOLD = {"perl-patterns": "Perl idioms for building robust modules."}


@pytest.fixture
def filled(bench):
    both = {**BARE, **TOLD}
    bench.ingest(bench.write({f"skills/{name}/SKILL.md": skill(name, text, "") for name, text in both.items()}))
    return bench


def nearest(bench, name):
    found = next(component for component in bench.all().values() if component.name == name)
    links = bench.links(found, "provides").values()
    return {link.other_name: link for link in links if link.evidence.startswith("nearest in meaning")}


def test_a_component_that_words_leave_bare_gets_the_capability_nearest_to_it(filled, embedder):
    embed_pending(filled.store, embedder)

    found = nearest(filled, "simplify")

    assert list(found) == ["refactoring"]
    assert found["refactoring"].evidence == f"nearest in meaning ({found['refactoring'].weight:.2f})"
    assert 0.55 <= found["refactoring"].weight <= 1.0


def test_a_component_that_words_describe_gets_no_capability_that_it_does_not_mention(filled, embedder):
    embed_pending(filled.store, embedder)

    assert "perl" not in nearest(filled, "perl-patterns")  # words have shown it
    assert set(nearest(filled, "perl-patterns")) <= {"coding-standards"}


def test_assigning_again_changes_nothing(filled, embedder):
    embed_pending(filled.store, embedder)
    revision = filled.revision()

    filled.store.similarities.note_compared(LABEL, "")
    assign_nearest(filled.store, ShippedVectorEmbedder(embedder))

    assert nearest(filled, "simplify")
    assert filled.revision() == revision


def test_where_nothing_is_new_no_component_is_read(filled, embedder, monkeypatch):
    read = []
    embed_pending(filled.store, embedder)
    monkeypatch.setattr(filled.store.graph, "components", lambda rows: read.extend(rows) or {})

    embed_pending(filled.store, embedder)

    assert read == []


def test_what_a_curator_said_stands_alone(filled, embedder):
    target = next(component.id for component in filled.all().values() if component.name == "simplify")
    embed_pending(filled.store, embedder)
    set_capabilities(filled.store, target, ("clarity",), now="2026-01-01T00:00:00Z")

    embed_pending(filled.store, embedder)

    assert nearest(filled, "simplify") == {}


def test_what_was_near_goes_with_its_component(filled, embedder):
    embed_pending(filled.store, embedder)
    folder = filled.write({})
    (folder / "skills" / "simplify" / "SKILL.md").unlink()
    filled.ingest(folder)

    embed_pending(filled.store, embedder)

    assert all(component.name != "simplify" for component in filled.all().values())
    assert filled.store.graph.links("capability:refactoring") == []
