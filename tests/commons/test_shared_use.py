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

ONE, TWO, *_ = (entry.id for entry in load().components)
TEAM = "team"


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

    def report(self, names: str, *components: str) -> None:
        for name in names:
            self.use.report(self.member(name), components)

    def told(self, community: str = TEAM) -> dict[str, int]:
        return dict(self.use.released(self.member("z", community)).components)

    def passes(self, days: int) -> None:
        for table in ("use_report", "use_release"):
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
    assert community.use.report(community.member("a"), ["our-secret-tool", ONE]) == 1
    community.use.report(community.member("b"), [ONE])
    community.use.withdraw(community.member("b"))
    assert community.rows("SELECT member, components, released FROM use_report ORDER BY member") == [
        ("a", [ONE], []),
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
