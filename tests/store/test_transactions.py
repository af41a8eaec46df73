"""Blocks that happen whole or not at all, one in another."""

from __future__ import annotations

from contextlib import suppress

import pytest

from repertoire.domain.component import Node
from repertoire.domain.errors import StatementRefused, StoreError
from repertoire.domain.event import Event
from repertoire.store.database import Store
from store.samples import NOW, SOURCE, component, record


class Stop(Exception):
    """Raised by a test in the middle of a block."""


def log(store: Store, *kinds: str) -> None:
    store.events.append([Event(NOW, kind) for kind in kinds])


def kinds(store: Store) -> list[str]:
    return [event.kind for event in reversed(store.events.recent())]


def test_an_outer_failure_undoes_everything(store):
    with suppress(Stop), store.transaction():
        log(store, "a")
        with store.transaction():
            log(store, "b")
        raise Stop
    assert kinds(store) == []


def test_an_inner_failure_that_is_caught_undoes_the_inner_block_only(store):
    with store.transaction():
        log(store, "a")
        with suppress(Stop), store.transaction():
            log(store, "b")
            with store.transaction():
                log(store, "c")
            raise Stop
        log(store, "d")
    assert kinds(store) == ["a", "d"]


def test_the_revision_moves_once_for_a_block_and_not_for_what_was_undone_in_it(store):
    with store.transaction():
        with suppress(Stop), store.transaction():
            store.sources.add_node(Node("pattern:x", "pattern", "x"), now=NOW)
            raise Stop
        log(store, "a")
    assert store.graph.revision() == 0
    with store.transaction():
        store.sources.write(SOURCE, [record("a", component("acme:a"))], (), derived=(), now=NOW)
        store.sources.write(SOURCE, [record("b", component("acme:b"))], (), derived=(), now=NOW)
    assert store.graph.revision() == 1


def test_a_failed_block_does_not_leave_a_mark_on_the_next(store):
    with suppress(Stop), store.transaction():
        store.sources.add_node(Node("pattern:x", "pattern", "x"), now=NOW)
        raise Stop
    with store.transaction():
        log(store, "a")
    assert store.graph.revision() == 0


def test_going_on_in_a_block_whose_transaction_the_disk_ended_is_refused(store):
    @store.transaction()
    def block() -> None:
        log(store, "a")
        store._connection._db.execute("ROLLBACK")  # what SQLite does by itself when a disk is full
        log(store, "b")

    with pytest.raises(StoreError, match="undone by an earlier error"):
        block()
    assert kinds(store) == []
    log(store, "c")
    assert kinds(store) == ["c"]


def test_what_the_file_cannot_hold_is_a_typed_error_that_names_the_file_and_undoes_the_block(store, tmp_path):
    @store.transaction()
    def block() -> None:
        log(store, "a")
        store._connection.execute("INSERT INTO meta VALUES ('revision', 1)")

    with pytest.raises(StatementRefused, match=rf"{tmp_path}.*UNIQUE.*run it again"):
        block()
    assert kinds(store) == []


def test_reads_in_a_snapshot_see_one_state(store, tmp_path):
    with Store.open(tmp_path / "repertoire.db") as other, store.snapshot():
        assert store.events.count("a") == 0
        log(other, "a")
        assert store.events.count("a") == 0
        assert store.graph.topology().revision == 0
    assert store.events.count("a") == 1


def test_a_snapshot_inside_a_transaction_sees_what_it_wrote(store):
    with store.transaction():
        log(store, "a")
        with store.snapshot():
            assert store.events.count("a") == 1
    assert kinds(store) == ["a"]


def test_events_are_only_ever_added(store):
    log(store, "a")
    for statement in ("UPDATE event SET kind = 'b'", "DELETE FROM event"):
        with pytest.raises(StatementRefused, match="append-only"):
            store._connection.execute(statement)
    assert kinds(store) == ["a"]
