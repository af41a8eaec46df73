"""Property tests find the same examples in every run of `tools/check`; `tools/check search` looks for new ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

from repertoire.inference import embedder as inference
from repertoire.inference.weights import bundled

# A newcomer's second command must not depend on luck, nor on how busy the machine is.
settings.register_profile("check", derandomize=True, deadline=None, database=None, max_examples=50)
settings.register_profile("search", max_examples=2_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("check")


@pytest.fixture(scope="session", autouse=True)
def one_model() -> Iterator[None]:
    """Load each embedding model once a process of tests, as a server does, not once a store that a test opens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "load", cache(inference.load))
        yield


@pytest.fixture(scope="session")
def embedder() -> inference.Embedder:
    """Return the bundled model."""
    return inference.load(bundled())
