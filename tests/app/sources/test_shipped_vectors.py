"""The shipped vectors are the bundled model's for the catalogue's texts, and answer before any model has run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from repertoire.app.sources.catalogue_source import INFO, records_of
from repertoire.app.sources.embed import embed_shipped, shipped_texts
from repertoire.app.sources.settle import write_catalogue
from repertoire.app.sources.shipped_vectors import FILE, ShippedVectorEmbedder, shipped
from repertoire.catalogue import reading
from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE
from repertoire.inference.embedder import IdleEmbedder
from repertoire.inference.weights import bundled
from repertoire.store.database import Store

ADVICE = "an entry, a term or the model has changed: run tools/vectors"
# a processor without VNNI adds 8-bit products in 16 bits, which saturate: cosines of .9995 between two processors
SAME_ON_ANY_PROCESSOR = 0.998
NOW = "2026-01-01T00:00:00Z"


def test_every_text_of_the_catalogue_has_a_vector_and_no_other_text_has_one():
    lending, texts = ShippedVectorEmbedder(IdleEmbedder(bundled())), shipped_texts(reading.load())

    assert [text for text in texts if not lending.known(text)] == [], ADVICE
    assert len(shipped(bundled().model)) == len(texts), ADVICE


def test_they_are_what_the_model_makes_of_these_texts():
    model, texts = IdleEmbedder(bundled()), shipped_texts(reading.load())[::40]

    cosines = (ShippedVectorEmbedder(model).embed_passages(texts) * model.embed_passages(texts)).sum(axis=1)

    assert cosines.min() > SAME_ON_ANY_PROCESSOR, ADVICE


def test_another_model_is_lent_nothing():
    assert not shipped("sentence-transformers/all-MiniLM-L6-v2@000000000000")


def test_they_are_small():
    assert FILE.stat().st_size < 600_000


def test_the_catalogue_is_known_by_meaning_without_the_model(tmp_path: Path):
    embedder = IdleEmbedder(bundled())
    with Store.open(tmp_path / "a.db") as store:
        write_catalogue(store)
        embed_shipped(store, embedder)

        for space in (BODY_SPACE, DESCRIPTION_SPACE):
            progress = store.vectors.progress(space, embedder.model)
            assert progress.done == progress.total == len(reading.load().components)
        assert not embedder.loaded


def test_an_entry_whose_text_has_changed_waits_for_the_model(tmp_path: Path):
    embedder = IdleEmbedder(bundled())
    first, *others = records_of(reading.load())
    changed = replace(first.components[0], description="Paints zebra crossings.", content_hash="another")
    with Store.open(tmp_path / "a.db") as store:
        records = [replace(first, components=(changed,)), *others[:9]]
        store.sources.write(INFO, records, [], derived=[], now=NOW)
        embed_shipped(store, embedder)

        (waiting,) = store.vectors.pending(BODY_SPACE, embedder.model, limit=20)
        assert waiting[1] == "another"


def test_what_is_installed_by_the_clients_lists_is_so_in_the_catalogue_before_it_is_read(tmp_path: Path):
    entry = next(entry for entry in reading.load().components if entry.plugin and entry.marketplace)
    records = records_of(reading.load(), installed=frozenset((f"{entry.plugin}@{entry.marketplace}",)))

    said = {component.id: component.installed for record in records for component in record.components}
    assert said[entry.id] is True
    assert not all(said.values())
