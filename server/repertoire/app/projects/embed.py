"""Embeds what a project's memory holds without a vector: each piece once, until its text changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.projects.entry_texts import texts_of_entry
from repertoire.app.projects.reading import read_file
from repertoire.domain.project import ENTRIES, ENTRY_CHUNK
from repertoire.ports import Embedder
from repertoire.retrieval.translation import embed_in_english
from repertoire.sources.crawl import FoundFile
from repertoire.store.project_file import ProjectStore
from repertoire.store.project_texts import texts_to_embed

_BATCH = 32  # texts that are embedded at once
_GROUP = 512  # texts that are sorted by length, so that a batch needs little padding

Row = tuple[int, str, str, str, str]  # node id, key, space, hash of the text, text


def embed_pending(
    memory: ProjectStore,
    root: Path,
    embedder: Embedder,
    *,
    report: Callable[[str, int, int], None] = lambda *_: None,
    most: int | None = None,
    between: Callable[[], object] = lambda: None,
) -> tuple[int, int]:
    """Embed up to `most` texts without a vector; return how many were embedded, and how many are still missing.

    `between` is called before each batch.
    """
    waiting = memory.pending(embedder.model)
    if _cut_anew(memory, waiting.get("", ())):
        waiting = memory.pending(embedder.model)
    total, done, group = sum(map(len, waiting.values())), 0, list[Row]()
    wanted = total if most is None else min(most, total)
    for row in _texts(memory, root, waiting):
        group.append(row)
        if len(group) == _GROUP:
            done += _embed(memory, embedder, group, between)
            group = []
            report("vectors", done, wanted)
        if most is not None and done + len(group) >= most:
            break
    done += _embed(memory, embedder, group, between)
    report("vectors", done, wanted)
    return done, total - done


def _texts(memory: ProjectStore, root: Path, waiting: dict[str, list[tuple[int, str, str, str]]]) -> Iterator[Row]:
    """Yield the nodes without a vector with their texts; a file that changed since is left to the next reading."""
    for path, nodes in waiting.items():
        texts = _of_file(root, path) if path else _of_entries(memory)
        for node_id, key, space, digest in nodes:
            if memory.hash_of(texts.get(key, "")) == digest:
                yield node_id, key, space, digest, texts[key]


def _cut_anew(memory: ProjectStore, waiting: Sequence[tuple[int, str, str, str]]) -> bool:
    """Write the entries again whose texts were cut otherwise when they were saved; tell whether there were any."""
    if not waiting:
        return False
    texts = _of_entries(memory)
    stale = {
        key.removeprefix(f"{ENTRY_CHUNK}:").partition(":")[2] if key.startswith(f"{ENTRY_CHUNK}:") else key
        for _, key, _, digest in waiting
        if memory.hash_of(texts.get(key, "")) != digest
    }
    if stale:
        with memory.transaction():  # somebody else may change an entry meanwhile
            for entry in memory.entries.all(ENTRIES):
                if entry.key in stale:
                    memory.entries.put(entry, texts_of_entry(entry).values(), now=now())
    return bool(stale)


def _of_entries(memory: ProjectStore) -> dict[str, str]:
    return {key: text for entry in memory.entries.all(ENTRIES) for key, text in texts_of_entry(entry).items()}


def _of_file(root: Path, path: str) -> dict[str, str]:
    location = root / path
    if not location.is_file() or location.is_symlink():
        return {}
    file, _ = read_file(FoundFile.at(location, path))
    return texts_to_embed(file)


def _embed(memory: ProjectStore, embedder: Embedder, group: Sequence[Row], between: Callable[[], object]) -> int:
    ordered = sorted(group, key=lambda row: (row[2], len(row[4])))
    for start in range(0, len(ordered), _BATCH):
        between()
        batch = ordered[start : start + _BATCH]
        for space in dict.fromkeys(row[2] for row in batch):
            rows = [row for row in batch if row[2] == space]
            vectors = embed_in_english(embedder, (row[4] for row in rows))
            memory.vectors.put(space, embedder.model, [(row[0], row[3]) for row in rows], vectors)
    return len(group)
