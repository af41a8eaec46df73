"""Builds a pack anew from its source: only texts that changed are embedded, and the exam says what that did."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from repertoire.app.packs.build import BuildRequest, BuiltPack, NewPack, build_pack
from repertoire.app.packs.documents import Report
from repertoire.app.packs.embedding import text_of
from repertoire.app.packs.exam_file import read_exam_file
from repertoire.app.packs.exams import PackScore, record_score, take_exam
from repertoire.app.packs.places import EXAM, REFINEMENT, URLS
from repertoire.app.packs.query import PackMeans
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.packs.website import SiteBounds
from repertoire.documentation.config import PackConfig
from repertoire.documentation.manifest import PackManifest, precedence, require_part
from repertoire.domain.errors import InvalidPack, PackRefused
from repertoire.domain.pack import CHUNK_SPACE, HEADING_SPACE, UNDESCRIBED
from repertoire.ports import Embedder, Vectors, model_of
from repertoire.retrieval.translation import embed_in_english, in_english
from repertoire.settings import Settings
from repertoire.sources.address import NPM, PYPI
from repertoire.store.pack_file import PackStore

_URLS = 5_000  # of a website that are read again
_SAME = 0.95  # cosine of two vectors of one text: a pack keeps them in bytes


@dataclass(frozen=True)
class UpdateRequest:
    """A pack to update; without an origin, from the address that its manifest names, and with the exam that it has."""

    name: str
    origin: str = ""
    version: str = ""
    day: str = ""
    exam: Path | None = None
    refinement: Path | None = None
    site: SiteBounds = field(default_factory=SiteBounds)
    config: PackConfig | None = None  # in place of that of the pack
    licence: str = ""  # in place of that of the pack


@dataclass(frozen=True)
class UpdatedPack:
    """What an update did: which documents are new, changed or gone, and both scores."""

    before: PackManifest
    built: BuiltPack
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    score_before: PackScore | None = None
    score_after: PackScore | None = None


def update_pack(
    shelf: PackShelf,
    asked: UpdateRequest,
    opening: NewPack,
    *,
    embedder: Embedder | None,
    settings: Settings,
    report: Report,
) -> UpdatedPack:
    """Read the source of a pack again and put the new pack in its place; what it cannot read leaves the old one.

    Raises:
        PackRefused: there is no such pack, or nobody knows where its documents come from.
        InvalidPack: the version is none, or not higher than that of the pack.
        SourceError: the source cannot be read.
    """
    before = shelf.manifest(asked.name)
    version = _version(asked, before)
    origin = asked.origin or _address(before)
    pack = shelf.open(asked.name, before.model)
    with pack.store.guarded():
        old = {article.path: article.content_hash for article in pack.store.articles()}
        known = _known(pack.store, embedder) if embedder is not None and embedder.model == before.model else {}
    means = PackMeans(embedder, settings.pack_gate_percent / 100, settings.pack_quality_percent / 100)
    place = asked.exam or shelf.file(asked.name, EXAM)
    exam = read_exam_file(place) if place is not None else ()
    score = take_exam(shelf, asked.name, exam, means) if exam else None
    listed = shelf.file(asked.name, URLS) if pack.config.pages and not asked.origin else None  # of a website
    urls = tuple(listed.read_text(encoding="utf-8").split()[:_URLS]) if listed is not None else ()
    request = BuildRequest(
        asked.name,
        origin,
        version,
        "" if before.description.startswith(UNDESCRIBED) else before.description,
        asked.licence or before.licence,
        before.topics,
        replace=True,
        exam=place,
        site=replace(asked.site, urls=urls, pages=max(asked.site.pages, len(urls))),
        refinement=asked.refinement or shelf.file(asked.name, REFINEMENT),
        docstrings=any(path.endswith(".py") for path in old),
        config=asked.config or pack.config,
        known=known,
    )
    built = build_pack(shelf.home, request, opening, embedder=embedder, settings=settings, report=report)
    with shelf.open(asked.name, before.model).store.guarded():
        new = {one.path: one.content_hash for one in shelf.open(asked.name, before.model).store.articles()}
    after = take_exam(shelf, asked.name, exam, means) if exam else None
    if after is not None:
        model = model_of(embedder)
        record_score(shelf, asked.name, after, exam=built.manifest.hashes[EXAM], model=model, day=asked.day)
    return UpdatedPack(
        before,
        built,
        tuple(sorted({*new} - {*old})),
        tuple(sorted(path for path in {*new} & {*old} if new[path] != old[path])),
        tuple(sorted({*old} - {*new})),
        score,
        after,
    )


def _address(manifest: PackManifest) -> str:
    """Return the address of a pack's documents; a folder is none, here or on the machine where it was built."""
    address = manifest.sources[0].address
    if ("://" in address and not address.lower().startswith("file:")) or address.startswith(
        ("git@", f"{NPM}:", f"{PYPI}:")
    ):
        return address
    message = (
        f"the manifest of pack {manifest.name} names no address that can be fetched, but {address}; "
        "say where the documents are with --from"
    )
    raise PackRefused(message)


def _known(store: PackStore, embedder: Embedder) -> dict[str, Vectors]:
    """Return the vectors of a pack by the texts that they were made from, and would be made from now."""
    model = embedder.model
    known: dict[str, Vectors] = {}
    for space, texts in ((HEADING_SPACE, store.headings()), (CHUNK_SPACE, store.chunks())):
        node_ids, vectors = store.vectors.matrix(space, model)
        by_id = dict(zip(node_ids.tolist(), vectors, strict=True))
        known.update({text_of(row): by_id[row[0]] for row in texts if row[0] in by_id})
    foreign = next((text for text in known if in_english(text, model) != text), "")
    if foreign and float(known[foreign] @ embed_in_english(embedder, (foreign,))[0]) < _SAME:
        # an earlier version embedded what was not English as it is written
        return {text: vector for text, vector in known.items() if in_english(text, model) == text}
    return known


def _version(asked: UpdateRequest, before: PackManifest) -> str:
    """Return the version of the new pack, which is higher: who holds both must be able to tell which is the newer."""
    if not asked.version:
        return _next(before.version)
    try:
        require_part({"version": asked.version}, place=asked.name)
    except PackRefused as error:
        raise InvalidPack(str(error)) from error
    if precedence(asked.version) <= precedence(before.version):
        message = f"version {asked.version} of pack {before.name} is not higher than {before.version}; name a higher"
        raise InvalidPack(message)
    return asked.version


def _next(version: str) -> str:
    """Return the version after this one: the last of its three numbers is raised, a label after them is dropped."""
    major, minor, patch = version.partition("+")[0].partition("-")[0].split(".")
    return f"{major}.{minor}.{int(patch) + 1}"
