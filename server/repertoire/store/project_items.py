"""Reads symbols, sections and files of a project's memory, as answers say them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from repertoire.domain.pack import HAS_CHUNK
from repertoire.domain.project import CALLS, CHUNKS_OF, CODE, DOCS, FILE, KNOWLEDGE, LINES, MODULE, SECTION, Item
from repertoire.domain.text import compositions
from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks

_SYMBOL = """SELECT n.id, n.key, s.kind, iif(s.qualname = '', n.name, s.qualname), f.path, s.start, s.end, s.signature,
    s.doc, f.language, '' FROM symbol s JOIN node n ON n.id = s.node_id JOIN project_file f ON f.node_id = s.file_id"""
_SECTION = f"""SELECT n.id, n.key, '{SECTION}', iif(s.title = '', f.title, s.title), f.path, s.start, s.end,
    s.first_line, replace(s.path, char(31), ' / '), f.language, s.snippets
    FROM section s JOIN node n ON n.id = s.node_id JOIN project_file f ON f.node_id = s.file_id"""
_FILE = f"""SELECT n.id, n.key, '{FILE}', n.name, f.path, 1, f.lines, f.title, '', f.language, ''
    FROM project_file f JOIN node n ON n.id = f.node_id"""
_ROWS = {KNOWLEDGE: "entry", CODE: "symbol"}  # the table with a row for each thing that a view ranks
_BELOW = "(?1 = '' OR f.path = ?1 OR substr(f.path, 1, length(?1) + 1) = ?1 || '/')"
_IN_FILES = {
    CODE: "SELECT s.node_id FROM symbol s JOIN project_file f ON f.node_id = s.file_id WHERE ?2 IN ('', f.language)",
    DOCS: """SELECT s.node_id FROM section s JOIN project_file f ON f.node_id = s.file_id
        WHERE (?2 IN ('', f.language) OR instr(' ' || s.snippets || ' ', ' ' || ?2 || ' '))""",
}
_DEFINED = f"s.kind NOT IN ('{MODULE}', '{LINES}')"


class ProjectItems:
    """Reads what an answer says first of symbols, sections and files."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def by_id(self, node_ids: Iterable[int]) -> dict[int, Item]:
        """Map node ids to symbols, sections and files; another id is left out."""
        wanted, kinds = list(node_ids), (_SYMBOL, _SECTION, _FILE)
        return {int(row[0]): _item(row) for select in kinds for row in self._db.of_nodes(select, wanted)}

    def by_key(self, key: str) -> Item | None:
        """Return the symbol, section or file with this key, or None."""
        rows = (
            self._db.row(f"{select} WHERE n.key = ?", (form,))
            for form in compositions(key)
            for select in (_SYMBOL, _SECTION, _FILE)
        )
        return next((_item(row) for row in rows if row is not None), None)

    def node_id(self, key: str) -> int | None:
        """Return the id of the node with this key, or None."""
        found = self._db.value("SELECT id FROM node WHERE key = ?", (key,))
        return None if found is None else int(found)

    def named(self, name: str, *, limit: int) -> list[Item]:
        """Return the definitions with this name, or whose qualified name ends with it; files in order.

        Several of one name in a scope are told apart by a number (`ask#2`), which the asked name lacks.
        """
        # by the index of names: asking for the qualified name too, of all symbols, read every one of them
        rows = self._db.rows(
            f"""{_SYMBOL} WHERE {_DEFINED} AND n.type = 'symbol' AND n.name = ?2 COLLATE NOCASE
                AND (?1 = ?2 OR s.qualname = ?1 OR substr(s.qualname, -length(?1) - 1) = '.' || ?1
                    OR '.' || s.qualname GLOB '*.' || ?1 || '#[0-9]*')
                ORDER BY n.name <> ?2, f.path, s.start LIMIT ?3""",
            (name, name.rpartition(".")[2], limit),
        )
        return [_item(row) for row in rows]

    def spelt(self, name: str, *, limit: int) -> list[Item]:
        """Return the definitions with exactly this name, or whose qualified name ends with it."""
        rows = self._db.rows(
            f"""{_SYMBOL} WHERE {_DEFINED} AND n.type = 'symbol' AND n.name = ?1 COLLATE NOCASE AND n.name = ?1
                AND (s.qualname = ?2 OR substr(s.qualname, -length(?2) - 1) = '.' || ?2) LIMIT ?3""",
            (name.rpartition(".")[2], name, limit),
        )
        return [_item(row) for row in rows]

    def files_ending(self, path: str, *, limit: int) -> list[Item]:
        """Return the files with this path, or whose path ends with it."""
        rows = self._db.rows(
            f"{_FILE} WHERE f.path = ?1 OR substr(f.path, -length(?1) - 1) = '/' || ?1 ORDER BY f.path <> ?1 LIMIT ?2",
            (path, limit),
        )
        return [_item(row) for row in rows]

    def calling(self, key: str, *, limit: int) -> list[tuple[Item, float]]:
        """Return what calls a symbol, with how sure that is."""
        return self._beside(key, "e.source", "e.target", (CALLS,), limit)

    def called(self, key: str, *, limit: int) -> list[tuple[Item, float]]:
        """Return what a symbol calls, with how sure that is."""
        return self._beside(key, "e.target", "e.source", (CALLS,), limit)

    def related(self, key: str, relations: Sequence[str], *, incoming: bool, limit: int) -> list[Item]:
        """Return the symbols or files at the other end of these relations."""
        ends = ("e.source", "e.target") if incoming else ("e.target", "e.source")
        return [item for item, _ in self._beside(key, *ends, relations, limit)]

    def _beside(self, key: str, other: str, own: str, relations: Sequence[str], limit: int) -> list[tuple[Item, float]]:
        rows = self._db.rows(
            f"""SELECT {other}, max(e.weight) FROM edge e
                WHERE {own} = (SELECT id FROM node WHERE key = ?) AND e.relation IN ({marks(relations)})
                GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?""",
            (key, *relations, limit),
        )
        items = self.by_id(int(row[0]) for row in rows)
        return [(items[one], float(weight)) for one, weight in rows if one in items]

    def in_file(self, path: str, *, limit: int) -> list[Item]:
        """Return the definitions and sections of a file, in its order."""
        rows = self._db.rows(
            f"""{_SYMBOL} WHERE f.path = ?1 AND {_DEFINED} UNION ALL {_SECTION} WHERE f.path = ?1
                ORDER BY 6, 7 DESC LIMIT ?2""",
            (path, limit),
        )
        return [_item(row) for row in rows]

    def files(self, *, below: str = "", language: str = "", limit: int, offset: int = 0) -> tuple[list[Item], int]:
        """Return files below a folder and of a language, in the order of their paths, and how many there are."""
        where = f"WHERE {_BELOW} AND ?2 IN ('', f.language)"
        rows = self._db.rows(f"{_FILE} {where} ORDER BY f.path LIMIT ?3 OFFSET ?4", (below, language, limit, offset))
        total = self._db.value(f"SELECT count(*) FROM project_file f {where}", (below, language))
        return [_item(row) for row in rows], int(total)

    def within(self, view: str, *, below: str, language: str) -> npt.NDArray[np.int64]:
        """Return the node ids of what a view ranks below a folder and of a language, or with snippets of it."""
        select = _IN_FILES.get(view, "SELECT f.node_id FROM project_file f WHERE ?2 IN ('', f.language)")
        return np.array(self._db.rows(f"{select} AND {_BELOW} ORDER BY 1", (below, language)), dtype=np.int64).ravel()

    def size_of(self, path: str) -> tuple[int, int]:
        """Return the bytes and lines of a file."""
        row = self._db.row("SELECT size, lines FROM project_file WHERE path = ?", (path,))
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def parts(self, view: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the node ids of what a view ranks, of all chunks, and of what each chunk is a piece of; in order."""
        table = _ROWS.get(view, "section")
        rows = self._db.rows(f"SELECT node_id FROM {table} ORDER BY 1")
        if view == KNOWLEDGE:
            pieces = self._db.rows(
                """SELECT n.id, e.source FROM node n JOIN edge e ON e.target = n.id AND e.relation = ?
                   WHERE n.type = ? ORDER BY 1""",
                (HAS_CHUNK, CHUNKS_OF[KNOWLEDGE]),
            )
        else:
            pieces = self._db.rows(
                f"SELECT node_id, owner_id FROM chunk WHERE owner_id IN (SELECT node_id FROM {table}) ORDER BY 1"
            )
        both = np.array(pieces, dtype=np.int64).reshape(-1, 2)
        return np.array(rows, dtype=np.int64).ravel(), both[:, 0].copy(), both[:, 1].copy()


def _item(row: Sequence[Any]) -> Item:
    _, key, kind, title, path, start, end, line, doc, language, snippets = row
    return Item(
        str(key),
        str(kind),
        str(title),
        str(path),
        int(start),
        int(end),
        str(line),
        str(doc),
        str(language),
        tuple(str(snippets).split()),
    )
