"""Of graded components, those stand together that are likely a good set."""

from dataclasses import replace

import pytest

from repertoire.retrieval.sets.goodness import chance_of_good
from retrieval.sets.made import GRADED, PLENTY, assemble, chosen, graded, refusal


def test_where_the_first_is_unsure_a_second_that_surely_helps_stands_beside_it():
    unsure = [graded("first", 0.5, 0.9), graded("second", 0.45, 0.95), graded("third", 0.4, 0.6)]
    assert assemble(unsure, (), GRADED).asked == ("first", "second")


def test_where_the_first_surely_serves_it_stands_alone():
    assert assemble([graded("first", 0.9, 0.95), graded("second", 0.8, 0.95)], (), GRADED).asked == ("first",)


def test_a_plugin_does_not_stand_beside_its_own_part():
    unsure = [graded("server", 0.5, 0.9), graded("plugin", 0.45, 0.95), graded("third", 0.3, 0.9)]
    part_of = [replace(one, alike={other: 0.9}) for one, other in zip(unsure, ("plugin", "server", ""), strict=True)]
    assert assemble(unsure, (), GRADED).asked == ("server", "plugin")
    assert assemble(part_of, (), GRADED).asked == ("server", "third")


@pytest.mark.parametrize(
    ("more", "members"),
    [
        ({}, ["deploy", "monitor"]),
        ({"helps": 0.6}, ["deploy"]),
        ({"capabilities": frozenset({"helm"})}, ["deploy"]),
        ({"alike": {"deploy": 0.95}}, ["deploy"]),
    ],
)
def test_a_graded_set_in_parts_is_completed_by_what_likely_helps_with_an_open_capability(more, members):
    deploy = replace(graded("deploy", 0.9, 0.95), capabilities=frozenset({"helm"}))
    monitor = replace(graded("monitor", 0.1, 0.8), capabilities=frozenset({"grafana"}))
    ranked = [deploy, replace(monitor, **more)]
    assert [key for key, _ in chosen(ranked, budget=PLENTY, size=3, graded=True, parts=4)] == members
    assert [key for key, _ in chosen(ranked, budget=PLENTY, size=3, graded=True)] == ["deploy"]


def test_what_would_cover_an_open_capability_and_is_not_likely_enough_is_told_so_and_not_as_useless():
    first = replace(graded("templates", 0.4, 0.7), covers=frozenset({"service"}), capabilities=frozenset({"fastapi"}))
    second = replace(graded("login", 0.35, 0.6), covers=frozenset({"sessions"}), capabilities=frozenset({"oauth"}))
    told = refusal("login", [first, second], graded=True, size=3)
    assert (told.reason, told.detail) == ("unsure", "oauth")
    again = replace(second, capabilities=frozenset({"service"}))  # whose word the first holds
    assert refusal("login", [first, again], graded=True, size=3).reason == "nothing new"


@pytest.mark.parametrize(
    ("more", "other", "first"),
    [
        ({"unit_tokens": 7_000}, {}, "light"),
        ({"unit_tokens": 7_000}, {"serves": 0.7}, "heavy"),
        ({"unit_tokens": 7_000}, {"unit_tokens": 4_000}, "heavy"),
        ({"unit_tokens": 7_000, "installed": True}, {}, "heavy"),
        ({"unit_tokens": 900}, {}, "heavy"),
    ],
)
def test_what_comes_with_a_large_plugin_gives_way_to_a_light_one_that_serves_nearly_as_likely(more, other, first):
    heavy = replace(graded("heavy", 0.8, 0.9), unit="kit", **more)
    light = replace(graded("light", 0.75, 0.9), **other)
    assert chosen([heavy, light], budget=PLENTY, size=1, graded=True)[0][0] == first


@pytest.mark.parametrize(
    ("more", "other", "first"),
    [
        ({}, {}, "here"),
        ({}, {"serves": 0.65}, "there"),
        ({}, {"serves": 0.65, "own": True}, "here"),
        ({}, {"serves": 0.55, "own": True}, "there"),
        ({}, {"installed": False}, "there"),
        ({"serves": 0.3}, {"serves": 0.16, "own": True}, "here"),
        ({"serves": 0.3}, {"serves": 0.14, "own": True}, "there"),
        ({"serves": 0.15}, {"serves": 0.07}, "there"),
    ],
)
def test_what_must_be_installed_gives_way_to_what_is_and_serves_nearly_as_likely(more, other, first):
    there = replace(graded("there", 0.8, 0.9), **more)
    here = replace(graded("here", 0.75, 0.9), **{"installed": True, **other})
    assert chosen([there, here], budget=PLENTY, size=1, graded=True)[0][0] == first


