"""Packs are told apart by nearness, by the rare words that their nearest sections hold, and by their vocabularies."""

from __future__ import annotations

import math

import pytest

from repertoire.retrieval.pack_gate import PackView, margins

WORDS = ("willow", "soak", "time")


def view(cosine, held=(), counts=(0, 0, 0), characters=100_000):
    return PackView(100, characters, dict(zip(WORDS, counts, strict=True)), [(cosine, frozenset(held))])


def test_a_lone_pack_is_ahead_of_nobody_and_of_everybody():
    assert margins(WORDS, [view(0.1)]) == [math.inf]
    assert margins((), [view(0.5), view(0.4)]) == pytest.approx([0.1, -0.1])


def test_of_equally_near_packs_the_one_that_holds_the_rare_word_is_ahead():
    first, second = margins(WORDS, [view(0.4, ["willow"], (1, 0, 60)), view(0.4, ["time"], (0, 0, 60))])
    assert first > 0.1
    assert second < -0.1


def test_a_pack_that_uses_the_words_more_often_for_its_size_is_ahead():
    small, large = view(0.4, (), (20, 20, 20)), view(0.4, (), (30, 30, 30), 1_000_000)
    first, second = margins(WORDS, [small, large])
    assert first > 0 > second
    assert margins(WORDS, [small, small]) == pytest.approx([0.0, 0.0])


def test_three_packs_are_each_compared_with_the_best_of_the_others():
    assert margins((), [view(0.6), view(0.5), view(0.2)]) == pytest.approx([0.1, -0.1, -0.4])
    assert all(math.isfinite(one) for one in margins(WORDS, [view(0.0, characters=0)] * 3))
