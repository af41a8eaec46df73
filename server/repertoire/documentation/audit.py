"""Finds what is wrong with the documents of a pack: links that lead nowhere, empty, repeated and huge sections."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repertoire.documentation.formats import HEADINGS_ALONE
from repertoire.documentation.manifest import PackManifest
from repertoire.documentation.markdown import anchors_of, links_of
from repertoire.domain.digest import digest_of
from repertoire.domain.pack import PackArticle, PackSection

BROKEN, FRAGMENT, EMPTY, DUPLICATE, HUGE = (
    "broken link",
    "broken fragment",
    "empty section",
    "duplicate",
    "huge section",
)
LICENCE, STALE, UNDATED, UNMEASURED = "licence", "stale", "undated", "unmeasured"
_HUGE = 20_000  # characters of a section that no answer quotes whole
_REPEATED = 80  # characters that a text has before it counts when it is repeated
_FRESH_DAYS = 365


@dataclass(frozen=True)
class Finding:
    """Something that is wrong: its kind, the place as a citation, and what it is."""

    kind: str
    place: str
    detail: str


def audit_documents(articles: Sequence[PackArticle]) -> Iterator[Finding]:
    """Yield what is wrong with documents, in their order."""
    anchors = {article.path: _anchors(article) for article in articles}
    seen: dict[str, str] = {}
    for article in articles:
        yield from _links(article, anchors)
        for section in article.sections:
            yield from _section(f"{article.path}#{section.anchor}", section, seen)


def audit_manifest(manifest: PackManifest, *, today: dt.date) -> Iterator[Finding]:
    """Yield what a manifest leaves open: the licence, how old the documents are, whether the pack was measured."""
    if not manifest.licence:
        yield Finding(LICENCE, manifest.name, "no licence is known; build it with --licence")
    if not manifest.scores:
        yield Finding(UNMEASURED, manifest.name, "no exam was taken; `repertoire pack eval` takes one")
    for source in manifest.sources:
        if not source.date:
            yield Finding(UNDATED, source.address, "nobody knows how old the documents are: the source has no history")
        elif (age := (today - dt.date.fromisoformat(source.date)).days) > _FRESH_DAYS:
            yield Finding(STALE, source.address, f"the newest document is {age} days old; `repertoire pack update`")


def _text(article: PackArticle) -> str:
    return "\n\n".join(section.text for section in article.sections)


def _anchors(article: PackArticle) -> set[str] | None:
    """Return the fragments that a document has; None where a reading keeps those of its headings alone."""
    if article.path.lower().endswith(HEADINGS_ALONE):
        return None
    return {*(section.anchor for section in article.sections), *anchors_of(_text(article))}


def _links(article: PackArticle, anchors: Mapping[str, set[str] | None]) -> Iterator[Finding]:
    for target, fragment in dict.fromkeys(links_of(article.path, _text(article))):
        if target not in anchors:
            yield Finding(BROKEN, article.path, f"leads to {target}, which is no document of the pack")
        elif fragment and (known := anchors[target]) is not None and fragment not in known:
            yield Finding(FRAGMENT, article.path, f"leads to {target}#{fragment}, and {target} has no such place")


def _section(place: str, section: PackSection, seen: dict[str, str]) -> Iterator[Finding]:
    body = section.text.strip().partition("\n")[2].strip() if section.anchor else section.text.strip()
    if not body and section.anchor:
        yield Finding(EMPTY, place, "has a heading and no text")
    if len(section.text) > _HUGE:
        yield Finding(HUGE, place, f"has {len(section.text):,} characters under one heading")
    if len(body) >= _REPEATED:
        first = seen.setdefault(digest_of(" ".join(body.split())), place)
        if first != place:
            yield Finding(DUPLICATE, place, f"says the same as {first}")
