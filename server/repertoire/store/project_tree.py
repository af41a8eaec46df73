"""Writes what was read from a project's files: nodes with their words, edges, rows, and what is to be embedded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from repertoire.domain.component import Edge, Node
from repertoire.domain.pack import HAS_CHUNK, LINKS_TO
from repertoire.domain.project import (
    CHUNKS_OF,
    CODE,
    CONTAINS,
    DOCS,
    EXPORTS,
    FILE,
    RESOLVED,
    SECTION,
    SYMBOL,
    TREE,
    Chunk,
    CodeFacts,
    ReadFile,
    file_key,
    section_key,
    symbol_key,
)
from repertoire.domain.project_layout import PROJECT, chunk_space, heading_space
from repertoire.domain.text import index_text
from repertoire.store.connection import Connection
from repertoire.store.index_words import English, untranslated, words_in
from repertoire.store.light.bindings import marks
from repertoire.store.project_texts import first_line, heading_of_section, heading_of_symbol, text_hash, words_of_symbol
from repertoire.store.rows import storable, storable_value
from repertoire.store.vectors import Vectors
from repertoire.store.writing import GraphWriter, Owner, Text

_SEPARATOR = "\x1f"
_KINDS_IN_KEY = re.compile(r"^(?:\w+_chunk:\d+:)?\w+:")  # what stands before the path in a key


class TreeWriter:
    """Writes the files of a project, inside an open transaction."""

    def __init__(self, connection: Connection, vectors: Vectors, *, now: str, english: English = untranslated) -> None:
        self._db = connection
        self._english = english
        self._writer = GraphWriter(connection, vectors, now)

    def put(self, file: ReadFile) -> None:
        """Write a file as it was read, in place of what was known of it."""
        owner = Owner(TREE, storable(file.path))
        before = self._writer.owned(TREE, file.path)
        words = self._words(file.path, file.title, file.language)
        # the full text has no content to compare with: written anew, it would change the view of files at every edit
        as_before = (
            self._db.value("SELECT title FROM project_file WHERE path = ?", (storable(file.path),)) == file.title
        )
        key = file_key(file.path)
        file_id = self._writer.put_node(Node(key, FILE, _name(file.path)), owner, None if as_before else words)
        row = (file_id, file.path, file.language, file.size, file.lines, file.content_hash, file.mtime, file.title)
        self._db.execute("DELETE FROM project_file WHERE path = ? OR node_id = ?", (file.path, file_id))
        facts = json.dumps(asdict(file.facts), separators=(",", ":")) if file.facts != CodeFacts() else "{}"
        values = (*map(storable_value, row), facts)
        self._db.execute(f"INSERT INTO project_file VALUES ({marks(values)})", values)
        edges = [*self._symbols(file, file_id), *self._sections(file, file_id)]
        edges.extend(Edge(key, file_key(path), LINKS_TO) for path in {*file.links})
        self._writer.replace_edges(owner, edges)
        kept = {key, *(edge.target for edge in edges)}
        self._drop([(node_id, old) for node_id, old in before if old not in kept])

    def remove(self, paths: Iterable[str]) -> None:
        """Delete files with all that was read from them; what somebody noted about them keeps a stand-in."""
        for path in paths:
            for owner in (TREE, RESOLVED):
                self._writer.replace_edges(Owner(owner, path), ())
            self._drop(self._writer.owned(TREE, path))
        self._writer.collect_orphans()

    def move(self, old: str, new: str) -> None:
        """Rename a file whose content did not change, with the keys of all that was read from it."""
        for kind in (FILE, SYMBOL, SECTION, *CHUNKS_OF.values()):
            for node_id, key in self._db.rows(
                "SELECT id, key FROM node WHERE source_id = ? AND file = ? AND type = ?", (TREE, old, kind)
            ):
                kinds = _KINDS_IN_KEY.findall(key)[0]
                moved = f"{kinds}{new}{key[len(kinds) + len(old) :]}"
                self._writer.rename(node_id, moved, new)
        self._db.execute("UPDATE edge SET file = ? WHERE source_id IN (?, ?) AND file = ?", (new, TREE, RESOLVED, old))
        self._db.execute("UPDATE project_file SET path = ? WHERE path = ?", (new, old))
        for title, language in self._db.rows("SELECT title, language FROM project_file WHERE path = ?", (new,)):
            words = self._words(new, title, language)
            self._writer.put_node(Node(file_key(new), FILE, _name(new)), Owner(TREE, new), words)
        self._db.touch(*(view.name for view in PROJECT.views))

    def _words(self, path: str, title: str, language: str) -> Text:
        """Return the texts by which a file is found: its name and title, its path, its language."""
        named, place = (words_in(text, self._english) for text in (f"{_name(path)} {title}", path))
        return named, place, index_text(language)

    def _drop(self, nodes: Sequence[tuple[int, str]]) -> None:
        """Delete nodes, without the edges of their own file; those that another's edge leads to become stand-ins."""
        needed, rest = list[tuple[int, str]](), list[tuple[int, str]]()
        for node_id, key in nodes:
            if self._db.value("SELECT 1 FROM edge WHERE target = ? LIMIT 1", (node_id,)):
                needed.append((node_id, key))
            else:
                rest.append((node_id, str(self._db.value("SELECT type FROM node WHERE id = ?", (node_id,)))))
        self._writer.release(needed)
        self._writer.delete(rest)

    def _symbols(self, file: ReadFile, file_id: int) -> Iterator[Edge]:
        owner = Owner(TREE, storable(file.path))
        for symbol in file.symbols:
            key = storable(symbol_key(file.path, symbol.qualname))
            node_id = self._writer.put_node(
                Node(key, SYMBOL, symbol.name), owner, words_of_symbol(file.path, symbol, self._english)
            )
            head = (symbol.kind, symbol.qualname, symbol.container, symbol.signature, symbol.doc)
            row = (node_id, file_id, *map(storable, head), symbol.start, symbol.end, int(symbol.exported))
            self._db.execute(f"INSERT OR REPLACE INTO symbol VALUES ({marks(row)})", row)
            around = symbol_key(file.path, symbol.container) if symbol.container else file_key(file.path)
            yield Edge(around, key, CONTAINS)
            if symbol.exported and not symbol.container:
                yield Edge(file_key(file.path), key, EXPORTS)
            if symbol.chunks:
                self._embed(node_id, heading_space(CODE), heading_of_symbol(file.path, symbol))
            yield from self._chunks(owner, CODE, (node_id, key), symbol.chunks)

    def _sections(self, file: ReadFile, file_id: int) -> Iterator[Edge]:
        owner = Owner(TREE, storable(file.path))
        for section in file.sections:
            key = storable(section_key(file.path, section.anchor))
            above = " ".join((file.title, *section.path, file.path))
            title, told, body = (words_in(text, self._english) for text in (section.title, above, section.text))
            node_id = self._writer.put_node(Node(key, SECTION, section.title), owner, (title, told, body))
            path, first = _SEPARATOR.join(section.path), first_line(section)
            row = (
                section.anchor,
                section.title,
                section.level,
                path,
                first,
                section.start,
                section.end,
                " ".join(section.snippets),
            )
            values = (node_id, file_id, *map(storable_value, row))
            self._db.execute(f"INSERT OR REPLACE INTO section VALUES ({marks(values)})", values)
            yield Edge(file_key(file.path), key, CONTAINS)
            if section.chunks:
                self._embed(node_id, heading_space(DOCS), heading_of_section(file, section))
            yield from self._chunks(owner, DOCS, (node_id, key), section.chunks)

    def _chunks(self, owner: Owner, view: str, above: tuple[int, str], chunks: Sequence[Chunk]) -> Iterator[Edge]:
        above_id, above_key = above
        for number, chunk in enumerate(chunks):
            key = f"{CHUNKS_OF[view]}:{number}:{above_key}"
            node_id = self._writer.put_node(Node(key, CHUNKS_OF[view], ""), owner)
            self._db.execute(
                "INSERT OR REPLACE INTO chunk VALUES (?, ?, ?, ?)", (node_id, above_id, chunk.start, chunk.end)
            )
            self._embed(node_id, chunk_space(view), chunk.text)
            yield Edge(above_key, key, HAS_CHUNK)

    def _embed(self, node_id: int, space: str, text: str) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO embedded VALUES (?, ?, ?)", (node_id, space, text_hash(text, self._english))
        )


def _name(path: str) -> str:
    return path.rpartition("/")[2]
