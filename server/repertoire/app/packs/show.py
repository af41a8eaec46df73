"""Shows what a pack says of itself, and opens the section that a citation names."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.app.packs.shelf import PackShelf
from repertoire.domain.errors import PackRefused
from repertoire.domain.pack import PackPassage
from repertoire.domain.text import clean_line
from repertoire.packs.manifest import PackManifest


@dataclass(frozen=True)
class PackPlace:
    """A pack by its name, and a section of it by its citation; without a citation the pack itself is meant."""

    name: str
    citation: str = ""


@dataclass(frozen=True)
class ShownPack:
    """The manifest of a pack, and the section that was asked for."""

    manifest: PackManifest
    section: PackPassage | None = None


def show_pack(shelf: PackShelf, place: PackPlace) -> ShownPack:
    """Return the manifest of a pack, and the section that a citation (`article#anchor`) names.

    Raises:
        PackRefused: there is no such pack or no such section, or the pack cannot be opened.
    """
    manifest = shelf.manifest(place.name)
    if not place.citation:
        return ShownPack(manifest)
    pack = shelf.open(place.name, manifest.model)
    with pack.store.guarded():
        node_id = pack.store.section_at(place.citation)
        if node_id is not None:
            return ShownPack(manifest, pack.store.passages({node_id: None})[node_id])
    message = (
        f"pack {place.name} has no section {clean_line(place.citation, 200)!r}; "
        "a citation is article#anchor, as query_pack gives it"
    )
    raise PackRefused(message)
