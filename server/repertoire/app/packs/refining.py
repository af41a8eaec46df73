"""Applies a refinement file to the documents of a pack that is being built."""

from __future__ import annotations

from pathlib import Path

from repertoire.app.packs.documents import order_in
from repertoire.domain.errors import PackRefused
from repertoire.domain.pack import PackArticle
from repertoire.packs.refinement import REFINEMENT_BYTES, read_refinement, refine
from repertoire.trust.document_redaction import redact_document


def refine_documents(
    articles: tuple[PackArticle, ...], file: Path | None
) -> tuple[tuple[PackArticle, ...], dict[str, str]]:
    """Return the articles with the steps of a refinement file taken, and why others were not.

    Raises:
        PackRefused: the file is no refinement.
    """
    if file is None:
        return articles, {}
    with file.open("rb") as stream:
        data = stream.read(REFINEMENT_BYTES + 1)
    if len(data) > REFINEMENT_BYTES:
        message = f"{file} is larger than {REFINEMENT_BYTES:,} bytes; split it among packs"
        raise PackRefused(message)
    return refine(articles, read_refinement(data.decode("utf-8", "replace"), place=str(file)), _objection)


def _objection(text: str) -> str:
    """Return why a description must not reach a model: it orders one, or holds a credential; empty if it may."""
    return order_in("description", text) or ("holds a credential" if redact_document(text) != text else "")
