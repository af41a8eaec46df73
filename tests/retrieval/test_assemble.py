"""The set: what must hold of it whatever there is to choose from."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from repertoire.retrieval.assemble import Candidate, Limits, assemble, without_twins

KEYS = [f"c{i}" for i in range(8)]


@st.composite
def shelves(draw):
    """Draw candidates, ranked, and others that they may need; needs may run in circles or lead nowhere."""
    candidates = [
        Candidate(
            key=key,
            name=key,
            score=draw(st.floats(0.01, 1.0)),
            tokens=draw(st.integers(1, 900)),
            twins=frozenset({key, draw(st.sampled_from(["a", "b", *KEYS]))}),
            installed=draw(st.booleans()),
            covers=frozenset(draw(st.sets(st.sampled_from("pqrst")))),
            capabilities=frozenset(draw(st.sets(st.sampled_from("xyz")))),
            needs=tuple(draw(st.lists(st.sampled_from([*KEYS, "unknown"]), max_size=3, unique=True))),
        )
        for key in KEYS
    ]
    cut = draw(st.integers(0, len(KEYS)))
    ranked = sorted(candidates[:cut], key=lambda candidate: -candidate.score)
    return ranked, candidates[cut:], Limits(budget=draw(st.integers(1, 2500)), size=draw(st.integers(1, 4)))


@given(shelves())
@settings(deadline=None)
def test_a_set_is_within_budget_closed_and_without_repetition(shelf):
    ranked, others, limits = shelf
    known = {candidate.key: candidate for candidate in [*others, *without_twins(ranked)]}
    chosen = [member.key for member in assemble(ranked, others, limits).chosen]
    assert len(chosen) == len(set(chosen))
    assert sum(known[key].tokens for key in chosen) <= limits.budget
    assert {need for key in chosen for need in known[key].needs if need in known} <= set(chosen)


@given(shelves())
@settings(deadline=None)
def test_the_same_shelf_gives_the_same_set(shelf):
    assert assemble(*shelf) == assemble(*shelf)


@given(shelves())
@settings(deadline=None)
def test_no_more_are_asked_for_than_wanted(shelf):
    ranked, others, limits = shelf
    members = assemble(ranked, others, limits).chosen
    assert sum(not member.role.startswith("needed by") for member in members) <= limits.size


@given(shelves())
@settings(deadline=None)
def test_what_is_needed_stands_before_what_needs_it_unless_in_a_circle(shelf):
    ranked, others, limits = shelf
    known = {candidate.key: candidate for candidate in [*others, *without_twins(ranked)]}
    order = [member.key for member in assemble(ranked, others, limits).chosen]
    for earlier, later in itertools.combinations(order, 2):
        assert later not in known[earlier].needs or reaches(known, later, earlier)


def reaches(known, start, goal):
    seen, waiting = set(), [start]
    while waiting:
        for need in known[waiting.pop()].needs:
            if need == goal:
                return True
            if need in known and need not in seen:
                seen.add(need)
                waiting.append(need)
    return False


def candidate(key, **more):
    fields = {"name": key, "score": 1.0, "tokens": 100, "twins": frozenset({key}), **more}
    return Candidate(key=key, **fields)


def chosen(ranked, others=(), **limits):
    return [(member.key, member.role) for member in assemble(ranked, others, Limits(**limits)).chosen]


def test_of_twins_the_installed_one_takes_the_place_of_the_best():
    same = frozenset({"same"})
    ranked = [candidate("theirs", twins=same), candidate("ours", twins=same, score=0.9, installed=True)]
    assert chosen(ranked) == [("ours", "")]


def test_one_that_covers_nothing_new_and_is_much_worse_stays_out():
    ranked = [
        candidate("first", covers=frozenset({"oauth", "login"})),
        candidate("echo", covers=frozenset({"oauth"}), score=0.5),
        candidate("other", covers=frozenset({"deploy"}), score=0.5),
    ]
    assert [key for key, _ in chosen(ranked)] == ["first", "other"]


def test_the_part_of_each_is_said():
    ranked = [candidate("deployer", capabilities=frozenset({"kubernetes"}), needs=("cluster",))]
    assert chosen(ranked, [candidate("cluster")]) == [("cluster", "needed by deployer"), ("deployer", "kubernetes")]


def test_one_too_large_for_the_budget_is_named_and_the_next_taken():
    ranked = [candidate("huge", tokens=5000), candidate("small", score=0.9)]
    assembly = assemble(ranked, [], Limits(budget=500))
    assert [member.key for member in assembly.chosen] == ["small"]
    assert assembly.too_large == ("huge",)


def test_nothing_to_choose_from_is_an_empty_set():
    assert assemble([], [], Limits()).chosen == ()
