"""Names the stages of a question to packs, and the profiles that switch them on."""

from __future__ import annotations

from collections.abc import Collection

TEXT, VECTORS = "text", "vectors"  # evidence that every profile uses
MULTI_QUERY, FEWSHOT, GRAPH = "multi_query", "fewshot", "graph"  # further evidence
QUALITY, CROSS_ENCODER, RERANKER, DEDUPE, MULTIDOC = "quality", "cross_encoder", "reranker", "dedupe", "multidoc"
GATE = "gate"
STAGES = (TEXT, VECTORS, MULTI_QUERY, FEWSHOT, GRAPH, QUALITY, CROSS_ENCODER, RERANKER, DEDUPE, MULTIDOC, GATE)

BASELINE, BALANCED, MAXIMUM = "baseline", "balanced", "maximum"
_BASELINE = frozenset((TEXT, VECTORS, DEDUPE, GATE))
_BALANCED = _BASELINE | {QUALITY}
# A profile holds what did no harm in four packs (bench/packs); multi_query, fewshot, graph and reranker did a little.
PROFILES = {
    BASELINE: _BASELINE,
    BALANCED: _BALANCED,
    MAXIMUM: _BALANCED | {MULTIDOC, CROSS_ENCODER},
}


def stages_of(profile: str, *, on: Collection[str] = (), off: Collection[str] = ()) -> frozenset[str]:
    """Return the stages of a profile with some switched on and others off; off wins."""
    return (PROFILES[profile] | frozenset(on)) - frozenset(off)
