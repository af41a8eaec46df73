"""Builds a knowledge pack beside its place and renames it into place; the next build goes on after a kill."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from repertoire.app.packs.documents import (
    FORMATS_READ,
    Documents,
    Report,
    addresses_of,
    licence_of,
    open_source,
    read_documents,
)
from repertoire.app.packs.embedding import embed_pack, workers_beside
from repertoire.app.packs.exam_file import read_exam_file
from repertoire.app.packs.places import (
    CONFIG,
    DATABASE,
    EXAM,
    MANIFEST,
    REFINEMENT,
    SKILL,
    URLS,
    digest,
    manifest_at,
    only_builder,
    packs_folder,
    put_back,
    take_place,
)
from repertoire.app.packs.refining import refine_documents
from repertoire.app.packs.started import StartedVectors
from repertoire.app.packs.website import WEBSITE, SiteBounds, forget_site
from repertoire.app.sources.opening import OpenedSource
from repertoire.boot.private_file import set_mode
from repertoire.documentation.config import PackConfig, config_json
from repertoire.documentation.exam import unknown_gold
from repertoire.documentation.manifest import PackManifest, manifest_json, require_part
from repertoire.documentation.skill import skill_markdown
from repertoire.domain.errors import InvalidPack, PackRefused
from repertoire.domain.pack import PACK_NAME, UNDESCRIBED, PackArticle, cited
from repertoire.domain.text import clean_line
from repertoire.ports import Embedder, Vectors
from repertoire.retrieval.translation import english_of
from repertoire.settings import Settings
from repertoire.sources.scratch import scratch
from repertoire.store.pack_file import PackStore

NewPack = Callable[[Path], AbstractContextManager[PackStore]]  # opens a new pack for writing


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
    exam: Path | None = None  # a file of questions, which the pack carries
    site: SiteBounds = field(default_factory=SiteBounds)  # how much of a website is read
    refinement: Path | None = None  # a file of steps, which the pack carries
    docstrings: bool = False  # whether those of Python packages are read, also where the source is more than one
    config: PackConfig | None = None  # which the pack carries
    known: Mapping[str, Vectors] = field(default_factory=dict)  # vectors of texts that need not be made again


@dataclass(frozen=True)
class BuiltPack:
    """A pack that was built: its folder, its manifest, and the skipped files with the reasons."""

    folder: Path
    manifest: PackManifest
    skipped: dict[str, str]
    embedded: int = 0  # texts whose vectors were made
    unknown: tuple[str, ...] = ()  # citations of the exam that are no section of the pack
    dropped: tuple[str, ...] = ()  # what the pack that it replaced carried, and this one does not
    licence: str = ""  # that of the source's own licence file, which the manifest's may differ from


def build_pack(
    home: Path, asked: BuildRequest, opening: NewPack, *, embedder: Embedder | None, settings: Settings, report: Report
) -> BuiltPack:
    """Build a pack from the documents of a source; the same documents and model give the same bytes.

    Raises:
        PackRefused: the name is invalid, taken or being built, or the source has no documents.
        SourceError: the source cannot be read.
    """
    _require_valid(asked)
    target = packs_folder(home) / asked.name
    exam = read_exam_file(asked.exam) if asked.exam is not None else ()
    asked = _with_settings(asked)
    with only_builder(target), scratch(target) as beside:
        _require_place(asked, target)
        opened = open_source(home, asked.origin, settings=settings, report=report, site=asked.site)
        with opened.scratch or contextlib.nullcontext():
            documents = read_documents(opened, report=report, docstrings=asked.docstrings)
            licence = licence_of(opened)
        refined = refine_documents(documents.articles, asked.refinement)
        skipped = {**documents.skipped, **refined.left}
        _require_documents(refined.articles, asked.origin)
        folder = beside / asked.name
        folder.mkdir()
        with opening(beside / DATABASE) as store:
            store.add(refined.articles, english=english_of)
            store.skip(skipped)
            made, started = 0, None
            if embedder is not None:
                started = StartedVectors(packs_folder(home), asked.name, embedder)
                workers = workers_beside(settings.threads)
                made = embed_pack(store, embedder, report=report, known=asked.known, started=started, workers=workers)
            store.seal(folder / DATABASE)
            counts = store.counts()
        description = refined.description or asked.description or f"{UNDESCRIBED}{documents.source.address}"
        manifest = PackManifest(
            asked.name,
            asked.version,
            description,
            asked.licence or licence,
            asked.topics,
            (documents.source,),
            counts,
            embedder.model if embedder else "",
            embedder.dimensions if embedder else 0,
            {DATABASE: digest(folder / DATABASE), **_carried(asked, opened, documents, folder, description)},
        )
        (folder / MANIFEST).write_text(manifest_json(manifest), encoding="utf-8", newline="\n")
        for path in (MANIFEST, *manifest.hashes):
            set_mode(folder / path, 0o444)  # a pack never changes: a new version takes its place
        dropped = _dropped(target, manifest)
        take_place(folder, target)
        if started is not None:
            started.forget()
        if opened.info.kind == WEBSITE:
            forget_site(home, asked.origin, asked.site)
    unknown = unknown_gold(exam, _citations(refined.articles))
    return BuiltPack(target, manifest, skipped, made, unknown, dropped, licence)


def _require_documents(articles: Collection[PackArticle], origin: str) -> None:
    if not articles:
        read = f"{FORMATS_READ}; --docstrings reads those of Python"
        message = f"{clean_line(origin, 120)} has no documents that can be read ({read}); name another source"
        raise PackRefused(message)


def _citations(articles: Iterable[PackArticle]) -> set[str]:
    return {cited(article.path, section.anchor) for article in articles for section in article.sections}


def _dropped(target: Path, fresh: PackManifest) -> tuple[str, ...]:
    """Return what a pack at this place carries, and the one that takes its place does not."""
    old = manifest_at(target)
    if old is None:
        return ()
    gone = {
        "exam": EXAM in old.hashes and EXAM not in fresh.hashes,
        "refinement": REFINEMENT in old.hashes and REFINEMENT not in fresh.hashes,
        "settings": CONFIG in old.hashes and old.hashes[CONFIG] != fresh.hashes[CONFIG],
        "topics": not {*old.topics} <= {*fresh.topics},
        "description": fresh.description == f"{UNDESCRIBED}{fresh.sources[0].address}" != old.description,
        "licence": bool(old.licence) and not fresh.licence,
    }
    return tuple(what for what, lost in gone.items() if lost)


def _require_valid(asked: BuildRequest) -> None:
    name = clean_line(asked.name, 80)
    if not PACK_NAME.fullmatch(asked.name):
        message = f"{name!r} is no name of a pack; use up to 64 letters, digits, hyphens and underscores"
        raise InvalidPack(message)
    told = {
        "version": asked.version,
        "description": asked.description,
        "licence": asked.licence,
        "topics": [*asked.topics],
    }
    try:
        require_part(told, place=name)
    except PackRefused as error:
        raise InvalidPack(str(error)) from error


def _require_place(asked: BuildRequest, target: Path) -> None:
    put_back(target.parent)
    if target.exists() and not asked.replace:
        message = f"there is a pack {asked.name} already; add --replace to build it anew"
        raise PackRefused(message)


def _with_settings(asked: BuildRequest) -> BuildRequest:
    """Return a request that reads at least what the pack's own settings ask for."""
    known, site = asked.config or PackConfig(), asked.site
    site = replace(site, depth=max(site.depth, known.depth), pages=max(site.pages, known.pages))
    return replace(asked, docstrings=asked.docstrings or known.docstrings, site=site)


def _carried(
    asked: BuildRequest, opened: OpenedSource, read: Documents, folder: Path, description: str
) -> dict[str, str]:
    """Write what a pack carries beside its database, and return the hashes by the paths in it."""
    site = asked.site if opened.info.kind == WEBSITE else SiteBounds(pages=0)
    config = replace(asked.config or PackConfig(), docstrings=asked.docstrings, depth=site.depth, pages=site.pages)
    urls = "".join(f"{address}\n" for address in addresses_of(opened, read))
    skill = skill_markdown(asked.name, description, asked.topics)
    written = {URLS: urls, SKILL: skill, CONFIG: config_json(config)}
    for path, text in written.items():
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
    paths = [*written]
    for path, given in ((EXAM, asked.exam), (REFINEMENT, asked.refinement)):
        if given is not None:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(given, folder / path)
            paths.append(path)
    return {path: digest(folder / path) for path in paths}
