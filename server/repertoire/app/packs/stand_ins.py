"""Tells the home's graph which packs there are: one component stands in for each, so that answers can name it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from repertoire.app.clock import ago
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.settle import write_records
from repertoire.boot.spool import rows_of, waiting
from repertoire.documentation.manifest import PackManifest
from repertoire.domain.component import DOCUMENTATION, PACKS, Component, FileRecord, SourceInfo
from repertoire.domain.digest import digest_of
from repertoire.domain.errors import PackRefused, StoreError
from repertoire.domain.event import OFFERED, SELECTED, Event
from repertoire.domain.pack import UNDESCRIBED, stand_in
from repertoire.domain.text import clean_line
from repertoire.learning.outcomes import LAPSE
from repertoire.ports import Embedder
from repertoire.retrieval.translation import english_of
from repertoire.store.database import Store

INFO = SourceInfo(PACKS, PACKS, "the packs of this home")
_TITLES, _LINE = 60, 160  # titles of documents that a stand-in holds, and characters of each
_ENGLISH = 600  # characters of the translation of a description and titles
_EMBED_SECONDS = 10.0


def tell_graph(store: Store, shelf: PackShelf, embedder: Embedder | None = None) -> None:
    """Bring the stand-ins in the graph up to date with the packs of the home; nothing is written if nothing changed.

    Raises:
        StoreError: the database cannot be written.
    """
    if store.read_only:
        return
    records = tuple(_record(shelf, manifest) for manifest in shelf.listing().packs)
    known = store.sources.file_hashes(INFO.key)
    if {record.path: record.content_hash for record in records} == known:
        return
    write_records(store, INFO, records, (), known)
    if embedder is not None:
        until = time.monotonic() + _EMBED_SECONDS  # what is left, a refresh embeds
        embed_pending(store, embedder, stop=lambda: time.monotonic() > until)


def uses(store: Store, packs: Sequence[str], *, now: str, project: str) -> list[Event]:
    """Return the event that each pack was used: in the session of its newest offer, if that is not long ago."""
    found = []
    for pack in packs:
        offer = _newest_offer(store, stand_in(pack))
        data = {"name": pack, "type": DOCUMENTATION, "offered": offer is not None}
        if offer is None:
            found.append(Event(now, SELECTED, "", project, "", stand_in(pack), data))
        else:
            found.append(Event(now, SELECTED, offer.session, offer.project, offer.request, stand_in(pack), data))
    return found


def _newest_offer(store: Store, node: str) -> Event | None:
    """Return the newest offer of a node that no use has followed yet, from the spool or the log; None if it is old."""
    late = [row for file in waiting(store.path.parent) for row in rows_of(file) if row.get("node") == node]
    told = [
        Event(text("at"), text("kind"), text("session"), text("project"), text("request"), node)
        for row in late
        if (text := _reader(row))("kind") in {OFFERED, SELECTED}
    ]
    newest = told[-1:] or store.events.of_node(node, kinds=(OFFERED, SELECTED), limit=1)
    return newest[0] if newest and newest[0].kind == OFFERED and newest[0].at >= ago(LAPSE) else None


def _reader(row: Mapping[str, object]) -> Callable[[str], str]:
    return lambda name: str(row.get(name, ""))


def _record(shelf: PackShelf, pack: PackManifest) -> FileRecord:
    described = "" if pack.description.startswith(UNDESCRIBED) else clean_line(pack.description, _LINE)
    topics = [topic for topic in pack.topics if topic != pack.name]
    about = f"Documentation of {pack.name}" + (f" ({', '.join(topics)})" if topics else "")
    description = f"{described or about}. query_pack answers questions about it with citations."
    titles: list[str] = []
    with suppress(PackRefused, StoreError):  # a pack that cannot be opened is still named
        titles = shelf.open(pack.name, "").store.titles(_TITLES)
        shelf.release(pack.name)
    body = "\n".join([about, *(clean_line(title, _LINE) for title in titles)])
    translated = english_of("\n".join((described, *topics, *titles)))
    english = f"Documentation of {pack.name}: {clean_line(translated, _ENGLISH)}" if translated else ""
    text = f"{description}\n{body}\n{pack.version}\n{pack.licence}\n{english}".rstrip("\n")
    component = Component(
        id=stand_in(pack.name),
        type=DOCUMENTATION,
        name=pack.name,
        description=description,
        body=body,
        path=pack.name,
        licence=pack.licence,
        content_hash=digest_of(text),
        last_commit=max((source.date for source in pack.sources), default=""),
        installed=True,
        english=english,
    )
    return FileRecord(pack.name, component.content_hash, (component,))
