"""Makes the vectors of headings and chunks of a pack: each text once, on several cores, the same on any number."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from repertoire.app.packs.started import StartedVectors
from repertoire.boot.threads import usable_cores
from repertoire.domain.pack import CHUNK_SPACE, HEADING_SPACE
from repertoire.ports import Embedder, Vectors
from repertoire.retrieval.translation import embed_in_english
from repertoire.store.pack_file import PackStore, Text

Report = Callable[[str, int, int], None]  # a label, the amount done, and the total

_BATCH = 32  # texts that a core embeds between two reports
_MOST_WORKERS = 4  # each needs some 35 MB for a text of the bundled model's length


def workers_beside(threads: int) -> int:
    """Return how many texts to embed at once when each takes so many threads: as this process has cores, at most 4."""
    return max(1, min(usable_cores() // threads, _MOST_WORKERS))


def text_of(row: Text) -> str:
    """Return what the model reads of a chunk or a heading."""
    return f"{row[1]}\n{row[2]}".strip()


def embed_pack(
    store: PackStore,
    embedder: Embedder,
    *,
    report: Report = lambda *_: None,
    known: Mapping[str, Vectors] | None = None,
    started: StartedVectors | None = None,
    workers: int = 1,
) -> int:
    """Store the vectors of a pack's headings and chunks; return how many had to be made.

    A text in another language is embedded in English. Each is embedded by itself in one thread, so the vectors do not
    depend on `workers`. `started` has those of a build that was interrupted, and keeps those that are made.
    """
    spaces = {HEADING_SPACE: store.headings(), CHUNK_SPACE: store.chunks()}
    counts = Counter(text_of(row) for rows in spaces.values() for row in rows)
    plan = _Plan(_known(counts, known or {}, started), frozenset(text for text, count in counts.items() if count > 1))
    made = 0
    with ThreadPoolExecutor(workers, "pack-vectors") as pool:
        for space, rows in spaces.items():
            for done, batch, fresh in _embedded(pool, 2 * workers, rows, plan, embedder):
                vectors = plan.vectors(batch, fresh)
                store.vectors.put(space, embedder.model, [(row[0], "") for row in batch], vectors)
                made += len(fresh)
                if started is not None:
                    started.add(fresh)
                report(f"vectors ({space}s)", done, len(rows))
    return made


def _known(texts: Iterable[str], known: Mapping[str, Vectors], started: StartedVectors | None) -> Mapping[str, Vectors]:
    """Return the vectors that need not be made, by text."""
    if started is None:
        return known
    found = {text: vector for text in texts if (vector := started.of(text)) is not None}
    return {**found, **known}


@dataclass
class _Plan:
    """What need not be embedded: texts whose vectors are known, and repeats of a text that another batch holds."""

    known: Mapping[str, Vectors]
    repeated: frozenset[str]
    planned: set[str] = field(default_factory=set)  # of the repeated ones
    held: dict[str, Vectors] = field(default_factory=dict)  # vectors of the repeated ones

    def missing(self, batch: Iterable[Text]) -> list[str]:
        """Return the texts of a batch that must be embedded with it."""
        texts = dict.fromkeys(text_of(row) for row in batch)
        found = [text for text in texts if text not in self.known and text not in self.planned]
        self.planned |= self.repeated.intersection(found)
        return found

    def vectors(self, batch: Iterable[Text], fresh: Mapping[str, Vectors]) -> Vectors:
        """Return the vectors of a batch from those that were made for it and those that are known."""
        self.held.update({text: fresh[text] for text in self.repeated.intersection(fresh)})
        texts = [text_of(row) for row in batch]
        return np.stack([fresh[text] if text in fresh else self._of(text) for text in texts])

    def _of(self, text: str) -> Vectors:
        return self.held[text] if text in self.held else self.known[text]


_Made = tuple[int, list[Text], Mapping[str, Vectors]]  # rows up to here, the rows of a batch, vectors by text


def _embedded(
    pool: ThreadPoolExecutor, ahead: int, rows: list[Text], plan: _Plan, embedder: Embedder
) -> Iterator[_Made]:
    """Yield the batches in their order; a few are embedded ahead, and those that wait are dropped on an interrupt."""
    waiting = deque[tuple[int, list[Text], Future[Mapping[str, Vectors]]]]()
    try:
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            waiting.append((start + len(batch), batch, pool.submit(_made, embedder, plan.missing(batch))))
            if len(waiting) > ahead:
                done, first, future = waiting.popleft()
                yield done, first, future.result()
        while waiting:
            done, first, future = waiting.popleft()
            yield done, first, future.result()
    finally:
        for _, _, future in waiting:
            future.cancel()


def _made(embedder: Embedder, texts: list[str]) -> Mapping[str, Vectors]:
    return dict(zip(texts, embed_in_english(embedder, texts), strict=True)) if texts else {}
