"""MinHash sketches find similar sets, and estimate the similarity that an exact comparison gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.ingestion.minhash import (
    SHINGLE,
    candidates,
    jaccard,
    plain_words,
    shingles,
    signature,
    text_hash,
)

WORDS = st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta eta theta iota kappa".split()), max_size=60)


def runs(words):
    """The shingles as an independent oracle sees them: tuples in a set."""
    width = min(SHINGLE, len(words))
    return {tuple(words[at : at + width]) for at in range(len(words) - width + 1)} if words else set()


@given(WORDS, WORDS)
def test_likeness_is_what_both_hold_of_what_either_holds(first, second):
    ours, theirs = runs(first), runs(second)
    exact = len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0
    assert jaccard(shingles(first), shingles(second)) == pytest.approx(exact)
    assert jaccard(shingles(first), shingles(first)) == 1.0


@given(shared=st.integers(0, 400), one=st.integers(1, 200), other=st.integers(1, 200), seed=st.integers(0, 2**32 - 1))
def test_a_sketch_estimates_likeness_within_five_deviations(shared, one, other, seed):
    drawn = np.unique(np.random.default_rng(seed).integers(0, 2**63, shared + one + other, dtype=np.uint64))
    first, second = drawn[: shared + one], np.concatenate([drawn[:shared], drawn[shared + one :]])
    exact = jaccard(np.unique(first), np.unique(second))
    found = float(np.mean(signature(first) == signature(second)))
    assert abs(found - exact) <= 5 * (max(exact * (1 - exact), 1e-3) / 128) ** 0.5 + 0.01


@pytest.mark.parametrize(("kept", "least"), [(1.0, 0.99), (0.97, 0.5), (0.9, 0.5)])
def test_texts_that_are_alike_meet_among_many_that_are_not(kept, least):
    draw = np.random.default_rng(7)
    texts = [[str(word) for word in draw.integers(0, 5_000, 300)] for _ in range(200)]
    twin = [word if draw.random() < kept else "edited" for word in texts[50]]
    sketches = np.stack([signature(shingles(text)) for text in [*texts, twin]])
    assert candidates(sketches, least=least) == [(50, 200)]


def test_case_punctuation_and_layout_do_not_tell_texts_apart():
    written = "# Review\n\nRead **every** line, then:  stop."
    again = "review read every line then stop"
    assert text_hash(plain_words(written)) == text_hash(plain_words(again)) != text_hash(plain_words("review"))


def test_one_text_or_none_meets_nobody():
    assert candidates(np.zeros((0, 0), dtype=np.uint32), least=0.5) == []
    assert candidates(np.stack([signature(shingles(["a"]))]), least=0.5) == []
    assert len(shingles([])) == 0
