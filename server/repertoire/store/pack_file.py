"""Defines the graph file of a pack: writes articles, reads sections, and seals a finished file for ever."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

from typing_extensions import Self

from repertoire.domain.component import Edge, Node
from repertoire.domain.pack import (
    ARTICLE,
    CATEGORY,
    CHUNK,
    HAS_CHUNK,
    HAS_SECTION,
    IN_CATEGORY,
    LINKS_TO,
    PACK,
    SECTION,
    PackArticle,
    PackCounts,
    PackPassage,
    PackSection,
    cited,
)
from repertoire.domain.text import compositions, match_any
from repertoire.store.connection import Connection
from repertoire.store.graph import Graph
from repertoire.store.graph_file import GraphFile, begin, open_graph_file
from repertoire.store.index_words import English, untranslated, words_in
from repertoire.store.light.bindings import marks
from repertoire.store.pack_knowledge import PackKnowledgeStore, add_knowledge
from repertoire.store.rows import storable
from repertoire.store.schema_check import Row, check_schema, contradictions_refused, schema_of
from repertoire.store.vector_form import BYTES
from repertoire.store.vectors import Vectors
from repertoire.store.writing import SHARED, GraphWriter, Owner

_NO_DATE = ""  # of every row: the time of a build must not change the bytes of the file
_SEPARATOR = "\x1f"
# Indexes that no question to a pack needs.
_FOR_WRITING = ("node_by_file", "node_by_name", "edge_by_file", "edge_by_target", "vector_state_by_node")
_PASSAGE = 100_000  # characters of a section that are read for an answer
_HASHES = 20  # signs "#" of a citation, each of which may be the one before the fragment
_PAGE = 512  # bytes: of a larger page, a section leaves more empty at its end


# without a copy of the text, which the table `section` holds already
_WORDS = """CREATE VIRTUAL TABLE section_text USING fts5(
    name, description, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61')"""


PACK_FILE = GraphFile(
    "pack",
    PACK,
    (
        begin(
            "pack",
            """CREATE TABLE article(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, path TEXT NOT NULL UNIQUE,
                title TEXT NOT NULL, category TEXT NOT NULL, content_hash TEXT NOT NULL)""",
            # `path`: the headings above the section, joined by the separator U+001F
            """CREATE TABLE section(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, article_id INTEGER NOT NULL,
                position INTEGER NOT NULL, anchor TEXT NOT NULL, title TEXT NOT NULL, level INTEGER NOT NULL,
                path TEXT NOT NULL, text TEXT NOT NULL)""",
            "CREATE INDEX section_by_article ON section(article_id, position)",
            # the text of a chunk is a range of characters of its section's text
            """CREATE TABLE chunk(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, section_id INTEGER NOT NULL,
                begin INTEGER NOT NULL, end INTEGER NOT NULL)""",
            "CREATE TABLE entity(node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, kind TEXT NOT NULL,"
            " name TEXT NOT NULL, description TEXT NOT NULL)",
            # the text of a fact is a range of characters of its section's text; `subject` is an entity, or 0
            """CREATE TABLE fact(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, section_id INTEGER NOT NULL,
                kind TEXT NOT NULL, subject INTEGER NOT NULL, begin INTEGER NOT NULL, end INTEGER NOT NULL)""",
            "CREATE TABLE skipped(path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID",
            _WORDS,
        ),
    ),
)

Text = tuple[int, str, str]  # node id, title line, text


class PackStore:
    """An open pack."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self.graph = Graph(connection)
        self.vectors = Vectors(connection, BYTES)
        self.knowledge = PackKnowledgeStore(connection)

    @classmethod
    def new(cls, path: Path) -> PackStore:
        """Open a new pack for writing.

        Raises:
            StoreError: the file cannot be made.
        """
        return cls(open_graph_file(path, PACK_FILE))

    @classmethod
    def open(cls, path: Path) -> PackStore:
        """Open a pack to read; nothing that the file's own schema asks for is run.

        Raises:
            StoreError: the file is foreign, of another sort, newer, corrupt, no pack, or cannot be opened at all.
        """
        with contradictions_refused(path):
            check_schema(path, _schema(), BYTES)
            connection = open_graph_file(path, PACK_FILE, read_only=True)
            connection.harden()
        return cls(connection)

    def guarded(self) -> AbstractContextManager[None]:
        """Translate errors that contradictory rows cause in the block: a pack may come from a stranger."""
        return contradictions_refused(self._db.path)

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, articles: Iterable[PackArticle], *, english: English = untranslated) -> None:
        """Write articles in one transaction; the order of the articles determines the bytes of the file.

        `english` returns the English of a text, by which it is found too, or nothing.
        """
        with self._db.transaction():
            writer = GraphWriter(self._db, self.vectors, _NO_DATE)
            edges = [edge for article in articles for edge in self._add(writer, article, english)]
            known = {str(key) for (key,) in self._db.rows("SELECT key FROM node WHERE type = ?", (ARTICLE,))}
            kept = [edge for edge in edges if edge.relation != LINKS_TO or edge.target in known]
            writer.replace_edges(Owner(SHARED.source_id, "pack"), kept)

    def skip(self, rows: Mapping[str, str]) -> None:
        """Record which files were not read, and why."""
        with self._db.transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO skipped VALUES (?, ?)",
                [(storable(path), storable(reason)) for path, reason in sorted(rows.items())],
            )

    def _add(self, writer: GraphWriter, article: PackArticle, english: English) -> Iterator[Edge]:
        key = f"{ARTICLE}:{article.path}"
        node_id = writer.put_node(Node(key, ARTICLE, article.title))
        self._db.execute(
            "INSERT INTO article VALUES (?, ?, ?, ?, ?)",
            (node_id, *map(storable, (article.path, article.title, article.category, article.content_hash))),
        )
        if article.category:
            writer.put_node(Node(f"{CATEGORY}:{article.category}", CATEGORY, article.category))
            yield Edge(key, f"{CATEGORY}:{article.category}", IN_CATEGORY)
        for path in sorted({*article.links}):
            yield Edge(key, f"{ARTICLE}:{path}", LINKS_TO, weight=float(article.links.count(path)))
        sections = list[int]()
        for position, section in enumerate(article.sections):
            above = " ".join((article.title, *section.path))
            title, told, body = (words_in(one, english) for one in (section.title, above, section.text))
            section_id, edges = self._add_section(writer, (node_id, key), position, section, (title, told, body))
            sections.append(section_id)
            yield from edges
        yield from add_knowledge(self._db, writer, key, sections, article.knowledge)

    def _add_section(
        self,
        writer: GraphWriter,
        article: tuple[int, str],
        position: int,
        section: PackSection,
        text: tuple[str, str, str],
    ) -> tuple[int, list[Edge]]:
        article_id, article_key = article
        key = f"{SECTION}:{article_id}:{position}"
        node_id = writer.put_node(Node(key, SECTION, section.title), text=text)
        named = (storable(section.anchor), storable(section.title), section.level)
        path = storable(_SEPARATOR.join(section.path))
        row = (node_id, article_id, position, *named, path, storable(section.text))
        self._db.execute(f"INSERT INTO section VALUES ({marks(row)})", row)
        edges = [Edge(article_key, key, HAS_SECTION)]
        for begins, ends in section.chunks:
            chunk = f"{CHUNK}:{node_id}:{begins}"
            chunk_id = writer.put_node(Node(chunk, CHUNK, ""))
            self._db.execute("INSERT INTO chunk VALUES (?, ?, ?, ?)", (chunk_id, node_id, begins, ends))
            edges.append(Edge(key, chunk, HAS_CHUNK))
        return node_id, edges

    def chunks(self) -> list[Text]:
        """Return every chunk with the headings above it and its text, in the order of the file."""
        rows = self._db.rows(
            """SELECT c.node_id, a.title, s.path, s.title, substr(s.text, c.begin + 1, c.end - c.begin) FROM chunk c
               JOIN section s ON s.node_id = c.section_id JOIN article a ON a.node_id = s.article_id ORDER BY 1"""
        )
        return [(int(row[0]), _headings(*row[1:4]), str(row[4])) for row in rows]

    def headings(self) -> list[Text]:
        """Return every section with the headings above it and no text, in the order of the file."""
        rows = self._db.rows(
            """SELECT s.node_id, a.title, s.path, s.title FROM section s
               JOIN article a ON a.node_id = s.article_id ORDER BY 1"""
        )
        return [(int(row[0]), _headings(*row[1:4]), "") for row in rows]

    def passages(self, sections: Mapping[int, int | None], *, start: int = 0) -> dict[int, PackPassage]:
        """Return sections by node id, each with the range of the chunk that stands beside its id.

        Of a very long section it is the part with this chunk, else the one that begins at `start` (in characters).
        """
        rows = self._db.rows(
            f"""SELECT s.node_id, a.path, s.anchor, s.title, a.title, s.path, substr(s.text, ?, {_PASSAGE}),
                       length(s.text)
                FROM section s JOIN article a ON a.node_id = s.article_id
                WHERE s.node_id IN ({marks([*sections])})""",
            [start + 1, *sections],
        )
        chunks = [chunk for chunk in sections.values() if chunk is not None]
        ranges = self._db.rows(
            f"SELECT section_id, begin, end FROM chunk WHERE node_id IN ({marks(chunks)})",
            chunks,
        )
        near = {int(section): (int(begin), int(end)) for section, begin, end in ranges}
        passages = dict[int, PackPassage]()
        for row in rows:
            node_id, size = int(row[0]), int(row[7])
            begin, end = near.get(node_id, (0, 0))
            if 0 <= begin < end <= size and end > _PASSAGE:
                before = max(min(begin, end - _PASSAGE // 2), 0)
                passages[node_id] = _passage(row[1:6], self._part(node_id, before), size, before, begin, end)
            else:
                passages[node_id] = _passage(row[1:6], str(row[6]), size, start, begin, end)
        return passages

    def _part(self, node_id: int, begin: int) -> str:
        """Return the part of a section's text that begins here, as long as is read for an answer."""
        wanted = (begin + 1, _PASSAGE, node_id)
        return str(self._db.value("SELECT substr(text, ?, ?) FROM section WHERE node_id = ?", wanted))

    def section_at(self, citation: str) -> int | None:
        """Return the node id of the section that a citation names; None if there is none."""
        parts = citation.split("#", _HASHES)
        for number in range(len(parts), 0, -1):  # a path may hold a "#" too, as that of a folder `C#`
            paths, anchors = compositions("#".join(parts[:number])), compositions("#".join(parts[number:]))
            found = self._db.value(
                f"""SELECT s.node_id FROM section s JOIN article a ON a.node_id = s.article_id
                   WHERE a.path IN ({marks(paths)}) AND s.anchor IN ({marks(anchors)}) ORDER BY s.position LIMIT 1""",
                (*paths, *anchors),
            )
            if found is not None:
                return int(found)
        return None

    def held_by(self, words: Sequence[str], sections: Sequence[int]) -> dict[int, frozenset[str]]:
        """Return which of the words each of the sections holds, by node id."""
        held: dict[int, set[str]] = {section: set() for section in sections}
        for word in words:
            rows = self._db.rows(
                f"SELECT rowid FROM section_text WHERE section_text MATCH ? AND rowid IN ({marks(sections)})",
                (match_any([word]), *sections),
            )
            for (section,) in rows:
                held[int(section)].add(word)
        return {section: frozenset(found) for section, found in held.items()}

    def titles(self, limit: int) -> list[str]:
        """Return the titles of the first documents, in the order of the file."""
        return [str(row[0]) for row in self._db.rows("SELECT title FROM article ORDER BY node_id LIMIT ?", (limit,))]

    def sections_by_citation(self) -> dict[str, int]:
        """Return the node id of every section by its citation."""
        rows = self._db.rows(
            "SELECT a.path, s.anchor, s.node_id FROM section s JOIN article a ON a.node_id = s.article_id"
        )
        return {cited(path, anchor): int(node_id) for path, anchor, node_id in rows}

    def articles(self) -> list[PackArticle]:
        """Return every document with its sections, in the order of the file, without chunks and links."""
        rows = self._db.rows("SELECT node_id, path, title, category, content_hash FROM article ORDER BY 1")
        sections: dict[int, list[PackSection]] = {int(row[0]): [] for row in rows}
        for article, title, anchor, level, path, text in self._db.stream(
            "SELECT article_id, title, anchor, level, path, text FROM section ORDER BY article_id, position"
        ):
            above = tuple(part for part in str(path).split(_SEPARATOR) if part)
            sections[int(article)].append(PackSection(str(title), str(anchor), int(level), str(text), above))
        return [
            PackArticle(str(path), str(title), tuple(sections[int(one)]), str(category), str(content_hash))
            for one, path, title, category, content_hash in rows
        ]

    def damage(self) -> str:
        """Return the first fault that SQLite finds in the whole file; empty if it is sound."""
        found = str(self._db.value("PRAGMA quick_check(1)"))
        return "" if found == "ok" else found

    def counts(self) -> PackCounts:
        """Count what the pack holds."""
        articles, sections, chunks, skipped = (
            int(self._db.value(f"SELECT count(*) FROM {table}")) for table in ("article", "section", "chunk", "skipped")
        )
        links = int(self._db.value("SELECT count(*) FROM edge WHERE relation = ?", (LINKS_TO,)))
        characters = int(self._db.value("SELECT ifnull(sum(length(text)), 0) FROM section"))
        return PackCounts(articles, sections, chunks, links, skipped, characters, **self.knowledge.counts())

    def seal(self, target: Path) -> None:
        """Write the finished pack to a new file whose bytes depend on the content alone."""
        with self._db.transaction():
            self._db.execute("UPDATE migration SET at = ?", (_NO_DATE,))
            self._db.execute("INSERT INTO section_text(section_text) VALUES ('optimize')")
            self._db.execute("DELETE FROM vector_state")
            for index in _FOR_WRITING:
                self._db.execute(f"DROP INDEX {index}")
        self._db.execute(f"PRAGMA page_size = {_PAGE}")
        self._db.execute("VACUUM INTO ?", (str(target),))


@cache
def _schema() -> frozenset[Row]:
    return schema_of(PACK_FILE.migrations, without=_FOR_WRITING)


def _headings(title: str, path: str, heading: str) -> str:
    return " - ".join(dict.fromkeys(part for part in (title, *path.split(_SEPARATOR), heading) if part))


def _passage(row: Sequence[Any], text: str, size: int, before: int, *chunk: int) -> PackPassage:
    """Return a passage whose text begins `before` characters after its section, with the chunk if the text holds it."""
    path, anchor, title, article, above = (str(value) for value in row)
    headings = tuple(part for part in (article, *above.split(_SEPARATOR)) if part)
    begin, end = (place - before for place in chunk)
    begin, end = (begin, end) if 0 <= begin < end <= len(text) else (0, 0)
    return PackPassage(path, anchor, title, headings, text, begin, end, before, max(size - before - len(text), 0))
