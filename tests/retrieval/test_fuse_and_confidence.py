"""Properties of score and confidence that hold for any learned weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertoire.retrieval.confidence import ConfidenceFeatures, chance_share, confidence, fits
from repertoire.retrieval.fuse import CONDITIONS, FEATURES, conditions, features, fuse, matched_rows
from repertoire.retrieval.lexical import Lexical
from repertoire.retrieval.matched_words import coverage, held_words, rarity, stem
from repertoire.retrieval.ranking_weights import WEIGHTS
from repertoire.retrieval.vector import Semantic
from sample_home import component

share = st.floats(0, 1)


def evidence(rows, *, asked=("oauth",)):
    columns = np.array(rows, dtype=float).reshape(-1, 8).T
    words = Lexical(*columns[:5], flatness=0.2)
    near = Semantic(columns[5], columns[5], columns[6])
    priors = np.stack([columns[7], np.zeros(columns.shape[1])])
    return features(words, near, near, priors, conditions(asked, [], flatness=0.2, length=800.0))


def test_there_is_a_weight_for_every_feature_under_every_condition():
    assert np.array(WEIGHTS).shape == (len(FEATURES), len(CONDITIONS))


@given(st.lists(st.tuples(*[share] * 8), min_size=1, max_size=6))
@settings(deadline=None)
def test_the_parts_add_up_to_the_score(rows):
    scores, parts = fuse(evidence(rows))
    assert np.allclose(sum(parts.values()), scores)


@pytest.mark.parametrize("words", [1, 8, 40, 200])
@pytest.mark.parametrize("clauses", [1, 3, 8])
@pytest.mark.parametrize("length", [60, 300, 900, 2500])
def test_more_words_and_more_likeness_never_count_against(words, clauses, length):
    asked = conditions(["w"] * words, ["c"] * clauses, flatness=0.5, length=length)
    weights = np.array(WEIGHTS) @ asked
    by_part = {}
    for (_, part), weight in zip(FEATURES, weights, strict=True):
        by_part[part] = by_part.get(part, 0.0) + weight
    assert by_part["words"] > 0
    assert by_part["similarity"] > 0


def test_rows_that_nothing_speaks_for_are_known():
    silent = [0.0] * 7 + [1.0]
    assert matched_rows(evidence([silent, [0.0] * 6 + [0.3, 0.0]])).tolist() == [False, True]


@given(share, share, share)
def test_confidence_grows_with_all_that_speaks_for_the_head(similarity, first, best):
    less = confidence(ConfidenceFeatures(similarity, first, best), vectors=True)
    assert 0.0 < less < 1.0
    assert confidence(ConfidenceFeatures(similarity + 0.1, first, best), vectors=True) > less
    assert confidence(ConfidenceFeatures(similarity, first + 0.1, best), vectors=True) > less
    assert confidence(ConfidenceFeatures(similarity, first, best + 0.1), vectors=True) > less


def test_words_alone_can_make_sure_where_there_are_no_vectors():
    assert confidence(ConfidenceFeatures(0.0, 1.0, 1.0), vectors=False) > 0.6
    assert confidence(ConfidenceFeatures(0.0, 0.2, 0.2), vectors=False) < 0.35


def test_the_more_there_is_to_pick_from_the_surer_an_answer_must_be():
    assert fits(0.3, among=100)
    assert not fits(0.3, among=10_000)
    assert fits(0.9, among=10_000)
    assert fits(1.0, among=10_000_000)
    assert not fits(0.1, among=1)


def test_words_are_held_whatever_their_endings():
    item = component("skill", "release-notes", "Writes changelogs for releases.")
    assert held_words(["changelog", "writing", "release", "docker"], item) == ["changelog", "writing", "release"]


def test_a_word_inside_another_is_not_held():
    assert held_words(["log"], component("skill", "x", "Writes a changelog.")) == []


@given(st.text(max_size=20))
def test_any_word_may_be_asked_for(word):
    held_words([word], component("skill", "x", "y (z) [a-z]* \\d"))
    assert stem(word) == word or word.startswith(stem(word))


def test_a_rare_word_held_counts_more_than_a_usual_one():
    rarities = rarity({"postgres": 2, "data": 900}, 1000)
    assert coverage(rarities, component("skill", "x", "postgres")) > coverage(rarities, component("skill", "x", "data"))
    assert coverage({}, component("skill", "x", "data")) == 0.0


def test_the_chance_by_grades_is_all_for_a_brief_question_and_most_for_a_long_one():
    assert [chance_share(brevity) for brevity in (1.0, 0.5, 0.0)] == pytest.approx([1.0, 0.9, 0.8])
