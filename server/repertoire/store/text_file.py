"""Defines the graph file of a text index, and adds documents to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repertoire.domain.component import PART_OF, Edge, Node
from repertoire.domain.digest import digest_of
from repertoire.domain.text import index_text
from repertoire.domain.texts import DOCUMENT, PART, TEXTS, TextDocument, parts_of
from repertoire.store.database import Store
from repertoire.store.graph_file import GraphFile, begin
from repertoire.store.migrations import full_text

TEXT_FILE = GraphFile("texts", TEXTS, (begin("texts", full_text("document_text"), full_text("part_text")),))

Part = tuple[int, str, str]  # a part of a document: node id, hash of the text, text


def add_documents(store: Store, documents: Iterable[TextDocument], *, size: int, now: str) -> list[Part]:
    """Write documents, each split into parts of at most `size` characters; return the parts, which need vectors."""
    with store.transaction():
        edges: list[Edge] = []
        parts = [part for document in documents for part in _add(store, document, size, now, edges)]
        store.sources.set_edges(edges, now=now, file="parts")
    return parts


def _add(store: Store, document: TextDocument, size: int, now: str, edges: list[Edge]) -> Iterator[Part]:
    title = index_text(document.title)
    node = Node(document.key, DOCUMENT, document.title)
    store.sources.add_node(node, text=(title, "", index_text(document.text)), now=now)
    for number, text in enumerate(parts_of(document.text, size) or [document.title]):
        key = f"{PART}:{number}:{document.key}"
        edges.append(Edge(key, document.key, PART_OF))
        told = f"{document.title}\n{text}" if document.title else text
        node_id = store.sources.add_node(Node(key, PART, ""), text=(title, "", index_text(text)), now=now)
        yield node_id, digest_of(told), told
