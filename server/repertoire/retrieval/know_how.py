"""Tells whether a task asks for know-how about a product, rather than for its data, which its MCP server reads."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from repertoire.domain.component import MCP_SERVER, Component
from repertoire.retrieval.arrays import Floats, Mask, Rows
from repertoire.retrieval.products import Products
from repertoire.retrieval.snapshot import Snapshot

_KNOW_HOW = re.compile(
    r"\b(?:slow|lags?|lagging|upgrad(?:e|es|ing)|migrat(?:e|es|ing|ion)|optimi[sz](?:e|es|ing)|tun(?:e|ing)|expensive"
    r"|cheaper|costs exploded|locked|deadlocks?|crash(?:es|ed|ing)?|leak(?:s|ing)?|growing|triage|rebalance)\b",
    re.IGNORECASE,
)
_DATA = re.compile(
    r"^(?:please |can you |could you |i need to |let's )?"
    r"(?:show|list|get|fetch|find|query|search|look up|read|pull|post|send|sync|export|import|create|which|how many)\b"
    r"|\b(?:show|give|tell) me\b",
    re.IGNORECASE,
)


def asks_know_how(text: str) -> bool:
    """Tell whether a task is about trouble with a product or a change of it, and wants none of its data."""
    return _KNOW_HOW.search(text) is not None and _DATA.search(text) is None


def lacks_know_how(
    text: str, components: Sequence[Component], rows: Rows, snapshot: Snapshot, products: Products
) -> Floats:
    """Return 1 for each MCP server where a task asks for know-how about a product that another component is for."""
    if not asks_know_how(text):
        return np.zeros(len(components))
    return only_data(components, snapshot.provided(tuple(products.in_question(text)))[rows])


def only_data(components: Sequence[Component], of_product: Mask) -> Floats:
    """Return 1 for each MCP server if another component is for the product, too, else 0; the mask is by component."""
    servers = np.array([component.type == MCP_SERVER for component in components], dtype=np.bool_)
    return (servers & (of_product & ~servers).any()).astype(np.float64)
