"""Sections are scored by their nearest two chunks, whatever the order and number of chunks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.project import CODE
from repertoire.retrieval import sections
from repertoire.retrieval.project import CodeIndex, Parts, read_project
from repertoire.retrieval.sections import CHUNKS, WORDS, SectionRun, by_chunks, by_headings, by_words
from repertoire.retrieval.sign_codes import NodeVectors

_WIDTH = 3
NO_VECTORS = NodeVectors(np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.float32))


class OneQuestion:
    """An embedder whose every question is the first axis: a cosine is the first number of a vector."""

    model = "axes"

    def embed_passages(self, texts):
        del texts
        return np.eye(1, _WIDTH, dtype=np.float32)


def held(cosines):
    """Return the vectors of chunks whose cosines are given, and none of headings."""
    ids = np.array(sorted(cosines), dtype=np.int64)
    vectors = np.zeros((len(ids), _WIDTH), dtype=np.float32)
    vectors[:, 0] = [cosines[one] for one in ids]
    return NodeVectors(ids, vectors), NO_VECTORS


@given(
    st.dictionaries(
        st.integers(1_000, 1_060), st.tuples(st.integers(1, 9), st.integers(-8, 8)), min_size=1, max_size=30
    )
)
def test_a_section_has_the_cosine_of_its_nearest_chunk_and_a_part_of_that_of_the_second(chunks):
    ids = sorted(chunks)
    parts = Parts(
        np.arange(1, 10, dtype=np.int64),
        np.array(ids, dtype=np.int64),
        np.array([chunks[one][0] for one in ids], dtype=np.int64),
    )
    index = read_project(1, parts, held({one: cosine / 8 for one, (_, cosine) in chunks.items()}), CODE)
    assert isinstance(index, CodeIndex)
    run = SectionRun("what", None, index, OneQuestion(), weights={}, second_chunk=0.5)
    by_chunks(run)
    nearest = dict(zip(*(part.tolist() for part in run.nearest_chunks), strict=True))
    for section in range(1, 10):
        own = sorted((-cosine / 8, one) for one, (owner, cosine) in chunks.items() if owner == section)
        expected = -own[0][0] - 0.5 * own[1][0] if len(own) > 1 else (-own[0][0] if own else 0.0)
        assert run.evidence[CHUNKS][section - 1] == expected
        assert nearest.get(section - 1) == (own[0][1] if own else None)


def test_headings_that_have_no_vectors_yet_are_not_compared():
    one = np.ones(1, dtype=np.int64)
    index = read_project(1, Parts(one, 1_000 * one, one), held({1_000: 0.5}), CODE)
    run = SectionRun("what", None, index, OneQuestion(), weights={})
    assert by_headings(run) == "no vectors"


def test_a_section_that_the_index_lacks_lends_its_words_to_no_other():
    class Matching:
        def match(self, words, **_):
            del words
            return [(15, 2.0), (10, 1.0), (30, 1.0)]

    ids = np.array([10, 20], dtype=np.int64)
    index = read_project(1, Parts(ids, ids[:0], ids[:0]), [NO_VECTORS, NO_VECTORS], CODE)
    run = SectionRun("kiln", Matching(), index, None, weights={})
    by_words(run)
    assert run.evidence[WORDS].tolist() == [0.5, 0.0]


def test_of_very_many_sections_the_rarest_words_alone_are_looked_up(monkeypatch):
    class Counted:
        def __init__(self):
            self.asked = []

        def document_frequency(self, words, view):
            del view
            return {word: {"kiln": 3, "pot": 20, "type": 90}.get(word, 0) for word in words}

        def match(self, words, **_):
            self.asked.append(words)
            return []

    ids = np.arange(1, 101, dtype=np.int64)
    index = read_project(1, Parts(ids, ids[:0], ids[:0]), [NO_VECTORS, NO_VECTORS], CODE)
    graph = Counted()
    for few in (1_000, 10):
        monkeypatch.setattr(sections, "_FEW", few)
        for question in ("type of kiln pot nobody", "type"):
            by_words(SectionRun(question, graph, index, None, weights={}))
    assert graph.asked == [["type", "kiln", "pot", "nobody"], ["type"], ["kiln", "pot"], ["type"]]
