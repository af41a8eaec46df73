"""Steps of the schema: each happens once, whole or not at all, with the record that it did."""

from __future__ import annotations

import sqlite3
from types import SimpleNamespace

import pytest

from repertoire.domain.errors import NewerStore, StatementRefused, StoreFull, StoreReadOnly
from repertoire.store.connection import Connection
from repertoire.store.database import Store
from repertoire.store.graph import UNOBTAINABLE
from repertoire.store.migrations import MIGRATIONS, NEWEST, Migration, migrate
from repertoire.store.sources import SOURCES

NEXT = Migration(NEWEST + 1, "a next step", ("CREATE TABLE added(a)", "INSERT INTO added VALUES (1)"))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "repertoire.db"
    Store.open(path).close()
    return path


def opened(path, **options) -> Connection:
    return Connection(path, known_schema=NEXT.number, **options)


def test_the_steps_are_numbered_from_one_without_a_gap():
    assert [step.number for step in MIGRATIONS] == list(range(1, NEWEST + 1))


def test_every_step_that_was_applied_is_recorded_in_the_file_and_its_header(path):
    database = sqlite3.connect(path)
    assert [row[0] for row in database.execute("SELECT number FROM migration")] == [step.number for step in MIGRATIONS]
    assert database.execute("PRAGMA user_version").fetchone() == (NEWEST,)
    database.close()


def test_a_next_step_is_applied_once(path):
    connection = opened(path)
    for _ in range(2):
        migrate(connection, (*MIGRATIONS, NEXT))
    assert connection.rows("SELECT a FROM added") == [(1,)]
    assert connection.schema == NEXT.number
    connection.close()


def test_a_step_that_another_process_applies_first_is_not_applied_again(path):
    class Overtaken(Connection):
        def transaction(self):
            faster = opened(path)
            migrate(faster, (*MIGRATIONS, NEXT))
            faster.close()
            return super().transaction()

    connection = Overtaken(path, known_schema=NEXT.number)
    migrate(connection, (*MIGRATIONS, NEXT))
    assert connection.rows("SELECT a FROM added") == [(1,)]
    connection.close()


def test_a_step_that_fails_leaves_the_schema_before_it(path):
    connection = opened(path)
    broken = Migration(NEXT.number, "broken", (*NEXT.statements, "this is no SQL"))
    with pytest.raises(Exception, match="syntax error"):
        migrate(connection, (*MIGRATIONS, broken))
    assert connection.schema == NEWEST
    assert connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'added'") == 0
    assert connection.value("SELECT max(number) FROM migration") == NEWEST
    migrate(connection, (*MIGRATIONS, NEXT))
    assert connection.rows("SELECT a FROM added") == [(1,)]
    connection.close()


def test_an_older_schema_that_cannot_be_brought_up_to_date_is_named(path):
    connection = opened(path, read_only=True)
    with pytest.raises(StoreReadOnly, match=rf"{path} needs to be brought up to date \(schema {NEWEST}"):
        migrate(connection, (*MIGRATIONS, NEXT))
    connection.close()


def test_an_older_schema_on_a_full_disk_is_said_to_lack_space(path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    connection = opened(path, read_only=True)
    with pytest.raises(StoreFull, match=rf"{path} needs to be brought up to date .* free some"):
        migrate(connection, (*MIGRATIONS, NEXT))
    connection.close()


def test_a_statement_that_tables_of_a_newer_version_refuse_is_said_to_meet_a_newer_version(path):
    wider = Migration(NEWEST + 1, "a wider table", ("ALTER TABLE acceptance ADD COLUMN more",))
    older, newer = Connection(path, known_schema=NEWEST), opened(path)
    migrate(newer, (*MIGRATIONS, wider))
    with pytest.raises(NewerStore, match=rf"schema {NEWEST + 1}, this one knows {NEWEST}"):
        older.execute("INSERT INTO acceptance VALUES ('hash', 'key', 'now')")
    with pytest.raises(StatementRefused):
        newer.execute("INSERT INTO acceptance VALUES ('hash', 'key', 'now')")
    older.close()
    newer.close()


def test_what_nobody_can_have_is_found_without_a_look_at_every_component_also_in_an_older_file(tmp_path):
    connection = opened(tmp_path / "older.db")
    migrate(connection, MIGRATIONS[:10])
    migrate(connection)
    plan = [str(row[-1]) for row in connection.rows(f"EXPLAIN QUERY PLAN {UNOBTAINABLE}")]
    scans = [step for step in plan if step.startswith("SCAN ")]
    assert [step.rpartition(" ")[2] for step in scans] == [
        "component_by_client",
        "component_not_installable",
        "component_for_nobody",
    ]
    connection.close()


def test_the_components_of_each_source_are_counted_without_a_look_at_those_of_the_others(tmp_path):
    connection = opened(tmp_path / "home.db")
    migrate(connection)
    plan = [str(row[-1]) for row in connection.rows(f"EXPLAIN QUERY PLAN {SOURCES}")]
    assert "SEARCH n USING INDEX node_by_file (source_id=?)" in plan
