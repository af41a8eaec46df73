"""Applies a refinement file to the documents of a pack that is being built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.app.packs.documents import order_in
from repertoire.documentation.refinement import REFINEMENT_BYTES, description_in, read_refinement, refine
from repertoire.domain.errors import PackRefused
from repertoire.domain.pack import PackArticle
from repertoire.trust.document_redaction import redact_document


@dataclass(frozen=True)
class Refined:
    """Documents with the steps of a refinement taken, the pack's description if one says it, and steps left out."""

    articles: tuple[PackArticle, ...]
    description: str = ""
    left: Mapping[str, str] = field(default_factory=dict)


def refine_documents(articles: tuple[PackArticle, ...], file: Path | None) -> Refined:
    """Return the articles with the steps of a refinement file taken, and why others were not.

    Raises:
        PackRefused: the file is no refinement.
    """
    if file is None:
        return Refined(articles)
    with file.open("rb") as stream:
        data = stream.read(REFINEMENT_BYTES + 1)
    if len(data) > REFINEMENT_BYTES:
        message = f"{file} is larger than {REFINEMENT_BYTES:,} bytes; split it among packs"
        raise PackRefused(message)
    steps = read_refinement(data.decode("utf-8", "replace"), place=str(file))
    taken, left = refine(articles, steps, _objection)
    description, refused = description_in(steps, _objection)
    return Refined(taken, description, {**left, **refused})


def _objection(text: str) -> str:
    """Return why a description must not reach a model: it orders one, or holds a credential; empty if it may."""
    return order_in("description", text) or ("holds a credential" if redact_document(text) != text else "")
