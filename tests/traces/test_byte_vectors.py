"""Vectors with a byte a number: their products are nearly those of the exact ones, whatever their count and size."""

from __future__ import annotations

import numpy as np
import pytest

from repertoire.traces.byte_vectors import ByteVectors


@pytest.mark.parametrize("count", [0, 1, 1_023, 1_024, 1_025, 5_000])
def test_products_are_nearly_exact(count: int) -> None:
    random = np.random.default_rng(7)
    vectors = random.normal(size=(count, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = random.normal(size=384).astype(np.float32)
    asked /= np.linalg.norm(asked)
    packed = ByteVectors.of(vectors)
    assert len(packed) == count
    assert packed.numbers.nbytes * 4 == vectors.nbytes
    np.testing.assert_allclose(packed.products(asked), vectors @ asked, atol=0.005)


def test_a_vector_of_zeros_stays_one() -> None:
    packed = ByteVectors.of(np.zeros((2, 3), dtype=np.float32))
    assert packed.products(np.ones(3, dtype=np.float32)).tolist() == [0.0, 0.0]
