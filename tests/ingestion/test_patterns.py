"""Patterns: itemsets compared with counts by hand, sets that a source declares, bounds, and a stable order."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.component import MEMBER_OF, PROVIDES
from repertoire.ingestion.patterns import (
    Itemset,
    PatternBounds,
    PatternMember,
    Transaction,
    frequent,
    patterns,
    used_patterns,
)

BASKETS = st.lists(st.frozensets(st.sampled_from("abcdefg"), max_size=6), max_size=14)
LOOSE = PatternBounds(support=2, lift=0.0)


def counted(baskets, items):
    return sum(set(items) <= basket for basket in baskets)


def by_hand(baskets, bounds):
    """Count every itemset of two to four items in every basket."""
    baskets = [basket for basket in baskets if basket]
    every = sorted({item for basket in baskets for item in basket})
    found = {}
    for size in (2, 3, 4):
        for items in combinations(every, size):
            support = counted(baskets, items)
            if support < bounds.support:
                continue
            others = [counted(baskets, [i for i in items if i != item]) for item in items]
            sure = [support / rest for rest in others]
            usual = [counted(baskets, [item]) for item in items]
            lift = min(support * len(baskets) / (rest * one) for rest, one in zip(others, usual, strict=True))
            if lift >= bounds.lift:
                found[items] = (support, lift, sure)
    return {
        items: told
        for items, told in found.items()
        if not any(
            set(items) < set(other) and len(other) == len(items) + 1 and found[other][0] == told[0] for other in found
        )
    }


@given(BASKETS, st.integers(1, 3), st.sampled_from([0.0, 1.0, 1.5]))
def test_itemsets_are_those_that_counting_every_one_finds(baskets, support, lift):
    bounds = PatternBounds(support=support, lift=lift)
    found = {itemset.items: itemset for itemset in frequent(baskets, bounds)}
    expected = by_hand(baskets, bounds)
    assert found.keys() == expected.keys()
    for items, (count, times, sure) in expected.items():
        assert found[items].support == count
        assert found[items].lift == pytest.approx(times)
        assert found[items].confidence == pytest.approx(sure)


@given(BASKETS, st.randoms(use_true_random=False))
def test_the_order_of_the_transactions_does_not_matter(baskets, shuffler):
    shuffled = list(baskets)
    shuffler.shuffle(shuffled)
    assert frequent(shuffled, LOOSE) == frequent(baskets, LOOSE)


def test_a_pair_is_told_by_support_confidence_and_lift():
    baskets = [frozenset("ab"), frozenset("ab"), frozenset("ac"), frozenset("cd")]
    assert frequent(baskets, PatternBounds(lift=1.3)) == [Itemset(("a", "b"), 2, pytest.approx(4 / 3), (1.0, 2 / 3))]


def test_two_copies_of_a_large_plugin_stay_within_the_bounds():
    large = frozenset(f"skill-{number}" for number in range(40))
    others = [frozenset({f"x{number}", f"y{number}"}) for number in range(20)]
    assert len(frequent([large, large, *others], PatternBounds(most=50))) == 50


def test_a_collection_too_large_to_tell_anything_is_not_mined():
    collection = frozenset(f"skill-{number}" for number in range(41))
    assert frequent([collection, collection], LOOSE) == []


KNOWN = {
    "s:commit": PatternMember("commit", {"git": 0.9}),
    "s:review": PatternMember("review", {"code-review": 0.8, "git": 0.3}),
    "s:notes": PatternMember("notes", {"release-notes": 1.0}),
    "s:agent": PatternMember("releaser"),
}
KIT = Transaction("plugin", "s:kit", "kit", frozenset({"s:commit", "s:review"}))
AGENT = Transaction("agent", "s:agent", "releaser", frozenset({"s:agent", "s:commit", "s:notes"}))


def test_what_a_plugin_carries_is_a_pattern_with_its_name_and_its_members_capabilities():
    (pattern,) = patterns([KIT], KNOWN)
    node = pattern.node()
    assert (node.key, node.name) == ("pattern:s:kit", "kit")
    assert node.data == {"origin": "plugin", "support": 1, "lift": 0.0, "confidence": 1.0, "evidence": ["kit"]}
    edges = [(edge.source, edge.target, edge.relation, edge.weight) for edge in pattern.edges()]
    assert edges == [
        ("s:commit", "pattern:s:kit", MEMBER_OF, 1.0),
        ("s:review", "pattern:s:kit", MEMBER_OF, 1.0),
        ("pattern:s:kit", "capability:git", PROVIDES, 0.6),
        ("pattern:s:kit", "capability:code-review", PROVIDES, 0.4),
    ]


def test_one_set_carried_twice_is_one_pattern_that_names_both():
    again = Transaction("plugin", "s:other", "other", KIT.members)
    whole = [pattern for pattern in patterns([again, KIT], KNOWN) if pattern.origin == "plugin"]
    assert [(pattern.key, pattern.support, pattern.evidence) for pattern in whole] == [("s:kit", 2, ("kit", "other"))]


def test_what_recurs_across_plugins_and_agents_names_where():
    rest = [
        Transaction("plugin", f"s:p{number}", f"p{number}", frozenset({f"s:a{number}", f"s:b{number}"}))
        for number in range(4)
    ]
    known = {**KNOWN, **{member: PatternMember(member) for one in rest for member in one.members}}
    second = Transaction("agent", "s:second", "second", frozenset({"s:commit", "s:notes"}))
    (found,) = [one for one in patterns([KIT, AGENT, second, *rest], known) if one.origin == "together"]
    assert found.name == "commit + notes"
    assert (found.support, found.evidence) == (2, ("releaser", "second"))
    assert found.lift == pytest.approx(7 / 3)


def test_capabilities_that_different_plugins_provide_together_are_a_pattern_without_members():
    known = {}
    transactions = []
    for number in range(8):
        terms = ("api-design", "openapi") if number < 4 else (f"left-{number}", f"right-{number}")
        ids = [f"s:{number}-{end}" for end in "ab"]
        known.update({key: PatternMember(key, {term: 0.9}) for key, term in zip(ids, terms, strict=True)})
        transactions.append(Transaction("plugin", f"s:p{number}", f"p{number}", frozenset(ids)))
    (found,) = [one for one in patterns(transactions, known) if one.origin == "capabilities"]
    assert (found.name, found.support, found.lift) == ("api-design + openapi", 4, 2.0)
    assert not found.members
    assert found.capabilities == {"api-design": 1.0, "openapi": 1.0}


def test_of_capabilities_it_is_kept_where_they_were_counted_and_nowhere_else():
    known, transactions = {}, []
    for number in range(12):
        terms = (("api-design", "openapi"), ("testing", "mocking"), (f"left-{number}", f"right-{number}"))[number // 4]
        ids = [f"s:{number}-{end}" for end in "ab"]
        known.update({key: PatternMember(key, {term: 0.9}) for key, term in zip(ids, terms, strict=True)})
        transactions.append(Transaction("plugin", f"s:p{number}", f"p{number}", frozenset(ids)))
    known["s:all"] = PatternMember("all", {"api-design": 0.9, "openapi": 0.9, **{f"term-{n}": 0.9 for n in range(60)}})
    transactions.insert(0, Transaction("plugin", "s:everything", "everything", frozenset({"s:all"})))
    found = {one.name: one for one in patterns(transactions, known) if one.origin == "capabilities"}
    assert set(found) == {"api-design + openapi", "mocking + testing"}
    assert found["api-design + openapi"].wholes == ("s:p0", "s:p1", "s:p2", "s:p3")
    assert found["mocking + testing"].evidence == ("p4", "p5", "p6", "p7")


def test_what_requests_selected_together_is_kept_without_the_requests():
    requests = [Transaction("request", f"request:{number}", "", KIT.members) for number in range(3)]
    requests += [Transaction("request", f"request:x{n}", "", frozenset({"s:notes", "s:agent"})) for n in range(3)]
    found = used_patterns(requests, KNOWN)
    assert [(one.name, one.support, one.evidence) for one in found] == [
        ("releaser + notes", 3, ()),
        ("commit + review", 3, ()),
    ]
    assert "request:" not in repr(found)


def test_what_is_in_everything_is_in_a_few_patterns_only():
    pairs = [frozenset({"s:hub", f"s:{number:02}"}) for number in range(40)] * 2
    rest = [frozenset({"s:left", "s:right"})] * 60
    requests = [Transaction("request", f"{number}", "", members) for number, members in enumerate([*pairs, *rest])]
    found = used_patterns(requests, {member: PatternMember(member) for one in requests for member in one.members})
    assert sum("s:hub" in pattern.members for pattern in found) == 20
    assert any("s:left" in pattern.members for pattern in found)


def test_the_same_combinations_make_the_same_patterns():
    transactions = [KIT, AGENT]
    first = patterns(transactions, KNOWN)
    random.Random(0).shuffle(transactions)
    assert patterns(transactions, KNOWN) == first
