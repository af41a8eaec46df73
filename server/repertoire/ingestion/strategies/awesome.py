"""Reads lists of links, the README at the top of a source: each entry points to what lies elsewhere."""

from __future__ import annotations

from repertoire.ingestion import readme
from repertoire.ingestion.parts import Layout, Outcome, SourceFile, Strategy


def _claims(path: str, _: Layout) -> bool:
    return path.lower() == "readme.md"


def _extract(file: SourceFile, layout: Layout) -> Outcome:
    listed = readme.entries(file.text)
    if not listed:
        return Outcome(left="tells of the source; its components tell more")
    title = readme.title_of(file.text, layout.name)
    return Outcome(tuple(readme.pointers(listed, title)))


STRATEGY = Strategy("readme", _claims, _extract)
