"""A perceptron computes hidden units and outputs, and its file keeps them in eight bits."""

from __future__ import annotations

import numpy as np
import pytest

from repertoire.retrieval.perceptron import Perceptron
from sample_home import two_units


@pytest.mark.parametrize("value", [0.0, 1.0, 4.0])
def test_hidden_units_are_what_vector_and_words_add_up_to_and_never_negative(value: float):
    known = np.array([0] if value else [], dtype=np.int64)
    found = two_units()
    hidden = found.hidden(np.array([0.6, 0.8], dtype=np.float32), known, np.full(len(known), value, dtype=np.float32))

    first = max(0.0, 4 * (0.6 * 0.5 + 0.8 * 0.25) + value * 1.0)
    second = max(0.0, 4 * (0.6 * -0.5) + value * -0.5 + 1.5)
    assert hidden.tolist() == pytest.approx([first, second], rel=1e-5)
    outputs = [first * 0.5 + second * 0.125, first * -0.25 + second * 1.0 + 0.5]
    assert found.outputs(hidden).tolist() == pytest.approx(outputs, rel=1e-5)


def test_what_is_written_is_read_again_in_eight_bits():
    written = two_units()
    kept = Perceptron.of(written.arrays())

    assert np.abs(kept.of_vector - written.of_vector).max() <= 0.5 / 254 + 1e-6
    assert np.abs(kept.of_hidden - written.of_hidden).max() <= 1.0 / 254 + 1e-6
    np.testing.assert_array_equal(kept.of_words, written.of_words)
    np.testing.assert_allclose(kept.offsets, written.offsets)