@pytest.mark.parametrize(
    ("serves", "more", "first"),
    [(0.67, {}, "likelier"), (0.63, {}, "first"), (0.67, {"lacking": ("binary:docker",)}, "first")],
)
def test_one_that_serves_likelier_by_a_margin_takes_the_place_of_the_first(serves, more, first):
    shelf = [graded("first", 0.6, 0.9), replace(graded("likelier", serves, 0.9), **more)]
    assert chosen(shelf, budget=PLENTY, size=1, graded=True)[0][0] == first


@pytest.mark.parametrize("more", [{}, {"lacking": ("binary:docker",)}])
def test_what_was_chosen_for_a_similar_request_leads_though_another_would_serve_likelier_or_lacks_less(more):
    first = replace(graded("chosen", 0.6, 0.9), **more)
    shelf = [first, graded("likelier", 0.67, 0.9)]
    assert chosen(shelf, budget=PLENTY, size=1, graded=True)[0][0] == "likelier"
    shelf[0] = replace(first, past=0.4)
    assert chosen(shelf, budget=PLENTY, size=1, graded=True)[0][0] == "chosen"


@pytest.mark.parametrize(("past", "first"), [(0.75, "likely"), (0.9, "used")])
def test_what_hardly_serves_leads_for_the_same_request_alone_which_it_served(past, first):
    shelf = [replace(graded("used", 0.02, 0.06), past=past), graded("likely", 0.55, 0.9)]
    assert chosen(shelf, budget=PLENTY, size=1, graded=True)[0][0] == first


@pytest.mark.parametrize(("serves", "first"), [(0.75, "ready"), (0.65, "lacks")])
def test_what_lacks_something_here_gives_way_to_what_lacks_nothing_and_serves_nearly_as_likely(serves, first):
    shelf = [replace(graded("lacks", 0.8, 0.9), lacking=("docker, not found here",)), graded("ready", serves, 0.9)]
    assert chosen(shelf, budget=PLENTY, size=1, graded=True)[0][0] == first
    if first == "ready":
        told = refusal("lacks", shelf, graded=True, size=1)
        assert (told.reason, told.remedy) == ("needs", "with docker")


def test_of_several_light_ones_the_likeliest_takes_the_place_of_a_large_plugins():
    heavy = replace(graded("heavy", 0.8, 0.9), unit="kit", unit_tokens=7_000)
    shelf = [heavy, graded("light", 0.75, 0.9), graded("likelier", 0.79, 0.9)]
    assert chosen(shelf, budget=PLENTY, size=1, graded=True)[0][0] == "likelier"


def test_two_of_one_name_do_the_same_job():
    skill, plugin = (replace(graded(key, 0.6, 0.9), name="linear") for key in ("skill", "plugin"))
    assert chance_of_good([skill, plugin], 0) < chance_of_good([skill], 0)
    assert [key for key, _ in chosen([skill, plugin], budget=PLENTY, size=3, graded=True) if key == "plugin"] == []


def test_of_what_gave_way_it_is_said_that_its_plugin_is_large():
    heavy = replace(graded("heavy", 0.8, 0.9), unit="kit@m", unit_tokens=7_771, covers=frozenset({"docker"}))
    light = replace(graded("light", 0.78, 0.9), covers=frozenset({"image"}))
    told = refusal("heavy", [heavy, light], graded=True, size=3)
    assert (told.reason, told.detail) == ("large", "kit@m, 7,771 tokens")


def test_a_large_plugin_stands_beside_another_member_only_where_it_brings_more_than_a_light_one():
    first, second = graded("first", 0.5, 0.8), graded("second", 0.5, 0.9)
    large = replace(second, unit="kit", unit_tokens=7_000)
    assert chance_of_good([first, large], 0) == pytest.approx(0.95 * chance_of_good([first, second], 0))
