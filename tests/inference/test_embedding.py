"""Every embedder gives unit vectors in order, each of which depends on its own text alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from repertoire.inference.embedder import load
from repertoire.inference.weights import bundled
from repertoire.ports import Embedder

ODD = ["", " ", "\x00", "\ud800 half a pair", "👩‍👩‍👧‍👦", "日本語のテキスト", "a\u0301" * 50, "x" * 5000, "[CLS] [PAD]"]
PLAIN = ["review a pull request", "Deploys containers to Kubernetes. " * 40, "fix the build", "write unit tests " * 9]


def test_vectors_have_length_one_and_the_promised_shape(embedder: Embedder):
    vectors = embedder.embed_passages(ODD + PLAIN)

    assert vectors.shape == (len(ODD + PLAIN), embedder.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_vectors(embedder: Embedder):
    assert embedder.embed_queries([]).shape == (0, embedder.dimensions)


@examples(25)
@given(text=st.text(st.characters(exclude_categories=()), max_size=400))
def test_any_text_has_a_finite_vector(embedder: Embedder, text: str):
    (vector,) = embedder.embed_queries([text])

    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_vector_does_not_depend_on_its_neighbours(embedder: Embedder):
    texts = PLAIN + ODD
    alone = np.concatenate([embedder.embed_passages([text]) for text in texts])

    np.testing.assert_array_equal(embedder.embed_passages(texts), alone)
    np.testing.assert_array_equal(embedder.embed_passages(texts[::-1])[::-1], alone)


def test_the_same_text_has_the_same_vector_after_loading_again(embedder: Embedder):
    np.testing.assert_array_equal(load(bundled()).embed_passages(PLAIN), embedder.embed_passages(PLAIN))


def test_threads_do_not_change_vectors(embedder: Embedder):
    np.testing.assert_allclose(
        load(bundled(), threads=2).embed_passages(PLAIN), embedder.embed_passages(PLAIN), atol=1e-4
    )


def test_without_its_reading_of_questions_the_bundled_model_embeds_queries_and_passages_alike(embedder: Embedder):
    plain = load(replace(bundled(), questions=""))

    np.testing.assert_array_equal(plain.embed_queries(PLAIN), embedder.embed_passages(PLAIN))
    assert not np.allclose(embedder.embed_queries(PLAIN), embedder.embed_passages(PLAIN), atol=0.01)


def test_a_part_of_a_question_is_read_as_it_is_meant_in_the_whole(embedder: Embedder):
    parts = ["Find out why the pods crash", "write a changelog"]
    text = f"{parts[0]} on each rollout to Kubernetes, then {parts[1]} of what was mended."
    whole, crash, changelog = embedder.embed_question(text, parts)

    np.testing.assert_array_equal(whole, embedder.embed_queries([text])[0])
    alone = embedder.embed_queries(parts)
    assert crash @ alone[0] > crash @ alone[1]
    assert changelog @ alone[1] > changelog @ alone[0]
    assert changelog @ whole > alone[1] @ whole


def test_parts_that_the_model_does_not_reach_are_read_by_themselves(embedder: Embedder):
    text = f"{'review the tests, ' * 100}and deploy to Kubernetes"
    vectors = embedder.embed_question(text, ["deploy to Kubernetes", "nowhere in it", "and deploy"])

    np.testing.assert_allclose(
        vectors[1:], embedder.embed_queries(["deploy to Kubernetes", "nowhere in it", "and deploy"]), atol=1e-6
    )


@examples(40)
@given(texts=st.lists(st.text(st.characters(exclude_categories=()), max_size=60), max_size=4))
def test_whatever_is_asked_with_whatever_parts_has_a_vector_each(embedder: Embedder, texts: list[str]):
    vectors = embedder.embed_question(" ".join(texts), texts)

    assert vectors.shape == (1 + len(texts), embedder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_model_that_reads_questions_as_it_reads_all_else_reads_their_parts_apart():
    plain = load(replace(bundled(), questions=""))

    np.testing.assert_array_equal(
        plain.embed_question(PLAIN[0], PLAIN[2:]), plain.embed_queries([PLAIN[0], *PLAIN[2:]])
    )


def test_a_text_is_cut_after_256_tokens(embedder: Embedder):
    seen = "word " * 254  # and the two tokens that mark its ends

    cut, longer, shorter = embedder.embed_passages([seen, seen + "kubernetes", "word " * 253 + "kubernetes"])

    np.testing.assert_array_equal(cut, longer)
    assert not np.array_equal(cut, shorter)


def test_what_lies_beyond_the_first_4096_characters_is_not_even_tokenised(embedder: Embedder):
    blank, long = embedder.embed_passages([" ", " " * 4096 + "kubernetes " * 100_000])

    np.testing.assert_array_equal(blank, long)
