"""Caches what every search of traces reads, by revision: node ids, vectors, document frequencies, votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from repertoire.app.traces.embed import SPACES, embed_latest
from repertoire.boot.heap import return_memory
from repertoire.domain.graph import TRACES
from repertoire.domain.trace import ACTIVE, ME, Trace, Trust, Vote
from repertoire.ports import Embedder, Rows, Vectors
from repertoire.retrieval.arrays import Mask, places_among
from repertoire.store.database import Store
from repertoire.traces.byte_vectors import ByteVectors
from repertoire.traces.reputation import Reputation, reputation
from repertoire.traces.trust import by_trace, latest, trust

_DRIFT = 0.05  # by which the number of traces may change before words are counted again
_COUNTED = 50_000  # words


@dataclass(frozen=True)
class VoteSummary:
    """The votes on each trace, and the reputation of each voter."""

    votes: Mapping[str, Sequence[Vote]]
    reputation: Reputation

    def trust(self, trace: Trace, day: date) -> Trust:
        """Return the trust in a trace as of a day."""
        return trust(trace, self.votes.get(trace.key, ()), self.reputation, day)


@dataclass(frozen=True)
class Space:
    """The vectors of one space: `ids[i]` is the node id of `vectors[i]`."""

    ids: Rows
    vectors: ByteVectors

    def nearest(self, vector: Vectors, allowed: Rows, limit: int) -> dict[int, float]:
        """Return the nearest of the allowed traces with their cosine similarity."""
        if not len(self.ids):
            return {}
        scores = self.vectors.products(vector)
        if not np.array_equal(self.ids, allowed):
            scores[~places_among(allowed, self.ids)[1]] = -np.inf
        limit = min(limit, len(scores))
        best = np.argpartition(-scores, limit - 1)[:limit]
        pairs = zip(self.ids[best].tolist(), scores[best].tolist(), strict=True)
        return {node_id: score for node_id, score in pairs if score > -np.inf}


class TraceCache:
    """A cache shared by searches; each part is read again only when it has changed."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._rows: tuple[int, Rows, Mask] | None = None
        self._spaces: dict[str, tuple[tuple[str, tuple[int, int]], Space]] = {}
        self._votes: tuple[object, VoteSummary] | None = None
        self._counts: dict[str, int] = {}
        self._counted_of = 0

    def ids(self, *, active: bool) -> Rows:
        """Return the node ids of all traces but drafts, or of active traces only, in ascending order."""
        revision = self.store.graph.revision(TRACES)
        if self._rows is None or self._rows[0] != revision:
            rows = self.store.traces.states()
            ids = np.array([node_id for node_id, _ in rows], dtype=np.int64)
            self._rows = revision, ids, np.array([state == ACTIVE for _, state in rows], dtype=np.bool_)
        _, ids, in_use = self._rows
        return ids[in_use] if active else ids

    def spaces(self, model: str) -> list[Space]:
        """Return a model's vectors of problems and of solutions."""
        for name, revision in self.store.vectors.revisions(SPACES).items():
            if name not in self._spaces or self._spaces[name][0] != (model, revision):
                self._spaces[name] = (model, revision), self._read(name, model)
        return [self._spaces[name][1] for name in SPACES]

    def embed_latest(self, embedder: Embedder) -> None:
        """Embed a few new traces."""
        embed_latest(self.store, embedder)

    def _read(self, space: str, model: str) -> Space:
        ids, vectors = self.store.vectors.matrix(space, model)
        found = Space(ids, ByteVectors.of(vectors))
        del vectors
        return_memory()  # four times as large as what is kept, and glibc would keep its pages
        return found

    def votes(self, day: date) -> VoteSummary:
        """Return the votes and reputations as of a day."""
        version = (self.store.traces.votes_version(), day)
        if self._votes is None or self._votes[0] != version:
            votes = latest(self.store.traces.votes())  # a vote given again does not count twice
            authors = self.store.traces.authorship() if votes else {}
            weighed = reputation(votes, authors, day, trusted=frozenset((ME,)))
            self._votes = version, VoteSummary(by_trace(votes), weighed)
        return self._votes[1]

    def trust(self, trace: Trace, day: date) -> Trust:
        """Return the trust in a trace as of a day."""
        return self.votes(day).trust(trace, day)

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """Return the document frequency of words; cached until the number of traces changes by a twentieth."""
        total = len(self.ids(active=False))
        if abs(total - self._counted_of) > _DRIFT * self._counted_of or len(self._counts) > _COUNTED:
            self._counted_of, self._counts = total, {}
        new = [word for word in words if word not in self._counts]
        self._counts.update(self.store.traces.frequencies(new))
        return {word: self._counts[word] for word in words}
