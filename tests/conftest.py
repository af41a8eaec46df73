"""Property tests find the same examples in every run of `tools/check`; `tools/check search` looks for new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, settings

from repertoire.inference import embedder as inference
from repertoire.inference.bundled import BundledSession
from repertoire.inference.weights import bundled

Array = npt.NDArray[Any]
Read = Callable[[BundledSession, Sequence[Any]], Array]

# A newcomer's second command must not depend on luck, nor on how busy the machine is.
settings.register_profile("check", derandomize=True, deadline=None, database=None, max_examples=50)
settings.register_profile("search", max_examples=2_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("check")


@pytest.fixture(scope="session", autouse=True)
def one_model() -> Iterator[None]:
    """Load each embedding model once a process of tests, as a server does, not once a store that a test opens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "load", cache(inference.load))
        patch.setattr(BundledSession, "embed_passages", each_once(BundledSession.embed_passages))
        patch.setattr(BundledSession, "read_pairs", each_once(BundledSession.read_pairs))
        yield


def each_once(method: Read) -> Read:
    """Let the model read each text, or pair of texts, once a process: the same few stand in the stores of many tests.

    What it says of one does not depend on what it is given beside it.
    """
    known: dict[tuple[BundledSession, Any], Array] = {}

    def read(model: BundledSession, texts: Sequence[Any]) -> Array:
        for text in texts:
            if (model, text) not in known:
                known[model, text] = method(model, [text])
        return np.concatenate([known[model, text] for text in texts]) if len(texts) else method(model, texts)

    return read


@pytest.fixture(scope="session")
def embedder() -> inference.Embedder:
    """Return the bundled model."""
    return inference.load(bundled())
