"""Validates a pack (is it whole, as its manifest says?) and audits it (are its documents good?)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from repertoire.app.packs.documents import order_in
from repertoire.app.packs.exams import exam_of
from repertoire.app.packs.places import EXAM, SKILL
from repertoire.app.packs.shelf import OpenPack, PackShelf
from repertoire.documentation.audit import Finding, audit_documents, audit_manifest
from repertoire.documentation.exam import ExamQuestion, unknown_gold
from repertoire.documentation.manifest import PackManifest
from repertoire.documentation.refinement import ENTITY_KINDS, RELATIONS
from repertoire.domain.errors import PackRefused
from repertoire.domain.pack import CHUNK_SPACE, ENTITY, FACT, FACT_KINDS, HEADING_SPACE, UNDESCRIBED
from repertoire.domain.text import clean_line
from repertoire.ingestion import front_matter

_SKILL_BYTES = 20_000  # of a skill that are looked at


@dataclass(frozen=True)
class PackValidity:
    """The faults of a pack; a pack without faults is valid."""

    name: str
    faults: tuple[str, ...]
    strict: bool


@dataclass(frozen=True)
class PackAudit:
    """What an audit found in a pack."""

    name: str
    sections: int
    findings: tuple[Finding, ...]


def validate_pack(shelf: PackShelf, name: str, *, strict: bool) -> PackValidity:
    """Check files, hashes, schema, counts, vectors and exam; `strict` also asks for what makes a pack worth sharing.

    Raises:
        PackRefused: there is no such pack, or it cannot be opened at all.
        StoreError: its database cannot be opened.
    """
    pack = shelf.open(name, shelf.manifest(name).model)
    faults = [*_faults(pack), *(shelf.strange_files(name))]
    exam = tuple[ExamQuestion, ...]()
    try:
        exam = exam_of(shelf, name)
    except PackRefused as error:
        faults.append(str(error))
    if strict:
        faults += _strict(pack.manifest)
        with pack.store.guarded():
            unknown = unknown_gold(exam, pack.store.sections_by_citation())
        faults += [f"its exam names {citation}, which is not in the pack" for citation in unknown]
    return PackValidity(name, tuple(faults), strict)


def audit_pack(shelf: PackShelf, name: str, *, today: dt.date) -> PackAudit:
    """Look for broken links, empty, repeated and huge sections, a missing licence and old documents.

    Raises:
        PackRefused: there is no such pack, or it cannot be opened at all.
        StoreError: its database cannot be opened.
    """
    pack = shelf.open(name, "")
    with pack.store.guarded():
        articles = pack.store.articles()
    findings = (*audit_manifest(pack.manifest, today=today), *audit_documents(articles))
    return PackAudit(name, sum(len(article.sections) for article in articles), findings)


def _faults(pack: OpenPack) -> Iterator[str]:
    manifest = pack.manifest
    with pack.store.guarded():
        damage, counts = pack.store.damage(), pack.store.counts()
    if damage:
        yield f"the database is damaged: {damage}"
    if counts != manifest.statistics:
        yield f"the database holds {counts}, the manifest says {manifest.statistics}"
    if not manifest.model:
        yield "it has no vectors: nobody can tell whether it covers a question"
        return
    for space, wanted in ((CHUNK_SPACE, counts.chunks), (HEADING_SPACE, counts.sections)):
        held = pack.index.spaces[space].vectors
        if len(held) != wanted or (wanted and held.shape[1] != manifest.dimensions):
            yield f"{len(held)} of {wanted} vectors of {space}s, each {manifest.dimensions} long, are there"


def _strict(manifest: PackManifest) -> Iterator[str]:
    if not manifest.licence:
        yield "no licence: build it with --licence"
    if manifest.description.startswith(UNDESCRIBED):
        yield "no description of its own: build it with --description"
    if EXAM not in manifest.hashes:
        yield "no exam: build it with --exam, a file of questions and the sections that answer them"
    elif not manifest.scores:
        yield "its exam was never taken: `repertoire pack eval`"
    if not any(source.date for source in manifest.sources):
        yield "no date: build it from a repository, so that one can tell how old it is"


def require_sound(shelf: PackShelf, name: str) -> None:
    """Refuse a pack with any fault, as one from a stranger must be before it is taken in.

    Raises:
        PackRefused: it has one; the message names the first.
        StoreError: its database cannot be opened.
    """
    found = validate_pack(shelf, name, strict=False)
    if found.faults and shelf.manifest(name).model:
        message = f"pack {name} is not taken in: {found.faults[0]}"
        raise PackRefused(message)


def require_harmless(shelf: PackShelf, name: str) -> None:
    """Refuse a pack with a text that gives a model orders or hides what it says, as a build leaves out such documents.

    Raises:
        PackRefused: it has one, or its exam is invalid; the message names the place.
        StoreError: its database cannot be opened.
    """
    if strange := _strange_kind(shelf, name):
        message = f"pack {name} is not taken in: {strange}, which no build writes"
        raise PackRefused(message)
    for place, text in _texts(shelf, name):
        if why := order_in(place, text):
            message = f"pack {name} is not taken in: {clean_line(place, 200)}: {why}"
            raise PackRefused(message)


def _strange_kind(shelf: PackShelf, name: str) -> str:
    """Return the first kind that no build writes, which would be free text in an answer; empty if there is none."""
    pack = shelf.open(name, shelf.manifest(name).model)
    with pack.store.guarded():
        held = pack.store.knowledge.kinds()
    known = {ENTITY: ENTITY_KINDS, FACT: FACT_KINDS}
    strange = ((what, kind) for what, kinds in held.items() for kind in kinds if kind not in known.get(what, RELATIONS))
    return next((f"it has the kind {clean_line(kind, 80)!r} of {what}" for what, kind in strange), "")


def _texts(shelf: PackShelf, name: str) -> Iterator[tuple[str, str]]:
    """Yield every text of a pack that may reach a model, with its place."""
    manifest = shelf.manifest(name)
    sources = (told for source in manifest.sources for told in (source.address, source.commit, source.date))
    yield "description", "\n\n".join((manifest.description, manifest.licence, *manifest.topics, *sources))
    skill = shelf.file(name, SKILL)
    if skill is not None:
        with skill.open("rb") as file:
            text = file.read(_SKILL_BYTES).decode("utf-8", "replace")
        yield SKILL, text
        yield SKILL, str(front_matter.split(text).front_matter.get("description", ""))
    pack = shelf.open(name, manifest.model)
    with pack.store.guarded():
        for article in pack.store.articles():
            named = (part for one in article.sections for part in (*one.path, one.title, one.anchor))
            texts = (one.text for one in article.sections)
            names = (article.title, article.path, article.category, *dict.fromkeys(named))
            yield article.path, "\n\n".join((*names, *texts))
        yield "an entity", "\n\n".join(pack.store.knowledge.words())
    exam = exam_of(shelf, name)
    yield EXAM, "\n\n".join(part for one in exam for part in (one.id, one.question, one.answer, one.split, *one.gold))
