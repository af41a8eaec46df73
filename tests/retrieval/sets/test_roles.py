"""What the members of a set are for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from repertoire.retrieval.sets.candidates import Candidate
from repertoire.retrieval.sets.roles import Chosen, Spares, chosen_of, role, still_open


def candidate(key, *, capabilities=(), covers=(), needs=()):
    told = {"capabilities": frozenset(capabilities), "covers": frozenset(covers), "needs": tuple(needs)}
    return Candidate(key, key, 1.0, 100, **told)


USUAL = Spares()


def chosen(*candidates, asked, spares=USUAL):
    known = {one.key: one for one in candidates}
    return list(
        chosen_of(asked, known, lambda key: (*known[key].needs, key), spares=spares),
    )


def test_words_that_any_task_holds_and_numbers_tell_no_part():
    assert role(candidate("limits", covers=("add", "rate")), frozenset()) == "rate"
    assert role(candidate("limits", covers=("add", "make", "404")), frozenset()) == ""


def test_a_capability_that_a_members_role_names_by_its_words_is_not_open():
    member = candidate("spark", covers=("pandas", "session", "management"), capabilities=("spark",))
    assert still_open(("spark", "pandas", "session-management", "memory"), [member]) == ("memory",)


def test_a_member_that_covers_nothing_new_is_a_spare_for_the_first():
    first, second = candidate("e2e", capabilities=("playwright",)), candidate("browser", capabilities=("playwright",))
    third = candidate("seeds", capabilities=("test-data",))
    assert chosen(first, second, third, asked=("e2e", "browser", "seeds")) == [
        Chosen("e2e", "playwright"),
        Chosen("browser", "playwright, should e2e not serve", spare=True),
        Chosen("seeds", "test-data"),
    ]
    assert not any(one.spare for one in chosen(first, second, asked=("e2e", "browser"), spares=None))
    worded = candidate("queues", covers=("playwright", "queue"))
    assert chosen(first, worded, asked=("e2e", "queues"))[1] == Chosen("queues", "queue")


def test_a_member_for_a_capability_that_the_first_only_mentions_is_no_spare():
    first = candidate("dashboards", capabilities=("grafana",), covers=("terraform",))
    second = candidate("modules", capabilities=("terraform",))
    assert chosen(first, second, asked=("dashboards", "modules"))[1] == Chosen("modules", "terraform")


def test_who_serves_a_task_of_one_job_alone_is_a_spare_unless_for_a_technology_that_it_names():
    first = candidate("bundle-optimizer", capabilities=("build-tools",))
    second = replace(candidate("web-vitals", capabilities=("web-performance",)), serves=0.6)
    beside, instead = (
        [Chosen("bundle-optimizer", "build-tools"), Chosen("web-vitals", role, spare=spare)]
        for role, spare in (("web-performance", False), ("web-performance, should bundle-optimizer not serve", True))
    )
    told = partial(chosen, first, asked=("bundle-optimizer", "web-vitals"))
    assert told(second) == beside
    assert told(second, spares=Spares(one_job=True)) == instead
    assert told(replace(second, serves=0.4), spares=Spares(one_job=True)) == beside
    assert told(second, spares=Spares(one_job=True, technologies=frozenset({"web-performance"}))) == beside


def test_members_of_one_name_are_told_apart_by_where_they_come_from():
    first = replace(candidate("a:k8s", capabilities=("kubernetes",)), name="k8s", bundle="cloud-kit")
    second = replace(candidate("b:k8s", capabilities=("kubernetes",)), name="k8s", bundle="ops-kit")
    told = chosen(first, second, asked=("a:k8s", "b:k8s"))
    assert told[1].role == "kubernetes, should k8s of cloud-kit not serve"


def test_a_further_member_of_which_no_part_of_the_task_is_known_is_a_spare():
    first, second = candidate("debugger"), candidate("error-detective", covers=("add",))
    assert chosen(first, second, asked=("debugger", "error-detective")) == [
        Chosen("debugger", ""),
        Chosen("error-detective", "should debugger not serve", spare=True),
    ]


def test_a_member_that_another_needs_is_no_spare_and_what_only_a_spare_needs_is_one():
    first = candidate("e2e", capabilities=("playwright",), needs=("browser",))
    browser = candidate("browser", capabilities=("playwright",))
    assert [(one.key, one.spare) for one in chosen(first, browser, asked=("e2e", "browser"))] == [
        ("e2e", False),
        ("browser", False),
    ]
    spare = candidate("walker", capabilities=("playwright",), needs=("runner",))
    runner = candidate("runner")
    assert chosen(first, browser, spare, runner, asked=("e2e", "walker"))[2:] == [
        Chosen("walker", "playwright, should e2e not serve", spare=True),
        Chosen("runner", "needed by walker", spare=True),
    ]
    again = replace(spare, key="crawler", name="crawler")
    found = chosen(first, browser, spare, again, runner, asked=("e2e", "walker", "crawler"))
    assert found[3] == Chosen("runner", "needed by walker", spare=True)
    other = candidate("report", capabilities=("reports",), needs=("runner",))
    third = replace(other, key="charts", name="charts", capabilities=frozenset({"charts"}))
    assert chosen(other, third, runner, asked=("report", "charts"))[1] == Chosen("runner", "needed by report")
    found = chosen(first, browser, spare, runner, other, asked=("e2e", "walker", "report"))
    assert Chosen("runner", "needed by report") in found
