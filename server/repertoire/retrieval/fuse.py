"""One score out of several: each channel scaled by its best, weighed and added, so that the parts can be read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repertoire.retrieval.snapshot import Floats

WORDS, BODY, DESCRIPTION, GRAPH = "words", "body", "description", "graph"


def fuse(channels: Mapping[str, Floats], weights: Mapping[str, float], size: int) -> tuple[Floats, dict[str, Floats]]:
    """Return the fused scores and the parts that add up to them; a silent channel takes no part."""
    parts = {
        name: weights[name] * channel / best
        for name, channel in channels.items()
        if (best := float(channel.max(initial=0.0))) > 0.0
    }
    return sum(parts.values(), start=np.zeros(size)), parts
