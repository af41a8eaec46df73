"""Defines the sort of graph file that holds a project's memory: its tables and migrations."""

from __future__ import annotations

from repertoire.domain.project_layout import PROJECT
from repertoire.store.graph_file import GraphFile, begin
from repertoire.store.migrations import Migration, full_text


def _words_of(table: str) -> str:
    # without a copy of the text, which the project's files hold
    return f"""CREATE VIRTUAL TABLE {table} USING fts5(
        name, description, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61')"""


PROJECT_FILE = GraphFile(
    "project",
    PROJECT,
    (
        begin(
            "project",
            """CREATE TABLE project_file(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, path TEXT NOT NULL UNIQUE,
                language TEXT NOT NULL, size INTEGER NOT NULL, lines INTEGER NOT NULL, content_hash TEXT NOT NULL,
                mtime INTEGER NOT NULL, title TEXT NOT NULL, facts TEXT NOT NULL)""",
            """CREATE TABLE symbol(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, file_id INTEGER NOT NULL,
                kind TEXT NOT NULL, qualname TEXT NOT NULL, container TEXT NOT NULL, signature TEXT NOT NULL,
                doc TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, exported INTEGER NOT NULL)""",
            "CREATE INDEX symbol_by_file ON symbol(file_id, start)",
            # `path`: the headings above the section, joined by the separator U+001F
            """CREATE TABLE section(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, file_id INTEGER NOT NULL,
                anchor TEXT NOT NULL, title TEXT NOT NULL, level INTEGER NOT NULL, path TEXT NOT NULL,
                first_line TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL)""",
            "CREATE INDEX section_by_file ON section(file_id, start)",
            """CREATE TABLE chunk(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, owner_id INTEGER NOT NULL,
                start INTEGER NOT NULL, end INTEGER NOT NULL)""",
            # every node that should have a vector, and the hash of the text that it is made from
            """CREATE TABLE embedded(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, space TEXT NOT NULL,
                text_hash TEXT NOT NULL)""",
            """CREATE TABLE entry(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, kind TEXT NOT NULL,
                title TEXT NOT NULL, body TEXT NOT NULL, tags TEXT NOT NULL, status TEXT NOT NULL,
                priority INTEGER NOT NULL, data TEXT NOT NULL, version INTEGER NOT NULL, created TEXT NOT NULL,
                changed TEXT NOT NULL)""",
            "CREATE TABLE skipped(path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID",
            _words_of("files_text"),
            _words_of("code_text"),
            _words_of("docs_text"),
            full_text("knowledge_text"),
        ),
        Migration(
            2,
            "mirror",
            (
                # each entry's file as it was when both were last the same: hashes of what the entry told, of the file
                """CREATE TABLE mirror(
                    entry TEXT PRIMARY KEY, path TEXT NOT NULL, told TEXT NOT NULL, file TEXT NOT NULL)
                    WITHOUT ROWID""",
            ),
        ),
        Migration(
            3,
            "candidates for notes",
            (
                # sentences of sessions that may be worth a note; `said` is empty once a person has decided
                """CREATE TABLE candidate(
                    name TEXT PRIMARY KEY, kind TEXT NOT NULL, category TEXT NOT NULL, said TEXT NOT NULL,
                    at TEXT NOT NULL) WITHOUT ROWID""",
            ),
        ),
        Migration(
            4,
            "merges of notes, credit of what files hold",
            (
                """CREATE TABLE credit(
                    node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, worth REAL NOT NULL)""",
                # two notes that became one, as JSON, so that they can be taken apart again
                """CREATE TABLE merged(
                    node_id INTEGER NOT NULL REFERENCES node(id) ON DELETE CASCADE, number INTEGER NOT NULL,
                    told TEXT NOT NULL, PRIMARY KEY (node_id, number)) WITHOUT ROWID""",
            ),
        ),
        Migration(
            5,
            "languages of snippets",
            (
                "ALTER TABLE section ADD COLUMN snippets TEXT NOT NULL DEFAULT ''",  # joined by spaces
                # so that the next reading finds the snippets of documents that did not change
                "UPDATE project_file SET content_hash = '', mtime = 0 WHERE language = 'markdown'",
            ),
        ),
        Migration(
            6,
            "lines of sections",
            # they were one too low in files that end with a line break; the next reading puts them right
            ("UPDATE project_file SET content_hash = '', mtime = 0 WHERE language = 'markdown'",),
        ),
        Migration(
            7,
            "words of deleted notes",
            # else they stay in the index until it is merged
            (
                "INSERT INTO knowledge_text(knowledge_text) VALUES ('optimize')",
                "INSERT INTO knowledge_text(knowledge_text, rank) VALUES ('secure-delete', 1)",
            ),
        ),
        Migration(
            8,
            "parts of sentences in scripts that part no words",
            # what was saved before has a run of such letters as one word
            (
                """UPDATE knowledge_text
                   SET name = words_of(name), description = words_of(description), body = words_of(body)
                   WHERE name || description || body GLOB '*[^ -~]*'""",
            ),
        ),
    ),
)
