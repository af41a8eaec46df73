"""What the shipped catalogue says of a component finds it too once its source is read and the entry has given way."""

import pytest

from ingestion.workbench import skill
from repertoire.app.ask.search import search
from repertoire.app.sources import ingest
from repertoire.app.sources.catalogue_source import shipped_wording
from repertoire.catalogue import reading
from repertoire.domain.answer import Query
from repertoire.domain.component import Component
from repertoire.ingestion.source_context import Wording
from repertoire.retrieval.pipeline import Pipeline

FILES = {
    "skills/loom/SKILL.md": skill("loom", "Skill for UI/UX implementation.", "# Loom\nBuild it."),
    "skills/knot/SKILL.md": skill("knot", "Ties what is loose.", "# Knot\nTie it."),
}
PLAIN = "Landing pages that do not look generated. For a hero section, a pricing table."


def entry_of(**known):
    return next(one for one in reading.load().components if all(getattr(one, key) == known[key] for key in known))


def test_an_entry_tells_of_the_component_of_its_id_and_of_the_one_of_its_name_in_the_repository():
    entry = entry_of(name="frontend-design")
    told = shipped_wording().of

    assert told(Component(entry.id, entry.type, "renamed", "Its own.")) == entry.description
    elsewhere = Component("plugin:x:SKILL.md", entry.type, entry.name, "Its own.", repository=entry.repository)
    assert told(elsewhere) == entry.description
    assert told(Component("user:x", entry.type, entry.name, "A person's own of the same name.")) == ""
    assert told(Component(entry.id, entry.type, entry.name, entry.description)) == ""


@pytest.fixture
def told(bench, monkeypatch):
    monkeypatch.setattr(
        ingest, "shipped_wording", lambda: Wording(lambda one: PLAIN if one.name == "loom" else "", "of a test")
    )
    bench.ingest(bench.write(FILES))
    return bench


def test_the_catalogues_words_find_a_component_that_is_shown_in_its_own(told):
    answer = search(Pipeline(told.store.graph, told.store.vectors, embedder=None), Query("pricing table"))

    assert answer.hits[0].component.name == "loom"
    assert answer.hits[0].component.description == "Skill for UI/UX implementation."


def test_other_words_in_the_catalogue_are_read_at_the_next_refresh(told, monkeypatch):
    assert told.ingest(told.root / "repo").changed == 0
    monkeypatch.setattr(ingest, "shipped_wording", lambda: Wording(lambda _: "", "of another test"))
    assert told.ingest(told.root / "repo").changed == 1
