"""Opens a project's memory: what was read from its files and when, what is still to be embedded, and what it counts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from typing_extensions import Self

from repertoire.domain.component import Edge
from repertoire.domain.project import ENTRIES, FILES, RESOLVED, KnownFile, ProjectCounts, ReadFile
from repertoire.store.backup import Backup
from repertoire.store.connection import Connection
from repertoire.store.graph import Graph
from repertoire.store.graph_file import open_graph_file
from repertoire.store.index_words import English, untranslated
from repertoire.store.project_candidates import ProjectCandidates
from repertoire.store.project_credits import ProjectCredits
from repertoire.store.project_entries import ProjectEntries
from repertoire.store.project_items import ProjectItems
from repertoire.store.project_merges import ProjectMerges
from repertoire.store.project_programs import StoredPrograms
from repertoire.store.project_said import ProjectSaid
from repertoire.store.project_schema import PROJECT_FILE
from repertoire.store.project_texts import text_hash
from repertoire.store.project_tree import TreeWriter
from repertoire.store.rows import storable
from repertoire.store.vector_form import Matrix
from repertoire.store.vectors import Vectors
from repertoire.store.writing import GraphWriter, Owner

_SAID_IN_FILES = """SELECT path, path || '. ' || title FROM project_file
    UNION ALL SELECT f.path, s.title || '. ' || s.first_line FROM section s JOIN project_file f ON f.node_id = s.file_id
    UNION ALL SELECT f.path, y.doc FROM symbol y JOIN project_file f ON f.node_id = y.file_id WHERE y.doc <> ''"""


class ProjectStore:
    """An open memory of a project. One thread at a time uses it."""

    def __init__(self, connection: Connection, english: English = untranslated) -> None:
        self._db = connection
        self._english = english
        self.path = connection.path
        self.read_only = connection.read_only
        self.graph = Graph(connection)
        self.vectors = Vectors(connection)
        self.items = ProjectItems(connection)
        self.entries = ProjectEntries(connection, self.vectors, english)
        self.candidates = ProjectCandidates(connection)
        self.credits = ProjectCredits(connection)
        self.merges = ProjectMerges(connection)
        self.said = ProjectSaid(connection, self.vectors)
        self.backup = Backup(connection)
        self.transaction = connection.transaction
        self.snapshot = connection.snapshot
        self.copy_to = connection.copy_to
        self._programs: tuple[int, StoredPrograms] | None = None

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False, english: English = untranslated) -> ProjectStore:
        """Open a project's memory; a new file is created where there is none.

        `english` returns the English of a text, by which what is written is found too, or nothing.

        Raises:
            StoreError: the file is foreign, of another sort, newer, corrupt, or cannot be opened at all.
        """
        return cls(open_graph_file(path, PROJECT_FILE, read_only=read_only), english)

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._db.in_transaction

    def root(self) -> str:
        """Return the folder of the project."""
        return str(self._db.meta("root") or "")

    def begin(self, root: str, *, now: str) -> None:
        """Record whose memory this is, and since when it is kept, unless that is known."""
        with self._db.transaction():
            self._db.set_meta("root", storable(root))
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('created', ?)", (now,))

    def origin(self) -> frozenset[str]:
        """Return what tells the project's repository from others, as it was recorded; empty if nothing was."""
        return frozenset(str(self._db.meta("origin") or "").split())

    def set_origin(self, origin: Collection[str]) -> None:
        """Record what tells the project's repository from others."""
        with self._db.transaction():
            self._db.set_meta("origin", " ".join(sorted(origin)))

    def begin_again(self) -> None:
        """Record that no file was read yet: what a rescue recovered is what people saved."""
        with self._db.transaction():
            self._db.execute("DELETE FROM meta WHERE key = 'indexed'")

    def indexed_at(self) -> str:
        """Return when the project was read last; empty before the first time."""
        return str(self._db.meta("indexed") or "")

    def finish(self, *, now: str) -> None:
        """Record that the project was read."""
        with self._db.transaction():
            self._db.set_meta("indexed", now)

    def set_skipped(self, skipped: Mapping[str, str]) -> None:
        """Record which files were not read and why."""
        if skipped == self.skipped():
            return
        with self._db.transaction():
            self._db.execute("DELETE FROM skipped")
            self._write_skipped(skipped)

    def _write_skipped(self, reasons: Mapping[str, str]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO skipped VALUES (?, ?)",
            [(storable(path), storable(reason)) for path, reason in sorted(reasons.items())],
        )

    def is_read_with(self, version: str) -> bool:
        """Tell whether what was read last was translated by this version of the dictionaries."""
        return str(self._db.meta("dictionaries")) == version

    def translate_again(self, version: str) -> list[str]:
        """Have the next reading read the files that say something in another language; return the ids of such entries.

        They are known by their names, headings, first lines and docstrings. The version is recorded.
        """
        with self._db.transaction():
            foreign = {str(path) for path, said in self._db.rows(_SAID_IN_FILES) if self._english(said)}
            self._db.executemany(
                "UPDATE project_file SET content_hash = '', mtime = -1 WHERE path = ?", [(path,) for path in foreign]
            )
            self._db.set_meta("dictionaries", version)
        return [one.key for one in self.entries.all(ENTRIES) if self._english(f"{one.title}\n{one.body}")]

    def read_again(self, rules: str, languages: Collection[str]) -> None:
        """Have the next reading read the files of some languages if other rules read them last; these are recorded."""
        if self._db.meta("rules") == rules:
            return
        with self._db.transaction():
            self._db.executemany(
                "UPDATE project_file SET content_hash = '', mtime = -1 WHERE language = ?",
                [(language,) for language in languages],
            )
            self._db.set_meta("rules", rules)

    def all_resolved(self) -> None:
        """Record that the names in all programs were resolved."""
        with self._db.transaction():
            self._db.execute("DELETE FROM meta WHERE key = 'unresolved'")

    def is_unresolved(self) -> bool:
        """Tell whether a reading was interrupted before names were resolved, or none was finished."""
        return not self.indexed_at() or bool(self._db.value("SELECT 1 FROM meta WHERE key = 'unresolved'"))

    def skipped(self) -> dict[str, str]:
        """Map the files that were not read to the reasons."""
        return {str(path): str(why) for path, why in self._db.rows("SELECT path, reason FROM skipped ORDER BY path")}

    def unread_rest(self) -> str:
        """Return why the files after some path were not read, where the project has too many; else nothing."""
        return str(self._db.value("SELECT reason FROM skipped WHERE path = '.'") or "")

    def known(self, among: Collection[str] | None = None) -> dict[str, KnownFile]:
        """Map every file to the state in which it was read last; with `among`, only these and what lies below them."""
        select = "SELECT path, content_hash, mtime, size FROM project_file"
        if among is None:
            rows = self._db.rows(select)
        else:  # `0` follows `/`
            below = " WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0')"
            rows = [row for path in sorted(among) for row in self._db.rows(select + below, (storable(path),))]
        return {str(path): KnownFile(content, int(mtime), int(size)) for path, content, mtime, size in rows}

    def file_count(self) -> int:
        """Return how many files the memory knows."""
        return int(self._db.value("SELECT count(*) FROM project_file"))

    def touch(self, times: Mapping[str, int]) -> None:
        """Record new modification times of files whose content is the same."""
        with self._db.transaction():
            self._db.executemany(
                "UPDATE project_file SET mtime = ? WHERE path = ?", [(at, path) for path, at in times.items()]
            )

    def put(self, files: Iterable[ReadFile], *, now: str, reasons: Mapping[str, str], programs: bool = True) -> None:
        """Write files as they were read, each in place of what was known of it, in one transaction.

        `reasons`: why the contents of some were not read. `programs`: names in them are to be resolved afterwards.
        """
        with self._db.transaction():
            tree = TreeWriter(self._db, self.vectors, now=now, english=self._english)
            if programs:
                self._db.set_meta("unresolved", now)
            for file in files:
                tree.put(file)
            self._write_skipped(reasons)

    def remove(self, paths: Sequence[str], *, now: str, programs: bool = True) -> None:
        """Delete files with all that was read from them; what somebody noted about them keeps a stand-in."""
        if not paths:
            return
        with self._db.transaction():
            if programs:
                self._db.set_meta("unresolved", now)
            TreeWriter(self._db, self.vectors, now=now).remove(paths)

    def move(self, old: str, new: str) -> None:
        """Rename a file whose content did not change, with the keys of all that was read from it."""
        with self._db.transaction():
            TreeWriter(self._db, self.vectors, now="", english=self._english).move(old, new)

    def programs(self) -> StoredPrograms:
        """Return what the programs of the project define and say, as they are now; the same while no file comes."""
        revision = self.graph.revision(FILES)
        if self._programs is None or self._programs[0] != revision:
            self._programs = (revision, StoredPrograms(self._db))
        return self._programs[1]

    def resolve(self, edges: Mapping[str, Sequence[Edge]], *, now: str) -> None:
        """Write where the names in files lead to, in place of what was known of these files."""
        with self._db.transaction():
            writer = GraphWriter(self._db, self.vectors, now)
            for path, of_file in edges.items():
                writer.replace_edges(Owner(RESOLVED, storable(path)), of_file)
            writer.collect_orphans()

    def pending(self, model: str) -> dict[str, list[tuple[int, str, str, str]]]:
        """Map each file to its nodes without a vector of their text, as (node id, key, space, hash of the text)."""
        found: dict[str, list[tuple[int, str, str, str]]] = {}
        for path, node_id, key, space, digest in self._db.rows(
            """SELECT n.file, n.id, n.key, e.space, e.text_hash FROM embedded e JOIN node n ON n.id = e.node_id
               LEFT JOIN vector_space s ON s.space = e.space AND s.model = ?
               LEFT JOIN vector_state v ON v.space_id = s.id AND v.node_id = e.node_id
               WHERE v.content_hash IS NULL OR v.content_hash <> e.text_hash ORDER BY n.file, n.id""",
            (model,),
        ):
            found.setdefault(str(path), []).append((int(node_id), str(key), str(space), str(digest)))
        return found

    def hash_of(self, text: str) -> str:
        """Return the hash of a text that is embedded."""
        return text_hash(text, self._english)

    def embed_texts(self, texts: Mapping[str, str], model: str, vectors: Matrix) -> None:
        """Store the vectors of nodes, given by their keys with the texts that they were made from."""
        for (key, text), vector in zip(texts.items(), vectors, strict=True):
            row = self._db.row(
                "SELECT n.id, e.space FROM node n JOIN embedded e ON e.node_id = n.id WHERE n.key = ?", (key,)
            )
            if row is not None:
                self.vectors.put(str(row[1]), model, [(int(row[0]), self.hash_of(text))], vector.reshape(1, -1))

    def counts(self, model: str = "") -> ProjectCounts:
        """Count what the memory holds, and how much of it has a vector of a model."""
        tables = ("project_file", "symbol", "section", "entry", "skipped", "embedded")
        files, symbols, sections, entries, skipped, embedded = (
            int(self._db.value(f"SELECT count(*) FROM {table}")) for table in tables
        )
        calls = int(self._db.value("SELECT count(*) FROM edge WHERE relation = 'calls'"))
        missing, _ = self.missing_vectors(model)
        return ProjectCounts(files, symbols, sections, calls, entries, skipped, embedded - missing, embedded)

    def missing_vectors(self, model: str) -> tuple[int, int]:
        """Return how many texts have no vector of a model yet, and how many should have one."""
        done = self._db.value(
            """SELECT count(*) FROM embedded e JOIN vector_space s ON s.space = e.space AND s.model = ?
               JOIN vector_state v ON v.space_id = s.id AND v.node_id = e.node_id AND v.content_hash = e.text_hash""",
            (model,),
        )
        total = int(self._db.value("SELECT count(*) FROM embedded"))
        return total - int(done), total

    def imported_packages(self, path: str) -> set[str]:
        """Return the first names of the modules that a file imports: `a` of `a.b`, `@scope/name` of its subpaths."""
        facts = json.loads(str(self._db.value("SELECT facts FROM project_file WHERE path = ?", (path,)) or "{}"))
        return {_package(str(one.get("module", ""))) for one in facts.get("imports", ())} - {""}

    def languages(self) -> dict[str, int]:
        """Count the files of each language, the most frequent first."""
        rows = self._db.rows(
            "SELECT language, count(*) FROM project_file GROUP BY language ORDER BY count(*) DESC, language"
        )
        return {str(language): int(count) for language, count in rows}


def _package(module: str) -> str:
    parts = module.replace("::", "/").split("/")
    return "/".join(parts[:2]) if module.startswith("@") else parts[0].partition(".")[0]
