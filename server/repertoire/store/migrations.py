"""Defines the schema as numbered migrations; each runs in one transaction, which also records its number."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.domain.errors import StoreFull, StoreReadOnly
from repertoire.domain.text import index_text, with_pairs
from repertoire.store.connection import Connection
from repertoire.store.opening import lacks_space


@dataclass(frozen=True)
class Migration:
    """One migration: the statements that take the schema from `number - 1` to `number`.

    They may call `words_of`, which returns a text as full-text tables hold it.
    """

    number: int
    name: str
    statements: tuple[str, ...]


# The tables of every graph file. `source_id` is the source that owns a node or an edge; 0: no source, it is shared.
CORE = (
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    """CREATE TABLE node(
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, type TEXT NOT NULL, name TEXT NOT NULL,
        source_id INTEGER NOT NULL DEFAULT 0, file TEXT NOT NULL DEFAULT '', data TEXT NOT NULL DEFAULT '{}',
        first_seen TEXT NOT NULL, last_changed TEXT NOT NULL)""",
    "CREATE INDEX node_by_file ON node(source_id, file)",
    "CREATE INDEX node_by_name ON node(type, name COLLATE NOCASE)",
    """CREATE TABLE edge(
        id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES node(id) ON DELETE CASCADE,
        target INTEGER NOT NULL REFERENCES node(id) ON DELETE CASCADE, relation TEXT NOT NULL,
        weight REAL NOT NULL, evidence TEXT NOT NULL,
        source_id INTEGER NOT NULL DEFAULT 0, file TEXT NOT NULL DEFAULT '',
        UNIQUE (source, target, relation, source_id, file))""",
    "CREATE INDEX edge_by_target ON edge(target, relation)",
    "CREATE INDEX edge_by_file ON edge(source_id, file)",
    """CREATE TABLE vector_space(
        id INTEGER PRIMARY KEY, space TEXT NOT NULL, model TEXT NOT NULL, dimensions INTEGER NOT NULL,
        UNIQUE (space, model))""",
    """CREATE TABLE vector_state(
        space_id INTEGER NOT NULL REFERENCES vector_space(id) ON DELETE CASCADE, node_id INTEGER NOT NULL,
        content_hash TEXT NOT NULL, PRIMARY KEY (space_id, node_id)) WITHOUT ROWID""",
    "CREATE INDEX vector_state_by_node ON vector_state(node_id)",
)


def full_text(table: str) -> str:
    """Return the statement that creates a full-text table of this name.

    Words are split before they are stored, so that `porter unicode61` is enough: any SQLite with FTS5 can read it.
    """
    return f"CREATE VIRTUAL TABLE {table} USING fts5(name, description, body, tokenize = 'porter unicode61')"


MIGRATIONS = (
    Migration(
        1,
        "graph, text, vectors, events",
        (
            *CORE,
            "INSERT INTO meta VALUES ('revision', 0)",
            """CREATE TABLE source(
                id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, location TEXT NOT NULL,
                repository TEXT NOT NULL DEFAULT '', commit_sha TEXT NOT NULL DEFAULT '',
                added_at TEXT NOT NULL, ingested_at TEXT NOT NULL)""",
            """CREATE TABLE file(
                source_id INTEGER NOT NULL REFERENCES source(id) ON DELETE CASCADE, path TEXT NOT NULL,
                content_hash TEXT NOT NULL, skipped TEXT NOT NULL DEFAULT '',
                PRIMARY KEY (source_id, path)) WITHOUT ROWID""",
            """CREATE TABLE component(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, type TEXT NOT NULL,
                description TEXT NOT NULL, body TEXT NOT NULL, code TEXT NOT NULL, examples TEXT NOT NULL,
                front_matter TEXT NOT NULL, allowed_tools TEXT NOT NULL, repository TEXT NOT NULL, path TEXT NOT NULL,
                plugin TEXT NOT NULL, marketplace TEXT NOT NULL, licence TEXT NOT NULL, content_hash TEXT NOT NULL,
                first_commit TEXT NOT NULL, last_commit TEXT NOT NULL, installed INTEGER NOT NULL,
                install TEXT NOT NULL, popularity REAL NOT NULL, version INTEGER NOT NULL)""",
            "CREATE INDEX component_by_hash ON component(content_hash)",
            full_text("component_text"),
            # AUTOINCREMENT: the number of a deleted event is never used again, so that "all since N" stays correct.
            """CREATE TABLE event(
                id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, kind TEXT NOT NULL,
                session TEXT NOT NULL DEFAULT '', project TEXT NOT NULL DEFAULT '', request TEXT NOT NULL DEFAULT '',
                node TEXT NOT NULL DEFAULT '', data TEXT NOT NULL DEFAULT '{}')""",
            "CREATE INDEX event_by_session ON event(session, id)",
            "CREATE INDEX event_by_kind ON event(kind, id)",
            """CREATE TRIGGER event_is_not_changed BEFORE UPDATE ON event
               BEGIN SELECT raise(ABORT, 'events are append-only'); END""",
            # Events may be deleted only while `meta` has the row `forgetting`, which exists inside a transaction alone.
            """CREATE TRIGGER event_is_not_deleted BEFORE DELETE ON event
               WHEN NOT EXISTS (SELECT 1 FROM meta WHERE key = 'forgetting')
               BEGIN SELECT raise(ABORT, 'events are append-only'); END""",
            "CREATE TABLE mute(target TEXT PRIMARY KEY, scope TEXT NOT NULL, at TEXT NOT NULL) WITHOUT ROWID",
            """CREATE TABLE correction(
                node_key TEXT PRIMARY KEY, capabilities TEXT NOT NULL, at TEXT NOT NULL) WITHOUT ROWID""",
        ),
    ),
    Migration(
        2,
        "flags of static checks, and what a person accepted",
        (
            "ALTER TABLE component ADD COLUMN flags TEXT NOT NULL DEFAULT '[]'",
            "ALTER TABLE component ADD COLUMN risk INTEGER NOT NULL DEFAULT 0",
            # Without this index, a query for risky components would page through all bodies.
            "CREATE INDEX component_by_risk ON component(risk, content_hash) WHERE risk > 0",
            # Keyed by content: a copy of an accepted component is accepted, and a changed component is not.
            """CREATE TABLE acceptance(
                content_hash TEXT PRIMARY KEY, node_key TEXT NOT NULL, at TEXT NOT NULL) WITHOUT ROWID""",
        ),
    ),
    Migration(
        3,
        "what is alike",
        (
            # One MinHash sketch for each text, however many components have it; `stamp` identifies its input.
            """CREATE TABLE carried_text(
                node_id INTEGER PRIMARY KEY REFERENCES component(node_id) ON DELETE CASCADE,
                stamp TEXT NOT NULL, text_hash TEXT NOT NULL)""",
            "CREATE INDEX carried_text_by_hash ON carried_text(text_hash)",
            "CREATE TABLE sketch(text_hash TEXT PRIMARY KEY, signature BLOB NOT NULL) WITHOUT ROWID",
            """CREATE TABLE text_pair(
                low TEXT NOT NULL, high TEXT NOT NULL, jaccard REAL NOT NULL, PRIMARY KEY (low, high)) WITHOUT ROWID""",
            # Without a reference to a source: a dismissal holds even if the components are removed and read again.
            """CREATE TABLE dismissal(
                low TEXT NOT NULL, high TEXT NOT NULL, kind TEXT NOT NULL, content TEXT NOT NULL, at TEXT NOT NULL,
                PRIMARY KEY (low, high, kind)) WITHOUT ROWID""",
        ),
    ),
    Migration(
        4,
        "what components say of each other",
        (
            "ALTER TABLE carried_text ADD COLUMN words INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE carried_text ADD COLUMN said TEXT NOT NULL DEFAULT '[]'",
        ),
    ),
    Migration(
        5,
        "what is silent in one project alone",
        (
            "ALTER TABLE mute RENAME TO mute_everywhere",
            # project: the project in which the target is muted, empty for everywhere; how: muted or dismissed
            """CREATE TABLE mute(
                target TEXT NOT NULL, project TEXT NOT NULL, scope TEXT NOT NULL, how TEXT NOT NULL, at TEXT NOT NULL,
                PRIMARY KEY (target, project)) WITHOUT ROWID""",
            "INSERT INTO mute SELECT target, '', scope, 'muted', at FROM mute_everywhere",
            "DROP TABLE mute_everywhere",
        ),
    ),
    Migration(
        6,
        "advisories on packages, and components that left their source",
        (
            # Read from a person's own files: a record outlives every source, and is matched again when versions change.
            """CREATE TABLE advisory(
                ecosystem TEXT NOT NULL, package TEXT NOT NULL, id TEXT NOT NULL, data TEXT NOT NULL, at TEXT NOT NULL,
                PRIMARY KEY (ecosystem, package, id)) WITHOUT ROWID""",
            # Not in the event log: deleting past requests must not delete the fact that a component is gone.
            """CREATE TABLE departed(
                type TEXT NOT NULL, name TEXT NOT NULL COLLATE NOCASE, source TEXT NOT NULL, at TEXT NOT NULL,
                PRIMARY KEY (type, name)) WITHOUT ROWID""",
        ),
    ),
    Migration(
        7,
        "whose a component is that another client reads",
        (
            "ALTER TABLE component ADD COLUMN client TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE component ADD COLUMN client_reason TEXT NOT NULL DEFAULT ''",
            "CREATE INDEX component_by_client ON component(client) WHERE client <> ''",
        ),
    ),
    Migration(
        8,
        "traces of what was solved",
        (
            # `token` confirms a draft; an amended trace stays, in the state `superseded`.
            """CREATE TABLE trace(
                node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, title TEXT NOT NULL,
                context TEXT NOT NULL, solution TEXT NOT NULL, tags TEXT NOT NULL, environment TEXT NOT NULL,
                outcome TEXT NOT NULL, status TEXT NOT NULL, review_after TEXT NOT NULL, watch TEXT NOT NULL,
                uses TEXT NOT NULL, signatures TEXT NOT NULL, session TEXT NOT NULL, project TEXT NOT NULL,
                author TEXT NOT NULL, licence TEXT NOT NULL, version INTEGER NOT NULL, supersedes TEXT NOT NULL,
                flags TEXT NOT NULL, at TEXT NOT NULL, token TEXT NOT NULL)""",
            "CREATE INDEX trace_by_status ON trace(status)",
            full_text("trace_text"),
        ),
    ),
    Migration(
        9,
        "what a person ingested, where Claude Code's clone is read in its place",
        ("ALTER TABLE source ADD COLUMN given TEXT NOT NULL DEFAULT ''",),
    ),
    Migration(
        10,
        "what a component in another language says, in English",
        ("ALTER TABLE component ADD COLUMN english TEXT NOT NULL DEFAULT ''",),
    ),
    Migration(
        11,
        "what cannot be installed, without a look at every component",
        (
            """CREATE INDEX component_not_installable ON component(node_id)
               WHERE NOT installed AND install IN ('', '[]')""",
        ),
    ),
    Migration(
        12,
        "who may start a component",
        (
            "ALTER TABLE component ADD COLUMN invocation TEXT NOT NULL DEFAULT ''",
            "CREATE INDEX component_for_nobody ON component(node_id) WHERE invocation = 'nobody'",
        ),
    ),
)
NEWEST = MIGRATIONS[-1].number  # for measurements and tests; a hook reads its own copy, which a test compares
# The table that holds the numbers of the migrations that were applied.
RECORD = "CREATE TABLE migration(number INTEGER PRIMARY KEY, name TEXT NOT NULL, at TEXT NOT NULL)"


def migrate(connection: Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Apply the migrations that are missing; several processes may do so at once.

    Raises:
        StoreReadOnly: migrations are missing and the file cannot be written.
        StoreFull: migrations are missing and the disk is full.
    """
    missing = [migration for migration in migrations if migration.number > connection.schema]
    if missing and connection.read_only:
        due = (
            f"{connection.path} needs to be brought up to date (schema {connection.schema}, this version reads "
            f"{missing[-1].number})"
        )
        if lacks_space(connection.path):  # it is opened to read then, as if it could not be written from here
            message = f"{due} and no space is left on its disk; free some and run it again"
            raise StoreFull(message)
        message = (
            f"{due} and cannot be written from here; run `repertoire status` where it can, "
            "or set REPERTOIRE_HOME to a writable folder"
        )
        raise StoreReadOnly(message)
    if missing:
        connection.define("words_of", lambda text: index_text(with_pairs(text)))
    for migration in missing:
        with connection.transaction():
            if connection.schema < migration.number:  # else another process has applied it meanwhile
                _apply(connection, migration)


def _apply(connection: Connection, migration: Migration) -> None:
    connection.execute(RECORD.replace("TABLE", "TABLE IF NOT EXISTS", 1))
    for statement in migration.statements:
        connection.execute(statement)
    connection.execute(
        "INSERT INTO migration VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
        (migration.number, migration.name),
    )
    # Also in the file header, so that a newer schema is recognised before SQLite opens the file.
    connection.execute(f"PRAGMA user_version = {migration.number:d}")
