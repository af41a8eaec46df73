"""Members tell a community which public components they use: nobody's own, no single report, no difference of few."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

from repertoire.catalogue.reading import load
from repertoire.commons.database import Database
from repertoire.commons.keys import Caller
from repertoire.commons.migrations import migrate
from repertoire.commons.shared_use import SharedUse
from repertoire.learning.shared_use import FAILED, WORKED, OwnUse, TeamUse

ONE, TWO, *_ = (entry.id for entry in load().components)
TEAM = "team"
TABLES = [f"{name}_{part}" for name in ("use", "offer", "outcome") for part in ("report", "release")]


class Community:
    """A community, and time that passes in it."""

    def __init__(self, address: str) -> None:
        self.address, self._database = address, Database(address)
        self._database.open()
        self.use = SharedUse(self._database)
        self._execute("INSERT INTO community (community, created) VALUES ('team', ''), ('rivals', '')")

    def member(self, name: str, community: str = TEAM) -> Caller:
        self._execute("INSERT INTO member VALUES (%s, %s, false, '') ON CONFLICT DO NOTHING", (community, name))
        return Caller(community, name, "key", frozenset(), "usual", False)

    def report(self, names: str, *components: str, passed_over: str = "", outcome: str = "") -> None:
        for name in names:
            outcomes = dict.fromkeys(components, outcome) if outcome else {}
            self.use.report(self.member(name), OwnUse(components, (passed_over,) * bool(passed_over), outcomes))

    def told(self, community: str = TEAM) -> dict[str, int]:
        return {key: told.used for key, told in self.tells(community).items() if told.used}

    def tells(self, community: str = TEAM) -> dict[str, TeamUse]:
        return dict(self.use.released(self.member("z", community)).components)

    def passes(self, days: int) -> None:
        for table in TABLES:
            self._execute(f"UPDATE {table} SET at = at - make_interval(days => %s)", (days,))

    def rows(self, question: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.address) as connection:
            return connection.execute(question.encode()).fetchall()

    def _execute(self, statement: str, values: tuple[object, ...] = ()) -> None:
        with psycopg.connect(self.address) as connection:
            connection.execute(statement.encode(), values)

    def close(self) -> None:
        self._database.close()


@pytest.fixture
def community(postgres: Callable[[str], str], request: pytest.FixtureRequest) -> Iterator[Community]:
    address = postgres(request.node.name[:60])
    migrate(address)
    made = Community(address)
    yield made
    made.close()


def test_five_members_show_what_they_share_and_the_next_four_changes_show_nothing(community: Community):
    community.report("abcd", ONE)
    assert community.told() == {}
    community.report("e", ONE, TWO)
    assert community.told() == {ONE: 5}
    community.passes(8)
    for name in "abcd":  # each of the four comes and goes, and comes again
        community.use.withdraw(community.member(name))
        assert community.told() == {ONE: 5}
        community.report(name, TWO)
        assert community.told() == {ONE: 5}
    community.report("e", TWO)
    assert community.told() == {TWO: 5}
    assert community.told("rivals") == {}


def test_a_release_stands_for_a_week_whatever_is_reported(community: Community):
    community.report("abcde", ONE)
    assert community.told() == {ONE: 5}
    community.report("abcdefghijk", TWO)
    assert community.told() == {ONE: 5}
    community.passes(8)
    assert community.told() == {TWO: 10}


def test_what_no_catalogue_names_is_not_stored_and_what_is_withdrawn_is_gone(community: Community):
    secret = "our-secret-tool"
    said = OwnUse((secret, ONE), (secret, TWO), {secret: WORKED, ONE: WORKED})
    assert community.use.report(community.member("a"), said) == 1
    community.use.report(community.member("b"), said)
    community.use.withdraw(community.member("b"))
    for table, kept in (("use_report", ONE), ("offer_report", TWO), ("outcome_report", f"worked {ONE}")):
        assert community.rows(f"SELECT member, components, released FROM {table} ORDER BY member") == [
            ("a", [kept], []),
            ("b", [], None),
        ]


def test_what_was_not_renewed_for_long_and_what_a_banned_member_reports_counts_no_more(community: Community):
    community.report("abcdef", ONE)
    assert community.told() == {ONE: 5}
    community.passes(91)
    community.report("abcd", ONE, TWO)
    with psycopg.connect(community.address) as connection:
        connection.execute("INSERT INTO ban VALUES ('team', 'a', 'z', '', '')")
    assert community.told() == {}  # three report it, three went; all six changed
    assert community.rows("SELECT member, released FROM use_report WHERE released = '{}'") == [("a", [])]


def test_offers_and_outcomes_are_told_from_five_on_each_by_itself(community: Community):
    community.report("abcd", ONE, passed_over=TWO, outcome=WORKED)
    assert community.tells() == {}
    community.report("e", ONE)
    assert community.tells() == {ONE: TeamUse(5)}, "five use it, four passed over the other, four answered"
    community.passes(8)
    community.report("e", ONE, passed_over=TWO, outcome=FAILED)
    assert community.tells() == {ONE: TeamUse(5, worked=0.7), TWO: TeamUse(0, offered=5)}
    community.passes(8)
    community.report("fghij", TWO)
    assert community.tells() == {ONE: TeamUse(5, worked=0.7), TWO: TeamUse(5, offered=10)}
    assert community.tells("rivals") == {}


def test_who_changes_offers_alone_lets_nobody_see_the_use_that_one_other_changed(community: Community):
    community.report("abcde", ONE)
    assert community.told() == {ONE: 5}
    community.passes(8)
    community.report("abcd", ONE, passed_over=TWO, outcome=WORKED)  # four who act together
    community.report("e")
    assert community.tells() == {ONE: TeamUse(5)}, "that e uses it no more would show"
    community.report("f", ONE, passed_over=TWO, outcome=FAILED)
    assert community.tells() == {ONE: TeamUse(5, worked=0.7), TWO: TeamUse(0, offered=5)}


def test_four_who_come_and_go_see_the_same_outcome_of_the_fifth_however_often(community: Community):
    community.report("abcde", ONE, outcome=WORKED)
    first = community.tells()
    for _ in range(3):
        community.passes(8)
        for name in "abcd":
            community.use.withdraw(community.member(name))
            assert community.tells() == first
            community.report(name, ONE, outcome=FAILED)
    assert first == {ONE: TeamUse(5, worked=0.7)}
