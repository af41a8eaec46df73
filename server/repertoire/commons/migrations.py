"""The numbered steps that bring a PostgreSQL database to the schema of a commons, one process at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psycopg
from procrastinate.schema import SchemaManager
from psycopg import sql

from repertoire.domain.errors import NewerStore, StoreReadOnly

Connection = psycopg.Connection[tuple[object, ...]]

ROLE = "repertoire_commons"  # what a server's connections act as where its own role could pass row-level security
DIMENSIONS = 384  # of the bundled model
_LOCK = 7_203_115_001  # the advisory lock that a migration holds
_TENANT_TABLES = ("community", "member", "api_key", "trace", "trace_signature", "vote", "flag")

_TABLES = f"""
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE community (
  community text PRIMARY KEY, revision bigint NOT NULL DEFAULT 0, votes bigint NOT NULL DEFAULT 0,
  traces bigint NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0, created text NOT NULL);
CREATE TABLE member (
  community text NOT NULL REFERENCES community, member text NOT NULL, vouched boolean NOT NULL DEFAULT false,
  created text NOT NULL, PRIMARY KEY (community, member));
CREATE TABLE api_key (
  community text NOT NULL, id text NOT NULL, member text NOT NULL, hash bytea NOT NULL, scopes text[] NOT NULL,
  created text NOT NULL, expires text NOT NULL, revoked text NOT NULL DEFAULT '',
  PRIMARY KEY (community, id), FOREIGN KEY (community, member) REFERENCES member);
CREATE TABLE trace (
  community text NOT NULL REFERENCES community, number bigint NOT NULL, revision bigint NOT NULL, key text NOT NULL,
  title text NOT NULL, context text NOT NULL, solution text NOT NULL, tags text[] NOT NULL, environment jsonb NOT NULL,
  outcome text NOT NULL, status text NOT NULL, review_after text NOT NULL, watch text NOT NULL, uses text[] NOT NULL,
  signatures jsonb NOT NULL, author text NOT NULL, licence text NOT NULL, version int NOT NULL,
  supersedes text NOT NULL, flags jsonb NOT NULL, at text NOT NULL,
  words text NOT NULL, length int NOT NULL, lexemes tsvector NOT NULL,
  model text NOT NULL DEFAULT '', problem halfvec({DIMENSIONS}), solution_vector halfvec({DIMENSIONS}),
  PRIMARY KEY (community, number), UNIQUE (community, key));
CREATE INDEX trace_revision ON trace (community, revision);
CREATE INDEX trace_pending ON trace (community, number) WHERE problem IS NULL;
CREATE INDEX trace_lexemes ON trace USING gin (lexemes);
CREATE INDEX trace_problem ON trace USING hnsw (problem halfvec_cosine_ops) WITH (m = 16, ef_construction = 64);
CREATE INDEX trace_solution ON trace
  USING hnsw (solution_vector halfvec_cosine_ops) WITH (m = 16, ef_construction = 64);
CREATE TABLE trace_signature (
  community text NOT NULL, signature text NOT NULL, number bigint NOT NULL,
  PRIMARY KEY (community, signature, number), FOREIGN KEY (community, number) REFERENCES trace ON DELETE CASCADE);
CREATE TABLE vote (
  community text NOT NULL, trace text NOT NULL, voter text NOT NULL, up boolean NOT NULL, at text NOT NULL,
  tag text NOT NULL, note text NOT NULL, environment jsonb NOT NULL, revision bigint NOT NULL,
  PRIMARY KEY (community, trace, voter),
  FOREIGN KEY (community, trace) REFERENCES trace (community, key),
  FOREIGN KEY (community, voter) REFERENCES member);
CREATE INDEX vote_revision ON vote (community, revision);
CREATE TABLE flag (
  community text NOT NULL, trace text NOT NULL, member text NOT NULL, reason text NOT NULL, at text NOT NULL,
  PRIMARY KEY (community, trace, member), FOREIGN KEY (community, trace) REFERENCES trace (community, key));
"""
_GOVERNED_TABLES = ("rate", "idempotent", "audit", "ban")
_GOVERNANCE = """
ALTER TABLE community ADD COLUMN audited bigint NOT NULL DEFAULT 0;
ALTER TABLE api_key ADD COLUMN tier text NOT NULL DEFAULT 'usual';
ALTER TABLE trace ADD COLUMN was text NOT NULL DEFAULT '';
ALTER TABLE vote ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;
CREATE INDEX trace_author ON trace (community, author, at);
CREATE TABLE rate (
  community text NOT NULL, key text NOT NULL, writes boolean NOT NULL, hour bigint NOT NULL, requests int NOT NULL,
  PRIMARY KEY (community, key, writes, hour));
