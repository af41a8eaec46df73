"""Recognises questions that are code (a snippet or an API name) and compares them with components' code vectors."""

from __future__ import annotations

import re

import numpy as np

from repertoire import linear
from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Floats, Mask, Space, dot_products

CODE = "code"
_BOUND = 3.0  # log-odds for the nearest code; with 4, bench/quality/code.tsv had no more answers in the first five
_SHARPNESS = 4  # exponent: of thousands of snippets many are half as near as the nearest by chance
_SHARE = 0.3  # share of code-like words from which on a question is code
_SHORTEST = 4  # characters of the shortest word that counts as code: one of three may be a smiley
_MARK = re.compile(
    r"[(){}\[\]=;<>$%|_]|::|->|^--?\w|^@\w|[a-z]{2}[A-Z][a-z]|\w\.\w{5}|\w\.\w+\.\w"  # a_b, aB, a.b(), --flag
)
# addresses, paths, file names, amounts and bracketed words, which stand in prose too
_LETTER = r"\pL\pN_"
_PROSE = linear.compile(
    rf"[\"'(\[]*(?:https?://\S+|/?[{_LETTER}.-]+(?:/[{_LETTER}.-]*)+|\$?[\d.,%$]+|\([{_LETTER}\s'-]*\)?"
    rf"|[{_LETTER}'-]*\)|<?[{_LETTER}.+-]+@[{_LETTER}.-]+>?)"
    r"[\"')\].,;:!?]*"
)


def is_code(text: str) -> bool:
    """Tell whether a question is code rather than prose about code."""
    words = text.split()
    marked = [word for word in words if _MARK.search(word.rstrip(",.;:!?")) and not _PROSE.fullmatch(word)]
    return len(marked) >= _SHARE * len(words) and any(len(word) >= _SHORTEST for word in marked)


def code_odds(space: Space, vector: Vectors, allowed: Mask) -> Floats:
    """Return the log-odds that code similarity adds to each row, from 0 to `_BOUND` for the nearest row."""
    near = np.zeros(len(allowed))
    near[space.rows] = np.maximum(dot_products(space.vectors, vector), 0.0)
    near *= allowed
    nearest = float(near.max(initial=0.0))
    return _BOUND * (near / nearest) ** _SHARPNESS if nearest > 0.0 else near
