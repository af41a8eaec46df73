"""Events that a locked database could not take wait in the spool, and enter the log exactly once."""

from __future__ import annotations

from unittest.mock import Mock

import apsw
import pytest

from repertoire.app.person.forget import REQUESTS, forget
from repertoire.app.session.spool import of_session, record_answer, record_events, take_in
from repertoire.boot.spool import FOLDER, HEARD, put_off, waiting
from repertoire.domain.errors import StoreFull
from repertoire.domain.event import ASKED, OFFERED, SELECTED, Event
from repertoire.store.database import Store
from sample_home import SOURCE, fill

ROW = {"at": "2026-01-01T00:00:00Z", "kind": OFFERED, "session": "s", "project": "/p", "node": "a", "data": {"rank": 1}}


def test_it_comes_into_the_log_once_in_the_order_in_which_it_happened(tmp_path):
    put_off(tmp_path, [ROW])
    put_off(tmp_path, [{**ROW, "node": "b"}, {**ROW, "node": "c"}])
    with Store.open(tmp_path / "repertoire.db") as store:
        assert take_in(store) == 3
        assert take_in(store) == 0
        found = store.events.since(0)
    assert [event.node for event in found] == ["a", "b", "c"]
    assert found[0] == Event(ROW["at"], OFFERED, "s", "/p", "", "a", {"rank": 1}, found[0].id)


def test_what_a_home_that_cannot_be_written_does_not_hold_its_session_knows_all_the_same(tmp_path):
    shown = [Event(ROW["at"], OFFERED, "s", "/p", node="a"), Event(ROW["at"], ASKED, "s", data={"prompt": "private"})]
    Store.open(tmp_path / "repertoire.db").close()
    with Store.open(tmp_path / "repertoire.db", read_only=True) as store:
        record_events(store, shown)
        assert of_session(store, "s") == shown[:1], "of a person's words nothing is kept"
        assert of_session(store, "another") == []
    (tmp_path / FOLDER).write_text("no folder")
    with Store.open(tmp_path / "repertoire.db") as store:
        with pytest.raises(OSError, match=FOLDER):
            record_events(store, shown)
        assert of_session(store, "s") == shown[:1]


def test_whoever_is_killed_before_the_files_are_gone_doubles_nothing(tmp_path):
    put_off(tmp_path, [ROW, {**ROW, "node": "b"}])
    [file] = waiting(tmp_path)
    kept = file.read_bytes()
    with Store.open(tmp_path / "repertoire.db") as store:
        take_in(store)
        file.write_bytes(kept)
        take_in(store)
        assert store.events.count(OFFERED) == 2
    assert not waiting(tmp_path)


def test_what_happened_twice_within_a_second_is_there_twice_and_in_order(tmp_path):
    for number in range(200):
        put_off(tmp_path, [ROW, ROW, {**ROW, "node": str(number)}])
    with Store.open(tmp_path / "repertoire.db") as store:
        assert take_in(store) == 600
        found = [event.node for event in store.events.since(0)]
    assert [node for node in found if node != "a"] == list(map(str, range(200)))
    assert found.count("a") == 400


def test_a_session_sees_what_waits_and_what_is_in_the_log_once_each(tmp_path):
    put_off(tmp_path, [ROW])
    [file] = waiting(tmp_path)
    kept = file.read_bytes()
    with Store.open(tmp_path / "repertoire.db") as store:
        take_in(store)
        file.write_bytes(kept)  # as one who reads while a writer moves it finds it
        put_off(tmp_path, [{**ROW, "node": "b"}, {**ROW, "session": "another"}])
        assert [event.node for event in of_session(store, "s")] == ["a", "b"]


def test_only_its_owner_can_read_it_and_a_file_that_was_not_finished_is_none(tmp_path):
    put_off(tmp_path, [ROW])
    [file] = waiting(tmp_path)
    assert file.stat().st_mode & 0o077 == 0
    assert file.parent.stat().st_mode & 0o077 == 0
    file.rename(file.with_name(f".{file.name}"))
    assert not waiting(tmp_path)


@pytest.mark.parametrize("damaged", ["", "no JSON", "{}", '["text", 3]', "[[]]"])
def test_a_file_that_was_damaged_holds_nothing_up(tmp_path, damaged):
    put_off(tmp_path, [ROW])
    [file] = waiting(tmp_path)
    file.write_text(damaged)
    put_off(tmp_path, [{**ROW, "data": "text"}])
    with Store.open(tmp_path / "repertoire.db") as store:
        assert take_in(store) == 1
    assert not waiting(tmp_path)


def test_what_is_to_be_forgotten_is_forgotten_there_too(tmp_path):
    put_off(tmp_path, [ROW])
    with Store.open(tmp_path / "repertoire.db") as store:
        assert forget(store, REQUESTS).events == 1
        assert take_in(store) == 0
        assert store.events.since(0) == []


def test_a_use_that_nobody_had_looked_up_is_looked_up_when_it_is_taken_in_and_stands_there_once(tmp_path):
    use = {**ROW, "kind": HEARD, "node": "", "data": {"tool": "Skill", "name": "pdf-forms"}}
    with Store.open(tmp_path / "repertoire.db") as store:
        fill(store, installed=("pdf-forms",))
        asked = Event(ROW["at"], ASKED, "s", "/p", "request:1", data={"prompt": "fill PDF forms"})
        put_off(tmp_path, [{**use, "session": "t", "data": {"tool": "", "name": "nobody-knows"}}])
        put_off(tmp_path, [use])
        store.events.append([asked])
        assert take_in(store) == 2
        put_off(tmp_path, [use])
        take_in(store)
        used, unknown = sorted(store.events.recent(kinds=(SELECTED,)), key=lambda event: event.session)
    assert (used.node, used.request, used.data["name"]) == (
        f"{SOURCE.key}:skills/pdf-forms.md",
        "request:1",
        "pdf-forms",
    )
    assert (unknown.node, unknown.data["name"]) == ("", "nobody-knows")


def test_a_second_use_within_the_same_second_is_known_while_it_waits_in_the_spool(tmp_path):
    moment = ("2026-01-01T00:00:00Z", SELECTED, "s", "", "request:a", "a")
    with Store.open(tmp_path / "repertoire.db") as store:
        record_events(store, [Event(*moment)])
        take_in(store)
        record_events(store, [Event(*moment)])
        assert len(of_session(store, "s")) == 2
        take_in(store)
        assert len(of_session(store, "s")) == 2


def test_an_answer_given_while_another_process_writes_is_logged_later(tmp_path):
    path = tmp_path / "repertoire.db"
    with Store.open(path, wait=0.1) as store:
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        assert not record_answer(store, [Event(ROW["at"], OFFERED)])
        other.close()
        assert take_in(store) == store.events.count(OFFERED) == 1


def test_an_answer_on_a_full_disk_is_given_and_says_that_it_is_not_recorded(tmp_path, monkeypatch):
    with Store.open(tmp_path / "repertoire.db") as store:
        monkeypatch.setattr(store.events, "append", Mock(side_effect=StoreFull("no space left")))
        assert record_answer(store, [Event(ROW["at"], OFFERED)]) == "the answer is not recorded: no space left"