CREATE TABLE idempotent (
  community text NOT NULL, key text NOT NULL, name text NOT NULL, digest bytea NOT NULL, made text NOT NULL,
  at text NOT NULL, PRIMARY KEY (community, key, name));
CREATE TABLE audit (
  community text NOT NULL REFERENCES community, number bigint NOT NULL, at text NOT NULL, member text NOT NULL,
  key text NOT NULL, action text NOT NULL, target text NOT NULL, reason text NOT NULL,
  PRIMARY KEY (community, number));
CREATE TABLE ban (
  community text NOT NULL, member text NOT NULL, by text NOT NULL, at text NOT NULL, reason text NOT NULL,
  PRIMARY KEY (community, member), FOREIGN KEY (community, member) REFERENCES member);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'the audit log is only ever added to'; END $$;
CREATE TRIGGER audit_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""
# Counting the rows of a common word takes PostgreSQL a tenth of a second at 100,000 traces, and a question has many.
_WORD_COUNTS = """
CREATE TABLE word_count (
  community text NOT NULL, lexeme text NOT NULL, traces int NOT NULL, PRIMARY KEY (community, lexeme))
  WITH (fillfactor = 70);
ALTER TABLE trace NO FORCE ROW LEVEL SECURITY;  -- which hides all rows of it from an owner who is no superuser
INSERT INTO word_count SELECT community, lexeme, count(*) FROM trace, unnest(tsvector_to_array(lexemes)) lexeme
  GROUP BY community, lexeme;
ALTER TABLE trace FORCE ROW LEVEL SECURITY;
CREATE FUNCTION count_words() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO word_count AS w SELECT NEW.community, lexeme, 1 FROM unnest(tsvector_to_array(NEW.lexemes)) lexeme
    ON CONFLICT (community, lexeme) DO UPDATE SET traces = w.traces + 1;
  RETURN NULL; END $$;
CREATE TRIGGER words_counted AFTER INSERT ON trace FOR EACH ROW EXECUTE FUNCTION count_words();
"""
# Vectors stay in their rows from now on: apart from them, a search reads each of 200 from another table.
# Blocks of 128 stay under 2 KB, above which PostgreSQL stores a value apart from its row.
# Read in place of the index of `trace.lexemes`, whose rows PostgreSQL must read to rank: 5,000 of 2 KB a question.
_POSTINGS = """
CREATE TABLE posting (
  community text NOT NULL, lexeme text NOT NULL, block int NOT NULL, entries bytea NOT NULL,
  PRIMARY KEY (community, lexeme, block)) WITH (fillfactor = 70);
ALTER TABLE trace NO FORCE ROW LEVEL SECURITY;
INSERT INTO posting
  SELECT community, lexeme, (place - 1) / 128, string_agg(entry, ''::bytea ORDER BY place) FROM (
    SELECT community, lexeme, row_number() OVER (PARTITION BY community, lexeme ORDER BY number) AS place,
      int8send(number) || int2send(cardinality(positions)::int2) || int4send(length) AS entry
    FROM trace, unnest(lexemes)) AS held
  GROUP BY 1, 2, 3;
ALTER TABLE trace FORCE ROW LEVEL SECURITY;
CREATE OR REPLACE FUNCTION count_words() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  WITH held AS (SELECT lexeme, cardinality(positions)::int2 AS times FROM unnest(NEW.lexemes)),
  counted AS (
    INSERT INTO word_count AS w SELECT NEW.community, lexeme, 1 FROM held
      ON CONFLICT (community, lexeme) DO UPDATE SET traces = w.traces + 1 RETURNING lexeme, traces)
  INSERT INTO posting AS p
    SELECT NEW.community, lexeme, (traces - 1) / 128,
      int8send(NEW.number) || int2send(times) || int4send(NEW.length)
    FROM counted JOIN held USING (lexeme)
    ON CONFLICT (community, lexeme, block) DO UPDATE SET entries = p.entries || excluded.entries;
  RETURN NULL; END $$;
DROP INDEX trace_lexemes;
ALTER TABLE trace ALTER problem SET STORAGE PLAIN, ALTER solution_vector SET STORAGE PLAIN;
"""
# The columns, indexes and storage are those of the first vectors. `community` says what both hold, see vectors.py.
# The policy lets the operator's commands and the workers list communities: their rows in `community`, nothing else.
_SECOND_VECTORS = f"""
ALTER TABLE trace ADD COLUMN second_model text NOT NULL DEFAULT '', ADD COLUMN second_problem halfvec({DIMENSIONS}),
  ADD COLUMN second_solution halfvec({DIMENSIONS});
ALTER TABLE trace ALTER second_problem SET STORAGE PLAIN, ALTER second_solution SET STORAGE PLAIN;
CREATE INDEX trace_second_pending ON trace (community, number) WHERE second_problem IS NULL;
CREATE INDEX trace_second_problem ON trace
  USING hnsw (second_problem halfvec_cosine_ops) WITH (m = 16, ef_construction = 64);
CREATE INDEX trace_second_solution ON trace
  USING hnsw (second_solution halfvec_cosine_ops) WITH (m = 16, ef_construction = 64);
ALTER TABLE community ADD COLUMN vector_columns smallint NOT NULL DEFAULT 1,
  ADD COLUMN first_model text NOT NULL DEFAULT '', ADD COLUMN second_model text NOT NULL DEFAULT '',
  ADD COLUMN filling boolean NOT NULL DEFAULT false;
CREATE POLICY listing ON community FOR SELECT USING (current_setting('repertoire.listing', true) = 'communities');
"""
# Counting the tags of 100,000 traces takes PostgreSQL an eighth of a second. A trigger, so that servers of the version
# before keep the counts too; rows are taken in the order of tags, so that two transactions never wait for each other.
_TAG_COUNTS = """
CREATE TABLE tag_count (
  community text NOT NULL, tag text NOT NULL, traces int NOT NULL, PRIMARY KEY (community, tag))
  WITH (fillfactor = 70);
CREATE FUNCTION count_tags() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO tag_count AS t SELECT community, tag, sum(times) FROM (
      SELECT OLD.community, unnest(OLD.tags) AS tag, -1 AS times WHERE OLD.status = 'active'
      UNION ALL SELECT NEW.community, unnest(NEW.tags), 1 WHERE NEW.status = 'active') AS changed
    GROUP BY community, tag HAVING sum(times) <> 0 ORDER BY community, tag
    ON CONFLICT (community, tag) DO UPDATE SET traces = t.traces + excluded.traces;
  RETURN NULL; END $$;
CREATE TRIGGER tags_counted AFTER INSERT OR DELETE OR UPDATE OF status, tags ON trace
  FOR EACH ROW EXECUTE FUNCTION count_tags();
ALTER TABLE trace NO FORCE ROW LEVEL SECURITY;
INSERT INTO tag_count SELECT community, tag, count(*) FROM trace, unnest(tags) tag WHERE status = 'active'
  GROUP BY community, tag;
ALTER TABLE trace FORCE ROW LEVEL SECURITY;
"""
# `released`: what the last release counted of the member; NULL after the report was withdrawn. See shared_use.py.
_SHARED_USE = """
CREATE TABLE use_report (
  community text NOT NULL, member text NOT NULL, components text[] NOT NULL, released text[] DEFAULT '{}',
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (community, member), FOREIGN KEY (community, member) REFERENCES member);
CREATE TABLE use_release (
  community text PRIMARY KEY REFERENCES community, components jsonb NOT NULL, at timestamptz NOT NULL DEFAULT now());
"""
# The tables of shared use again: for what was offered and not used, and for outcomes, which are random answers.
_OFFERS_AND_OUTCOMES = "".join(
    f"""
CREATE TABLE {name}_report (LIKE use_report INCLUDING ALL, FOREIGN KEY (community, member) REFERENCES member);
CREATE TABLE {name}_release (LIKE use_release INCLUDING ALL, FOREIGN KEY (community) REFERENCES community);
"""
    for name in ("offer", "outcome")
)
_MORE_SHARED = ("offer_report", "offer_release", "outcome_report", "outcome_release")
# Files of packs are compressed already. A removed pack keeps its row, without the file.
_PACKS = """
CREATE TABLE pack (
  community text NOT NULL REFERENCES community, hash text NOT NULL, name text NOT NULL, version text NOT NULL,
  description text NOT NULL, licence text NOT NULL, bytes bigint NOT NULL, member text NOT NULL, at text NOT NULL,
  content bytea, PRIMARY KEY (community, hash));
ALTER TABLE pack ALTER content SET STORAGE EXTERNAL;
"""
# A new process reads the state of every trace: from the index, because the table of a million traces has gigabytes.
_STATES = """
CREATE INDEX trace_states ON trace (community, revision) INCLUDE (number, status);
DROP INDEX IF EXISTS trace_revision;  -- in a database that was partitioned it has another name, and stays
"""


