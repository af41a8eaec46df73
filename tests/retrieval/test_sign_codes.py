"""Among very many vectors, signs and words choose the sections that are compared, and the answer stays the same."""

from __future__ import annotations

import numpy as np
import pytest

from repertoire.domain.pack import PackArticle, PackSection
from repertoire.domain.pack_stages import VECTORS
from repertoire.retrieval import sections
from repertoire.retrieval.pack_ranking import PackRun, rank_pack
from repertoire.retrieval.sections import WORDS, SectionRun, rank_sections, read_sections
from repertoire.retrieval.sign_codes import AVAILABLE, SignCodes
from repertoire.store.pack_file import PackStore

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="numpy before 2.0 counts no bits")


def near(count=5_000, dimensions=384):
    """Return vectors in groups, as texts about the same things have."""
    dice = np.random.default_rng(7)
    middles = dice.standard_normal((50, dimensions))
    found = middles[dice.integers(0, 50, count)] + 0.8 * dice.standard_normal((count, dimensions))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def test_the_nearest_vectors_are_among_those_whose_signs_differ_least():
    vectors = near()
    codes = SignCodes.of(vectors)
    assert codes.codes.shape == (6, len(vectors))
    shares = []
    for vector in near(20):
        likely = set(codes.nearest(vector, 200).tolist())
        assert len(likely) == 200
        shares.append(np.mean([place in likely for place in np.argsort(-(vectors @ vector))[:10].tolist()]))
    assert np.mean(shares) > 0.9
    assert codes.nearest(vectors[0], 10_000).tolist() == list(range(len(vectors)))
    assert SignCodes.of(vectors[:, :100]).nearest(vectors[3, :100], 1).tolist() == [3]


@pytest.fixture
def store(tmp_path, embedder):
    texts = [f"Part {number} tells of {word} and of {number} rods." for number in range(12) for word in ("ash", "elm")]
    parts = tuple(
        PackSection(f"Part {place}", f"part-{place}", 2, text * 2, chunks=((0, len(text)), (len(text), 2 * len(text))))
        for place, text in enumerate(texts)
    )
    opened = PackStore.new(tmp_path / "pack.db")
    opened.add([PackArticle("a.md", "A", parts)])
    for space, rows in (("chunk", opened.chunks()), ("heading", opened.headings())):
        vectors = np.asarray(embedder.embed_passages([f"{row[1]} {row[2]}" for row in rows]), dtype=np.float32)
        opened.vectors.put(space, embedder.model, [(row[0], "") for row in rows], vectors)
    yield opened
    opened.close()


def test_groups_keep_the_places_of_the_chosen_rows(store, embedder, monkeypatch):
    questions = ("what tells of elm and 7 rods", "ash", "part 11")
    index = read_sections(store.graph, store.vectors, embedder.model)
    whole = [rank_sections(SectionRun(asked, store.graph, index, embedder), limit=3) for asked in questions]
    monkeypatch.setattr(sections, "_MANY", 20)
    monkeypatch.setattr(sections, "_LIKELY", 0.3)
    index = read_sections(store.graph, store.vectors, embedder.model)
    assert index.chunk_codes is not None
    for asked, expected in zip(questions, whole, strict=True):
        found = rank_sections(SectionRun(asked, store.graph, index, embedder), limit=3)
        assert [one.node_id for one in found] == [one.node_id for one in expected]
        assert [one.chunk for one in found] == [one.chunk for one in expected]


def test_of_very_many_sections_of_a_pack_those_that_hold_the_rarest_words_lead(store, embedder, monkeypatch):
    index = read_sections(store.graph, store.vectors, embedder.model)
    monkeypatch.setattr(sections, "_FEW", 10)
    monkeypatch.setattr(sections, "_BEST", 8)

    def words(question, **more):
        run = PackRun(question, store.graph, index, embedder, **more)
        ranking = rank_pack(run)
        told = next(report.detail for report in run.stage_log.reports if report.stage == WORDS)
        return ranking.sections[0].node_id, run.evidence[WORDS].tolist(), told

    first, shares, told = words("which part has elm and 7 rods")
    assert first == int(index.node_ids[15]), "part 7 of elm"
    assert shares[15] == 1.0
    assert 0.0 < shares[1] < shares[14] < 1.0, "elm, which half of them hold, counts less than 7"
    assert words("zeppelin")[1] == [0.0] * len(index)
    assert told == "24 hold a word"
    by_text = words("what tells of elm and 7 rods", without=frozenset((VECTORS,)))[2]
    assert "matched" in by_text, "where no vectors are compared, how often a word is held tells more"
