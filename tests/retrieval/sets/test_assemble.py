"""Properties of every assembled set, and its distance from the best possible set."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from repertoire.retrieval.sets.assemble import SetLimits, SetSearch
from repertoire.retrieval.sets.candidates import Candidate, merged
from repertoire.retrieval.sets.choices import SetChoices
from repertoire.retrieval.sets.whynot import Case, why_not
from retrieval.sets.made import GRADED, PLENTY, assemble, candidate, chosen, graded, refusal

KEYS = [f"c{i}" for i in range(8)]


@st.composite
def shelves(draw, keys=tuple(KEYS)):
    """Draw candidates, ranked, and others that they may need; needs may run in circles or lead nowhere."""
    candidates = [
        Candidate(
            key=key,
            name=key,
            score=draw(st.floats(0.01, 1.0)),
            tokens=draw(st.integers(1, 900)),
            twins=frozenset({key, draw(st.sampled_from(["a", "b", *keys]))}),
            installed=draw(st.booleans()),
            covers=frozenset(draw(st.sets(st.sampled_from("pqrst")))),
            capabilities=frozenset(draw(st.sets(st.sampled_from("xyz")))),
            needs=tuple(draw(st.lists(st.sampled_from([*keys, "unknown"]), max_size=2, unique=True))),
            conflicts=frozenset(draw(st.sets(st.sampled_from([*keys, "unknown"]), max_size=1))) - {key},
            lacking=draw(st.sampled_from([(), (), ("docker, not found here",)])),
            alike=draw(st.dictionaries(st.sampled_from(keys), st.floats(0.0, 1.0), max_size=2)),
            bundle=draw(st.sampled_from(["", "one", "two"])),
            serves=(serves := draw(st.floats(0.0, 1.0))),
            helps=draw(st.floats(serves, 1.0)),
        )
        for key in keys
    ]
    cut = draw(st.integers(0, len(keys)))
    ranked = sorted(candidates[:cut], key=lambda candidate: -candidate.score)
    limits = SetLimits(
        budget=draw(st.integers(1, 2500)), size=draw(st.integers(1, 4)), expected=draw(st.floats(1.0, 4.0))
    )
    return ranked, candidates[cut:], limits


@pytest.mark.parametrize("graded", [False, True])
@given(shelf=shelves())
@examples(25)
def test_a_set_is_within_budget_closed_and_free_of_conflicts_and_twins(graded, shelf):
    ranked, others, limits = shelf
    known = {candidate.key: candidate for candidate in [*ranked, *others]}
    stands_for = SetChoices.of(ranked, others).stands_for
    chosen = [member.key for member in assemble(ranked, others, replace(limits, graded=graded)).chosen]
    assert len(chosen) == len(set(chosen))
    assert sum(known[key].tokens for key in chosen) <= limits.budget
    assert {stands_for[need] for key in chosen for need in known[key].needs if need in known} <= set(chosen)
    for one, other in itertools.permutations(chosen, 2):
        assert other not in known[one].conflicts
        assert not known[one].twins & known[other].twins


@given(shelves())
@examples(25)
def test_the_same_shelf_gives_the_same_set(shelf):
    assert assemble(*shelf) == assemble(*shelf)


@given(shelves())
@examples(25)
def test_no_more_are_asked_for_than_wanted(shelf):
    ranked, others, limits = shelf
    assembly = assemble(ranked, others, limits)
    assert len(assembly.asked) <= limits.size
    assert sum(not member.role.startswith("needed by") for member in assembly.chosen) <= limits.size


@given(shelves())
@examples(25)
def test_what_is_there_only_because_a_member_needs_it_stands_after_that_member(shelf):
    ranked, others, limits = shelf
    assembly = assemble(ranked, others, limits)
    before = set()
    for member in assembly.chosen:
        needed_by = member.role.removeprefix("needed by ")
        assert member.key in assembly.asked or needed_by in before
        before.add(member.key)


@given(shelves(), st.data())
@examples(50)
def test_a_set_is_never_larger_when_a_requirement_of_a_member_falls_away(shelf, data):
    """Under a budget that holds everything; what a requirement leaves of a tight one, others fill to make it better."""
    ranked, others, limits = shelf
    limits = data.draw(st.sampled_from([limits, replace(limits, budget=PLENTY)]))
    before = assemble(ranked, others, limits)
    known = {candidate.key: candidate for candidate in [*ranked, *others]}
    needing = [member.key for member in before.chosen if known[member.key].needs]
    if not needing:
        return
    freed = data.draw(st.sampled_from(needing))
    gone = data.draw(st.sampled_from(known[freed].needs))

    def without(candidates):
        return [
            replace(c, needs=tuple(need for need in c.needs if need != gone)) if c.key == freed else c
            for c in candidates
        ]

    after = assemble(without(ranked), without(others), limits)
    if len(after.chosen) > len(before.chosen):
        assert limits.budget < PLENTY
        assert worth_of_found(without(ranked), without(others), limits) > worth_of_found(ranked, others, limits)


def worth_of_found(ranked, others, limits):
    search = SetSearch(SetChoices.of(ranked, others), limits)
    return search.worth(search.best().asked)


def worth_of_best(shelf, limits):
    """Try every set there is: independent of how the solver searches, not of what a set is worth."""
    best = 0.0
    search, usable = SetSearch(shelf, limits), [one.key for one in shelf.ranked if shelf.sound(one.key)]
    for size in range(1, limits.size + 1):
        for asked in itertools.combinations(usable, size):
            members = shelf.members(asked)
            if shelf.tokens(members) <= limits.budget and not any(shelf.rivals(key, members) for key in asked):
                best = max(best, search.worth(asked))
    return best


@given(shelves(tuple(f"c{i}" for i in range(10))))
@examples(25)
def test_no_set_that_could_have_been_chosen_is_much_better(shelf):
    ranked, others, limits = shelf
    best = worth_of_best(SetChoices.of(ranked, others), limits)
    assert worth_of_found(ranked, others, limits) >= 0.95 * best


@given(shelves())
@examples(100)
def test_a_graded_set_begins_with_the_first_that_may_stand_and_no_other_end_of_two_is_likelier_good(shelf):
    ranked, others, _ = shelf
    choices = SetChoices.of(ranked, others)
    search = SetSearch(choices, GRADED)
    asked = search.best().asked
    sound = [candidate.key for candidate in choices.ranked if choices.sound(candidate.key)]
    if sound and choices.closure(sound[0]) == (sound[0],):
        first, *rest = (choices.known[key] for key in sound)
        ready = [] if first.installed else [one for one in rest if not one.lacking]
        likelier = [one for one in ready if one.serves >= first.serves + 0.05]
        most = max([first, *likelier], key=lambda one: one.serves)
        near = [one for one in (first, *rest) if one.installed > most.installed and one.serves >= most.serves - 0.1]
        assert asked[0] in {one.key for one in (first, *likelier, *near)}
    for other in sound:
        free = other not in asked[:1] and not choices.rivals(other, choices.members(asked[:1]))
        if free and not is_needy_spare(choices, asked[0], other):
            assert search.worth(asked) >= search.worth((asked[0], other)) - 1e-12


def is_needy_spare(choices, first, other):
    before, with_it = choices.members((first,)), choices.members((first, other))
    part = choices.known[other].capabilities or choices.known[other].covers
    covered = set().union(*(choices.known[key].capabilities | choices.known[key].covers for key in before))
    return len(with_it - before) > 1 and part <= covered


def test_what_would_only_stand_in_for_the_first_brings_no_other_along():
    e2e, walker, browser = graded("e2e", 0.5, 0.9), graded("walker", 0.49, 0.95), graded("browser", 0.3, 0.9)
    first, alone = (replace(one, capabilities=frozenset({"playwright"})) for one in (e2e, walker))
    needy = replace(alone, needs=("browser",))
    more = replace(needy, capabilities=frozenset({"playwright", "reports"}))

    assert assemble([first, alone], [browser], GRADED).asked == ("e2e", "walker")
    assert assemble([first, needy], [browser], GRADED).asked == ("e2e",)
    assert assemble([first, more], [browser], GRADED).asked == ("e2e", "walker")


def test_of_twins_the_installed_one_takes_the_place_of_the_best():
    same = frozenset({"same"})
    ranked = [candidate("theirs", twins=same), candidate("ours", twins=same, score=0.9, installed=True)]
    assert chosen(ranked) == [("ours", "")]


def test_of_twins_the_one_that_can_work_here_is_taken():
    same = frozenset({"same"})
    lacking = ("docker, not found here",)
    ranked = [candidate("installed", twins=same, installed=True, lacking=lacking), candidate("works", twins=same)]
    assert chosen(ranked) == [("works", "")]


def test_a_need_is_met_by_the_twin_that_was_kept():
    same = frozenset({"same"})
    ranked = [candidate("first", needs=("theirs",))]
    others = [candidate("theirs", twins=same, score=0.0), candidate("ours", twins=same, score=0.0, installed=True)]
    assert [key for key, _ in chosen(ranked, others)] == ["first", "ours"]


def test_one_that_covers_nothing_new_and_is_much_worse_stays_out():
    ranked = [
        candidate("first", covers=frozenset({"oauth", "login"})),
        candidate("echo", covers=frozenset({"oauth"}), score=0.5),
        candidate("other", covers=frozenset({"deploy"}), score=0.6),
    ]
    assert [key for key, _ in chosen(ranked, expected=3.0)] == ["first", "other"]


def test_of_two_as_likely_the_one_that_surely_provides_what_is_needed_covers_it():
    ranked = [
        candidate("sheets", capabilities=frozenset({"spreadsheets"})),
        candidate("viewer", score=0.7, capabilities=frozenset({"pdf"}), surely={"pdf": 0.4}),
        candidate("pdf", score=0.68, capabilities=frozenset({"pdf"}), surely={"pdf": 0.95}),
    ]
    assert [key for key, _ in chosen(ranked)] == ["sheets", "pdf"]


def test_what_covers_none_of_the_capabilities_that_a_task_needs_must_be_likelier_to_be_worth_its_place():
    helm, talk = candidate("helm", covers=frozenset({"deploy"})), candidate("talk", covers=frozenset({"monitor"}))
    needed = replace(helm, capabilities=frozenset({"kubernetes"}))
    for score, beside_words, beside_a_need in ((0.6, True, False), (0.9, True, True)):
        other = replace(talk, score=score)
        assert (len(chosen([helm, other])) == 2) is beside_words
        assert (len(chosen([needed, other])) == 2) is beside_a_need


def test_what_only_an_unlikely_candidate_provides_is_left_as_a_gap():
    ranked = [
        candidate("mcp-builder", capabilities=frozenset({"mcp-development"})),
        candidate("django", score=0.2, capabilities=frozenset({"python"})),
    ]
    assert [key for key, _ in chosen(ranked)] == ["mcp-builder"]


def test_the_part_of_each_is_said():
    ranked = [candidate("deployer", capabilities=frozenset({"kubernetes"}), needs=("cluster",))]
    assert chosen(ranked, [candidate("cluster")]) == [("deployer", "kubernetes"), ("cluster", "needed by deployer")]


def test_without_a_capability_the_words_of_the_task_tell_the_part():
    assert chosen([candidate("notes", covers=frozenset({"release", "changelog"}))]) == [("notes", "changelog, release")]


def test_one_too_large_for_the_budget_is_named_and_the_next_taken():
    ranked = [candidate("huge", tokens=5000), candidate("small", score=0.9)]
    assembly = assemble(ranked, [], SetLimits(budget=500))
    assert [member.key for member in assembly.chosen] == ["small"]
    assert assembly.too_large == ("huge",)
    told = refusal("huge", ranked, budget=500)
    assert (told.reason, told.remedy) == ("budget", "with a budget of 5100 tokens")


def test_of_two_that_conflict_the_better_stays_and_the_other_is_told_why():
    ranked = [candidate("one", conflicts=frozenset({"two"})), candidate("two", score=0.9)]
    assert [key for key, _ in chosen(ranked)] == ["one"]
    told = refusal("two", ranked)
    assert (told.reason, told.other, told.remedy) == ("conflict", "one", "without one")


def test_what_needs_two_that_conflict_can_never_enter():
    ranked = [candidate("torn", needs=("left", "right")), candidate("plain", score=0.5)]
    others = [candidate("left", conflicts=frozenset({"right"})), candidate("right")]
    assert [key for key, _ in chosen(ranked, others)] == ["plain"]
    assert refusal("torn", ranked, others).reason == "torn"


def test_what_lacks_something_here_gives_way_and_would_enter_with_it():
    words = frozenset({"deploy"})
    ranked = [
        candidate("dockered", covers=words, lacking=("docker, not found here",)),
        candidate("plain", covers=words, score=0.9, alike={"dockered": 1.0}),
    ]
    ranked[0] = replace(ranked[0], alike={"plain": 1.0})
    assert [key for key, _ in chosen(ranked)] == ["plain"]
    told = refusal("dockered", ranked)
    assert (told.reason, told.detail, told.remedy) == ("needs", "docker, not found here", "with docker")
    ranked[0] = replace(ranked[0], lacking=("gh, not found here", "uv, not found here"))
    assert refusal("dockered", ranked).detail == "gh, not found here, and uv, not found here"


def test_what_a_member_lacks_too_is_no_reason_to_leave_another_out():
    railway = ("railway, not found here",)
    ranked = [replace(graded(key, 0.8, 0.8), lacking=railway, alike={}) for key in ("new", "deploy")]
    ranked = [replace(one, alike={other.key: 1.0}) for one, other in zip(ranked, reversed(ranked), strict=True)]
    told = refusal("deploy", ranked, budget=PLENTY, size=3, graded=True)
    assert (told.reason, told.other) == ("same job", "new")
    ranked[1] = replace(ranked[1], lacking=(*railway, "gh, not found here"))
    assert refusal("deploy", ranked, budget=PLENTY, size=3, graded=True).detail == "gh, not found here"


def test_circles_are_named_and_do_not_hang():
    ranked = [candidate("a", needs=("b",))]
    assembly = assemble(ranked, [candidate("b", needs=("c",)), candidate("c", needs=("b",))], SetLimits())
    assert assembly.circles == (("b", "c"),)
    assert {member.key for member in assembly.chosen} == {"a", "b", "c"}


def test_a_full_set_lets_the_next_in_when_it_may_be_larger():
    ranked = [candidate(name, score=score, covers=frozenset({name})) for name, score in (("a", 1.0), ("b", 0.95))]
    told = refusal("b", ranked, size=1)
    assert (told.reason, told.remedy) == ("full", "with size 2")


def test_a_twin_of_what_a_larger_set_would_hold_is_not_said_to_enter_it():
    same = frozenset({"same"})
    ranked = [candidate(name, score=score, covers=frozenset({name})) for name, score in (("a", 1.0), ("b", 0.95))]
    twins = [ranked[0], *(replace(ranked[1], key=key, twins=same) for key in ("b", "c"))]
    assert [refusal(key, twins, size=1).remedy for key in ("b", "c")] == ["with size 2", ""]


def test_the_size_that_brings_one_in_is_one_that_a_person_can_ask_for():
    needy = candidate("c", score=0.95, covers=frozenset({"c"}), needs=("lib",))
    ranked = [candidate(name, covers=frozenset({name})) for name in ("a", "b")]
    told = refusal("c", [*ranked, needy], [candidate("lib")], size=2)
    assert (told.text, told.remedy) == ("the set has its 2", "with size 4")
    assert "c" in dict(chosen([*ranked, needy], [candidate("lib")], size=4, most=4, expected=4.0))
    told = refusal("c", [ranked[0], needy], [candidate("lib")], size=2, most=2)
    assert (told.text, told.remedy) == ("with what it needs, it does not fit in a set of 2", "with size 3")


@given(shelves(), st.sampled_from(KEYS))
@examples(25)
def test_whatever_kept_one_out_can_be_told(shelf, key):
    ranked, others, limits = shelf
    on_shelf = SetChoices.of(ranked, others)
    assembly = SetSearch(on_shelf, limits).best()
    if key in {c.key for c in ranked} - {member.key for member in assembly.chosen}:
        assert why_not(Case(ranked, others, limits, on_shelf, assembly), key).reason


@pytest.mark.parametrize("ranked", [[], [candidate("huge", tokens=PLENTY)]])
def test_nothing_to_choose_from_is_an_empty_set(ranked):
    assert assemble(ranked, [], SetLimits()).chosen == ()


def test_a_twin_is_the_same_as_one_that_was_chosen_else_out_for_the_reason_of_the_one_that_stands_for_it():
    first = candidate("first", twins=frozenset({"same"}), tokens=600)
    twins = [first, replace(first, key="second", name="second")]
    told = refusal("second", twins)
    assert (told.text, told.remedy) == ("the same as first", "without first")
    told = refusal("second", twins, budget=500)
    assert (told.reason, told.remedy) == ("budget", "")


def test_twins_are_merged_in_the_order_of_their_best():
    same = frozenset({"same"})
    kept, stands_for = merged([candidate("a", twins=same), candidate("b"), candidate("c", twins=same)])
    assert [c.key for c in kept] == ["a", "b"]
    assert stands_for == {"a": "a", "b": "b", "c": "a"}


def test_what_provides_a_part_that_no_member_does_is_not_said_to_do_a_members_job():
    member = graded("issues", 0.5, 0.6)
    fits = replace(graded("data-scientist", 0.45, 0.6), capabilities=frozenset({"data-analysis"}))
    told = refusal("data-scientist", [member, fits], budget=PLENTY, size=1, graded=True)
    assert told.reason != "same job"
    again = replace(fits, capabilities=frozenset())
    assert refusal("data-scientist", [member, again], budget=PLENTY, size=1, graded=True).reason == "same job"