def _isolation(tables: tuple[str, ...]) -> str:
    return "".join(
        f"""
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON {table} USING (community = current_setting('repertoire.community', true));
"""
        for table in tables
    )


class Step(NamedTuple):
    """One step: its name, its SQL, and how many steps a server must know at least to run on a schema that has it."""

    name: str
    statements: Callable[[], str]
    needs: int


# A step may add, never remove what the version before it reads: both run side by side while a team updates its servers.
STEPS = (
    Step("tables", lambda: _TABLES, 1),
    Step("row-level security", lambda: _isolation(_TENANT_TABLES), 2),
    Step("jobs", SchemaManager.get_schema, 3),
    Step("limits, audit and bans", lambda: _GOVERNANCE + _isolation(_GOVERNED_TABLES), 3),
    Step("counts of words", lambda: _WORD_COUNTS + _isolation(("word_count",)), 3),
    Step("postings of words", lambda: _POSTINGS + _isolation(("posting",)), 3),
    Step("second vectors", lambda: _SECOND_VECTORS, 3),
    Step("counts of tags", lambda: _TAG_COUNTS + _isolation(("tag_count",)), 3),
    Step("shared use", lambda: _SHARED_USE + _isolation(("use_report", "use_release")), 3),
    Step("packs", lambda: _PACKS + _isolation(("pack",)), 3),
    Step("states of traces", lambda: _STATES, 3),
    Step("shared offers and outcomes", lambda: _OFFERS_AND_OUTCOMES + _isolation(_MORE_SHARED), 3),
)


