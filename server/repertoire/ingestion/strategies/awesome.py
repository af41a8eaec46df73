"""Reads a list of links in the README at the top of a source: each entry becomes a pointer."""

from __future__ import annotations

from repertoire.ingestion import readme
from repertoire.ingestion.parts import FileOutcome, SourceFile, SourceLayout, Strategy


def _claims(path: str, _: SourceLayout) -> bool:
    return path.lower() == "readme.md"


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    listed = readme.entries(file.text)
    if not listed:
        return FileOutcome(left="tells of the source; its components tell more")
    title = readme.title_of(file.text, layout.name)
    return FileOutcome(tuple(readme.pointers(listed, title)))


STRATEGY = Strategy("readme", _claims, _extract)
