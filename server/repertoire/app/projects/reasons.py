"""Says why a search shows something: by its words, its meaning, its name, or what it is linked with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from repertoire.retrieval.sections import CHUNKS, HEADINGS, WORDS, SectionRun

# A reason is told from this share of the best evidence of its sort on; cosines lie close together.
_FROM = {WORDS: ("words", 0.3), CHUNKS: ("meaning", 0.8), HEADINGS: ("name", 0.9)}
LINKS = "links"  # the reason of what has little evidence of its own


def reasons(run: SectionRun, node_ids: Sequence[int]) -> dict[int, str]:
    """Map nodes that a run ranked, or found by links, to why they are shown."""
    rows, known = run.index.rows_of(np.array(node_ids, dtype=np.int64))
    found: dict[int, list[str]] = {node_id: [] for node_id in node_ids}
    for sort, (name, share) in _FROM.items():
        scores = run.evidence.get(sort)
        if scores is not None and len(rows):
            good = known & (scores[rows] >= max(share * float(scores.max()), 1e-9))
            for place in np.flatnonzero(good).tolist():
                found[node_ids[place]].append(name)
    return {node_id: ", ".join(told) or LINKS for node_id, told in found.items()}