def migrate(url: str) -> None:
    """Apply the steps that a database does not have yet, each in a transaction; other processes wait meanwhile.

    A database with newer steps is left as it is, if those allow servers of this version.

    Raises:
        NewerStore: a newer Repertoire has applied a step with which this one cannot work.
        StoreReadOnly: steps are missing, and the connection's role may not apply them.
    """
    with _own_words(), psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
        connection.execute("CREATE TABLE IF NOT EXISTS migration (step int PRIMARY KEY, name text, at timestamptz)")
        connection.execute("ALTER TABLE migration ADD COLUMN IF NOT EXISTS needs int NOT NULL DEFAULT 0")
        row = connection.execute("SELECT coalesce(max(step), 0), coalesce(max(needs), 0) FROM migration").fetchone()
        done, needs = row or (0, 0)
        if needs > len(STEPS):
            message = (
                f"the commons' database is at step {done} and needs servers that know {needs} steps, this Repertoire "
                f"knows {len(STEPS)}; update Repertoire"
            )
            raise NewerStore(message)
        for number, step in enumerate(STEPS[done:], done + 1):
            with connection.transaction():
                connection.execute(step.statements().encode())
                connection.execute("INSERT INTO migration VALUES (%s, %s, now(), %s)", (number, step.name, step.needs))
        _allow(connection)  # also on a restored database, whose dump may lack what was granted


@contextmanager
def _own_words() -> Iterator[None]:
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        message = (
            f"this role may not bring the commons' database up to date ({str(error).splitlines()[0]}); start a server "
            "once as the role that owns the tables"
        )
        raise StoreReadOnly(message) from error


def is_privileged(connection: psycopg.Connection[tuple[object, ...]]) -> bool:
    """Tell whether the connection's own role passes row-level security, so that it must act as ROLE."""
    row = connection.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user").fetchone()
    return bool(row and row[0])


def _allow(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Grant ROLE all tables, if the connection's own role passes row-level security."""
    if not is_privileged(connection):
        return
    role = sql.Identifier(ROLE)
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone():
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN NOSUPERUSER NOBYPASSRLS").format(role))
    connection.execute(sql.SQL("GRANT ALL ON ALL TABLES IN SCHEMA public TO {}").format(role))
    connection.execute(sql.SQL("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {}").format(role))
