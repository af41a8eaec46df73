"""Renders packs that go to a commons, and those that it has, as text and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from repertoire.app.commons.packs import TOKEN, Publication
from repertoire.documentation.commons_pack import CommonsPack
from repertoire.domain.text import clean_line

_LINE, _TITLES = 160, 20


def publication_text(told: Publication) -> str:
    """Render what publishing a pack sends and where, or that it was sent."""
    manifest = told.manifest
    where = f"{told.url}, community {told.community}, as {told.member}"
    if told.sent:
        return f"Sent {manifest.name} {manifest.version} to {where}.\nsha256: {told.hash}"
    shown = [f"  {clean_line(title, _LINE)}" for title in told.titles[:_TITLES]]
    more = len(told.titles) - len(shown)
    return "\n".join(
        [
            f"This would be sent to {where}:",
            f"{manifest.name} {manifest.version}: {clean_line(manifest.description, _LINE)}",
            f"licence: {clean_line(manifest.licence, _LINE)}; topics: {', '.join(manifest.topics) or 'none'}",
            *(f"source: {clean_line(source.address, _LINE)}" for source in manifest.sources),
            f"files: {', '.join(told.files)}; {told.bytes:,} bytes as one file",
            f"sha256: {told.hash}",
            f"{len(told.titles)} documents with their whole text:",
            *shown,
            *([f"  and {more} more"] if more > 0 else []),
            "Everybody of the community can fetch it. Nothing was sent; to send it:",
            f"repertoire pack publish {manifest.name} --confirm {told.hash[:TOKEN]}",
        ]
    )


def publication_data(told: Publication) -> dict[str, Any]:
    """Return what publishing a pack sends as a JSON object."""
    manifest = told.manifest
    return {
        "name": manifest.name,
        "version": manifest.version,
        "description": clean_line(manifest.description, _LINE),
        "licence": manifest.licence,
        "topics": list(manifest.topics),
        "sources": [source.address for source in manifest.sources],
        "files": list(told.files),
        "documents": [clean_line(title, _LINE) for title in told.titles],
        "sha256": told.hash,
        "bytes": told.bytes,
        "url": told.url,
        "community": told.community,
        "member": told.member,
        "token": "" if told.sent else told.hash[:TOKEN],
        "sent": told.sent,
    }


def commons_packs_text(packs: Sequence[CommonsPack]) -> str:
    """Render the packs of a commons; what members wrote is one line each."""
    if not packs:
        return "The commons has no packs. `repertoire pack publish NAME` shares one."
    return "\n".join(
        f"{clean_line(one.name, 80)} {clean_line(one.version, 40)}: {clean_line(one.description, _LINE)} "
        f"({clean_line(one.licence, 40)}, {one.bytes:,} bytes, {clean_line(one.member, 40)}, {one.at[:10]})\n"
        f"  commons:{one.hash}"
        for one in packs
    )


def commons_packs_data(packs: Sequence[CommonsPack]) -> list[dict[str, Any]]:
    """Return the packs of a commons as JSON objects."""
    return [{**asdict(one), "description": clean_line(one.description, _LINE)} for one in packs]
