"""Builds a knowledge pack beside its place and renames it into place; an interrupted build leaves nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from repertoire.app.packs.documents import Documents, Report, licence_of, open_source, read_documents
from repertoire.app.packs.places import DATABASE, MANIFEST, digest, packs_folder
from repertoire.domain.errors import PackRefused
from repertoire.domain.pack import CHUNK_SPACE, HEADING_SPACE, PACK_NAME, PackCounts
from repertoire.domain.text import clean_line
from repertoire.packs.manifest import PackManifest, manifest_json
from repertoire.ports import Embedder
from repertoire.settings import Settings
from repertoire.sources.scratch import remove, scratch
from repertoire.store.pack_file import PackStore, Text

_BATCH = 64  # texts that are embedded between two reports

Opening = Callable[[Path], AbstractContextManager[PackStore]]  # opens a new pack for writing


@dataclass(frozen=True)
class BuildRequest:
    """A pack to build: its name, the source of its documents, and what its manifest says of it."""

    name: str
    origin: str
    version: str = "0.1.0"
    description: str = ""
    licence: str = ""
    topics: tuple[str, ...] = ()
    replace: bool = False


@dataclass(frozen=True)
class BuiltPack:
    """A pack that was built: its folder, its manifest, and the skipped files with the reasons."""

    folder: Path
    manifest: PackManifest
    skipped: dict[str, str]


def build_pack(
    home: Path, asked: BuildRequest, opening: Opening, *, embedder: Embedder | None, settings: Settings, report: Report
) -> BuiltPack:
    """Build a pack from the documents of a source; the same documents and model give the same bytes.

    Raises:
        PackRefused: the name is invalid or taken, or the source has no documents.
        SourceError: the source cannot be read.
    """
    target = packs_folder(home) / asked.name
    _check(asked, target)
    with scratch(target) as beside:
        opened = open_source(home, asked.origin, settings=settings, tick=lambda: report("fetch", 0, 0))
        with opened.scratch or contextlib.nullcontext():
            documents = read_documents(opened, report=report)
            licence = asked.licence or licence_of(opened)
        if not documents.articles:
            message = f"{clean_line(asked.origin, 120)} has no Markdown documents that can be read; name another source"
            raise PackRefused(message)
        folder = beside / asked.name
        folder.mkdir()
        counts = _write(beside / DATABASE, folder / DATABASE, documents, opening, embedder, report)
        manifest = PackManifest(
            asked.name,
            asked.version,
            asked.description or f"Documentation from {documents.source.address}",
            licence,
            asked.topics,
            (documents.source,),
            counts,
            embedder.model if embedder else "",
            embedder.dimensions if embedder else 0,
            {DATABASE: digest(folder / DATABASE)},
        )
        (folder / MANIFEST).write_text(manifest_json(manifest), encoding="utf-8", newline="\n")
        for file in folder.iterdir():
            file.chmod(0o444)  # a pack never changes: a new version takes its place
        _take_place(folder, target, beside)
    return BuiltPack(target, manifest, documents.skipped)


def _check(asked: BuildRequest, target: Path) -> None:
    if not PACK_NAME.fullmatch(asked.name):
        name = clean_line(asked.name, 80)
        message = f"{name!r} is no name of a pack; use up to 64 letters, digits, hyphens and underscores"
        raise PackRefused(message)
    if target.exists() and not asked.replace:
        message = f"there is a pack {asked.name} already; add --replace to build it anew"
        raise PackRefused(message)


def _write(
    working: Path,
    sealed: Path,
    documents: Documents,
    opening: Opening,
    embedder: Embedder | None,
    report: Report,
) -> PackCounts:
    with opening(working) as store:
        store.add(documents.articles)
        store.skip(documents.skipped)
        if embedder is not None:
            embed_pack(store, embedder, report=report)
        store.seal(sealed)
        return store.counts()


def embed_pack(store: PackStore, embedder: Embedder, *, report: Report = lambda *_: None) -> None:
    """Make the vectors of a pack's headings and chunks."""
    _embed(store, HEADING_SPACE, store.headings(), embedder, report)
    _embed(store, CHUNK_SPACE, store.chunks(), embedder, report)


def _embed(store: PackStore, space: str, texts: list[Text], embedder: Embedder, report: Report) -> None:
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        vectors = embedder.embed_passages([f"{title}\n{text}".strip() for _, title, text in batch])
        store.vectors.put(space, embedder.model, [(node_id, "") for node_id, _, _ in batch], vectors)
        report(f"vectors ({space}s)", start + len(batch), len(texts))


def _take_place(folder: Path, target: Path, beside: Path) -> None:
    """Rename a finished pack into its place; a pack that lies there is put aside first, and deleted."""
    if target.exists():
        target.rename(beside / "replaced")
    folder.rename(target)
    remove(beside / "replaced")
