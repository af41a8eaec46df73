"""Questions that are code, a snippet or an API's name: compared with code alone, apart from all descriptions."""

from __future__ import annotations

import re

import numpy as np

from repertoire import linear
from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Floats, Mask, Space

CODE = "code"
_BOUND = 3.0  # log-odds of the nearest; on the questions of bench/quality/code.tsv 4 found no more in the first five
_SHARPNESS = 4  # among thousands of snippets many are half as near as the nearest: they say nothing
_SHARE = 0.3  # a question is code when so large a share of its words looks like code
_SHORTEST = 3  # letters; what is shorter is a smiley
_MARK = re.compile(
    r"[(){}\[\]=;<>$%|_]|::|->|^--?\w|^@\w|[a-z]{2}[A-Z][a-z]|\w\.\w{5}|\w\.\w+\.\w"  # a_b, aB, a.b(), --flag
)
# prose writes addresses, paths, file names, amounts and words in brackets too
_LETTER = r"\pL\pN_"
_PROSE = linear.compile(
    rf"[\"'(\[]*(?:https?://\S+|/?[{_LETTER}.-]+(?:/[{_LETTER}.-]*)+|\$?[\d.,%$]+|\([{_LETTER}\s'-]*\)?"
    rf"|[{_LETTER}'-]*\)|<?[{_LETTER}.+-]+@[{_LETTER}.-]+>?)"
    r"[\"')\].,;:!?]*"
)


def is_code(text: str) -> bool:
    """Tell whether a question is code rather than words about it."""
    words = text.split()
    marked = [word for word in words if _MARK.search(word.rstrip(",.;:!?")) and not _PROSE.fullmatch(word)]
    return len(marked) >= _SHARE * len(words) and any(len(word) > _SHORTEST for word in marked)


def code_odds(space: Space, vector: Vectors, allowed: Mask) -> Floats:
    """Return the log-odds that similar code adds to each row: 0 to the most, for the nearest."""
    near = np.zeros(len(allowed))
    near[space.rows] = np.maximum(np.einsum("ij,j->i", space.vectors, vector), 0.0)  # see vector.semantic
    near *= allowed
    nearest = float(near.max(initial=0.0))
    return _BOUND * (near / nearest) ** _SHARPNESS if nearest > 0.0 else near
