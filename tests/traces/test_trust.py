"""Trust follows the votes of those who have a record, fades, and cannot be made or broken by invented voters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.trace import FAILED, ME, WORKED, Trace, Trust, Vote
from repertoire.rendering.traces import trusted
from repertoire.traces.reputation import NEWCOMER, reputation
from repertoire.traces.trust import latest, trust

TODAY = date(2026, 6, 1)
TAGS = ("python",)
NAMES = st.sampled_from(["ann", "ben", "cid", "dee", "eve"])
DAYS = st.integers(0, 900)


def day(age: int) -> str:
    return f"{TODAY - timedelta(days=age)}T12:00:00Z"


def trace(key: str = "trace:a", author: str = "ann", outcome: str = WORKED) -> Trace:
    return Trace(key, "t", "c", "s", TAGS, outcome=outcome, author=author, at=day(10))


VOTES = st.lists(
    st.builds(lambda who, up, age: Vote("trace:a", who, up, day(age)), NAMES, st.booleans(), DAYS), max_size=20
)


def bound(votes: list[Vote], *, author: str = "ann", vouched: frozenset[str] = frozenset()) -> float:
    return rated(votes, author=author, vouched=vouched).bound


def rated(votes: list[Vote], *, author: str = "ann", vouched: frozenset[str] = frozenset()) -> Trust:
    told = {"trace:a": (author, TAGS)}
    return trust(trace(author=author), votes, reputation(votes, told, TODAY, trusted=vouched), TODAY)


@given(VOTES, st.randoms())
def test_trust_is_a_share_and_to_the_last_digit_the_same_in_whatever_order_votes_are_read(votes, draw) -> None:
    votes = [vote for number, vote in enumerate(votes) if vote.at not in {other.at for other in votes[:number]}]
    assert 0 <= bound(votes) <= 1
    assert bound(votes) == bound(draw.sample(votes, len(votes)))


def test_the_order_in_which_many_votes_are_read_changes_no_digit_of_trust_or_reputation() -> None:
    votes = [Vote("trace:a", f"voter{n}", up=n % 3 > 0, at=day(7 * n)) for n in range(60)]
    told = {"trace:a": ("ann", TAGS)}
    orders = [votes, votes[::-1], votes[1::2] + votes[::2]]
    vouched = frozenset(vote.voter for vote in votes)
    weighed = [reputation(order, told, TODAY, trusted=vouched) for order in orders]
    assert len({trust(trace(), order, found, TODAY).bound for order, found in zip(orders, weighed, strict=True)}) == 1
    assert len({found.weights["ann", "python"] for found in weighed}) == 1


@given(VOTES, NAMES.filter(lambda name: name != "ann"))
def test_one_more_voice_for_a_trace_never_lowers_it_and_one_against_never_raises_it(votes, who) -> None:
    others = [vote for vote in votes if vote.voter != who]
    ups, downs = ([*others, Vote("trace:a", who, up, day(0))] for up in (True, False))
    assert bound(ups) >= bound(others) - 1e-9 >= bound(downs) - 2e-9


@given(VOTES, NAMES)
def test_a_voter_has_one_voice_and_the_last_word_counts(votes: list[Vote], who: str) -> None:
    last = Vote("trace:a", who, up=True, at=day(0).replace("12:", "13:"))
    assert [vote for vote in latest([*votes, last]) if vote.voter == who] == [last]


@given(VOTES)
def test_an_author_cannot_vote_for_an_own_trace(votes: list[Vote]) -> None:
    assert bound(votes) == bound([vote for vote in votes if vote.voter != "ann"])


def test_an_authors_own_vote_is_told_as_nobodys_confirmation_and_as_nobodys_complaint() -> None:
    own = [Vote("trace:a", "ann", up=True, at=day(1)), Vote("trace:a", "ann", up=False, at=day(0), tag="wrong")]
    bens = Vote("trace:a", "ben", up=True, at=day(3))
    for votes in (own[:1], own):
        assert rated(votes) == rated([])
        assert trusted(rated(votes), trace()) == "worked for its author; nobody else has tried it yet"
        assert trusted(rated([*votes, bens]), trace()).startswith(f"worked 1 of 1 time, last tried on {day(3)[:10]}")


def test_a_person_on_an_own_machine_is_believed() -> None:
    said = [Vote("trace:a", ME, up=False, at=day(0))]
    assert bound(said, author=ME, vouched=frozenset((ME,))) < bound([], author=ME)


def test_what_failed_is_trusted_less_than_what_worked_before_anybody_voted() -> None:
    nobody = reputation([], {}, TODAY)
    assert trust(trace(outcome=FAILED), [], nobody, TODAY).high < trust(trace(), [], nobody, TODAY).high


def test_votes_fade() -> None:
    assert bound([Vote("trace:a", "ben", up=True, at=day(0))]) > bound([Vote("trace:a", "ben", up=True, at=day(400))])


class Commons:
    """Ten people with a record in one domain, whose own traces others found good, and two traces to compare."""

    def __init__(self) -> None:
        self.told = {"good": ("p0", TAGS), "bad": ("mallory", TAGS)}
        self.votes = [Vote("good", f"p{n}", up=True, at=day(20)) for n in range(1, 6)]
        self.votes += [Vote("bad", f"p{n}", up=False, at=day(20)) for n in range(5, 8)]
        for author, number in ((n, k) for n in range(10) for k in range(4)):
            self.told[f"p{author}-{number}"] = (f"p{author}", TAGS)
            for voter in range(10):
                if voter != author:
                    self.votes.append(Vote(f"p{author}-{number}", f"p{voter}", up=True, at=day(30)))

    def bounds(self, *more: Vote) -> tuple[float, float]:
        return self._bounds(more, frozenset())

    def vouched(self, *more: Vote) -> tuple[float, float]:
        """Return the bounds where two of the ten are vouched for."""
        return self._bounds(more, frozenset(("p8", "p9")))

    def _bounds(self, more: Sequence[Vote], trusted: frozenset[str]) -> tuple[float, float]:
        votes = [*self.votes, *more]
        weighed = reputation(votes, self.told, TODAY, trusted=trusted)
        good, bad = (
            trust(trace(key, self.told[key][0]), [v for v in votes if v.trace == key], weighed, TODAY)
            for key in ("good", "bad")
        )
        return good.bound, bad.bound

    def average(self, *more: Vote) -> tuple[float, float]:
        votes = [*self.votes, *more]
        good, bad = ([vote.up for vote in votes if vote.trace == key] for key in ("good", "bad"))
        return sum(good) / len(good), sum(bad) / len(bad)


def sybils(number: int, *, ring: bool = False) -> tuple[Commons, list[Vote]]:
    """Return votes of so many invented voters: for the bad one, against the good one, in a ring also for each other."""
    commons, votes = Commons(), []
    for n in range(number):
        votes += [Vote("bad", f"s{n}", up=True, at=day(0)), Vote("good", f"s{n}", up=False, at=day(0))]
        if ring:
            commons.told[f"s{n}"] = (f"s{n}", TAGS)
            votes += [Vote(f"s{n}", f"s{other}", up=True, at=day(0)) for other in range(number) if other != n]
    return commons, votes


def against(number: int) -> tuple[Commons, list[Vote]]:
    """Return votes of so many invented voters against the good one alone."""
    return Commons(), [Vote("good", f"s{n}", up=False, at=day(0)) for n in range(number)]


def praise(number: int) -> tuple[Commons, list[Vote]]:
    """Return votes of so many invented voters for the bad one alone."""
    return Commons(), [Vote("bad", f"s{n}", up=True, at=day(0)) for n in range(number)]


def stolen(number: int) -> tuple[Commons, list[Vote]]:
    """Return the votes of so many with a record turned round: their keys are in other hands."""
    turned = [Vote(key, f"p{n}", up=key == "bad", at=day(0)) for n in range(1, number + 1) for key in ("good", "bad")]
    return Commons(), turned


MOST, KEYS = 60, 10
ATTACKS: Mapping[str, tuple[Callable[[int], tuple[Commons, list[Vote]]], int]] = {
    "invented voters, for the bad trace and against the good one": (sybils, MOST),
    "the same, in a ring that also praises its own traces": (partial(sybils, ring=True), MOST),
    "invented voters against the good trace alone": (against, MOST),
    "invented voters for the bad trace alone": (praise, MOST),
    "stolen keys of voters with a record, their votes turned round": (stolen, KEYS),
}
OPINIONS = [Vote("good", "p8", up=False, at=day(20)), Vote("bad", "p9", up=True, at=day(20))]


def needed(attack: str, figure: str) -> str:
    """Return how many false voters bring the bad trace above the good one, by a figure; `none` where no number does."""
    made, most = ATTACKS[attack]
    for number in range(1, most):
        commons, votes = made(number)
        good, bad = getattr(commons, figure)(*OPINIONS, *votes)
        if bad > good:
            return str(number)
    return "none"


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_needs_as_many_false_voters_as_the_page_says(attack: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "traces.md").read_text(encoding="utf-8")
    told = next(line for line in page.splitlines() if line.startswith(f"| {attack} |"))
    measured = [needed(attack, figure) for figure in ("average", "bounds", "vouched")]
    assert [cell.strip() for cell in told.strip("|").split("|")][1:] == measured


def test_no_number_of_invented_voters_brings_a_bad_trace_above_a_good_one() -> None:
    alone = [attack for attack in ATTACKS if "invented voters" in attack]
    assert [needed(attack, "bounds") for attack in alone] == ["none"] * 3


def test_a_ring_that_praises_its_own_traces_gains_by_it_only_where_nobody_is_vouched_for() -> None:
    ring = next(attack for attack in ATTACKS if "ring" in attack)
    assert int(needed(ring, "bounds")) >= 2 * int(needed(ring, "average"))
    assert needed(ring, "vouched") == "none"


def test_two_stolen_keys_do_not_suffice_where_five_spoke_for_the_good_trace_and_none_against() -> None:
    commons, votes = stolen(2)
    good, bad = commons.bounds(*votes)
    assert bad < good


def test_a_newcomer_weighs_little_and_a_record_much() -> None:
    commons = Commons()
    weighed = reputation(commons.votes, commons.told, TODAY)
    assert weighed.of("stranger", TAGS) == NEWCOMER
    assert weighed.of("p1", TAGS) > 4 * NEWCOMER
    assert weighed.of("p1", ("cooking",)) == NEWCOMER, "a record holds in its own domain"
