"""Text similarity: exact Jaccard of word shingles, and MinHash sketches that find the pairs to compare.

A MinHash of our own: the library for it brings scipy's 114 MB, for what numpy does in forty lines.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from repertoire.domain.digest import digest_of

VERSION = 1  # version of the sketches; a change of the algorithm raises it, and all are computed again
SHINGLE = 4  # words in one shingle
PERMUTATIONS = 128
_BANDS, _ROWS = 32, 4  # pairs of similarity .5 share a band with probability 87 %, of .6 with 99 %, of .2 with 5 %
_CROWD = 40  # number of next texts in the same band that a text is compared with
_MOST_WORDS = 20_000
_WORD = re.compile(r"\w+")

Hashes = npt.NDArray[np.uint64]
Signature = npt.NDArray[np.uint32]


def plain_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation and layout, which copies often change."""
    folded = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _WORD.findall(folded.lower())[:_MOST_WORDS]


def text_hash(words: Sequence[str]) -> str:
    """Return a hash that identifies a text by its words."""
    return digest_of(" ".join(words))


def shingles(words: Sequence[str]) -> Hashes:
    """Return the hashes of all shingles (runs of words), each once; a shorter text is one shingle."""
    if not words:
        return np.zeros(0, dtype=np.uint64)
    hashed = _hashed(words)
    width = min(SHINGLE, len(words))
    runs = np.zeros(len(words) - width + 1, dtype=np.uint64)
    for offset in range(width):
        runs = _mixed(runs * np.uint64(0x9E3779B97F4A7C15) + hashed[offset : offset + len(runs)])
    return np.unique(runs)


def hashes(words: Collection[str]) -> Hashes:
    """Return the hashes of single words, each once."""
    return np.unique(_mixed(_hashed(words)))


def signature(members: Hashes) -> Signature:
    """Return the MinHash signature of a set: the share of equal entries of two estimates their Jaccard similarity."""
    if not len(members):
        return np.zeros(PERMUTATIONS, dtype=np.uint32)
    factors, shifts = _permutations()
    lowest = np.full(PERMUTATIONS, np.iinfo(np.uint64).max, dtype=np.uint64)
    for start in range(0, len(members), 1024):  # a table of 1 MB at a time
        part = members[start : start + 1024]
        lowest = np.minimum(lowest, (part[:, None] * factors + shifts).min(axis=0))
    high: Signature = (lowest >> np.uint64(32)).astype(np.uint32)
    return high


def jaccard(first: Hashes, second: Hashes) -> float:
    """Compute the Jaccard similarity of two sets: the size of their intersection over that of their union."""
    shared = len(np.intersect1d(first, second, assume_unique=True))
    union = len(first) + len(second) - shared
    return shared / union if union else 1.0


def candidates(signatures: Signature, *, least: float) -> list[tuple[int, int]]:
    """Return the pairs of rows that share a band, with an estimated similarity of at least `least` - 0.12."""
    if len(signatures) < 2:
        return []
    found: set[tuple[int, int]] = set()
    for band in range(_BANDS):
        found.update(_meeting(np.ascontiguousarray(signatures[:, band * _ROWS : (band + 1) * _ROWS])))
    pairs = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    near = np.zeros(len(pairs), dtype=np.bool_)
    for start in range(0, len(pairs), 50_000):
        part = pairs[start : start + 50_000]
        near[start : start + 50_000] = (signatures[part[:, 0]] == signatures[part[:, 1]]).mean(axis=1) >= least - 0.12
    return [(int(low), int(high)) for low, high in pairs[near]]


def _meeting(columns: Signature) -> Iterator[tuple[int, int]]:
    keys = columns.view([("", columns.dtype)] * columns.shape[1]).ravel()
    order = np.argsort(keys, kind="stable")
    begins = np.concatenate([[0], np.flatnonzero(keys[order][1:] != keys[order][:-1]) + 1])
    sizes = np.diff(np.append(begins, len(order)))
    for begin, size in zip(begins[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        rows = order[begin : begin + size].tolist()  # ascending: the order is stable
        for at, low in enumerate(rows):
            for high in rows[at + 1 : at + 1 + _CROWD]:
                yield low, high


def _hashed(words: Collection[str]) -> Hashes:
    known: dict[str, int] = {}
    for word in words:
        if word not in known:
            digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
            known[word] = int.from_bytes(digest, "little")
    return np.fromiter((known[word] for word in words), dtype=np.uint64, count=len(words))


def _mixed(values: Hashes) -> Hashes:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@cache
def _permutations() -> tuple[Hashes, Hashes]:
    """Return the odd factors and the shifts of the hash functions, the same on every machine."""
    drawn = _mixed(np.arange(1, 2 * PERMUTATIONS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return drawn[:PERMUTATIONS] | np.uint64(1), drawn[PERMUTATIONS:]
