"""A solution that cost several attempts is offered once at the turn's end; everyday work never is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from traces.hard_stories import HARD, MODULE, three_attempts
from traces.quiet_stories import QUIET
from traces.story import PASSED, Story, pytest_failed


@pytest.mark.parametrize("story", HARD, ids=lambda story: story.__name__)
def test_a_hard_won_solution_is_offered_once(story: Callable[[], Story]):
    told = story()
    assert told.stops() is not None
    assert told.asks("thanks").stops() is None


@pytest.mark.parametrize("story", QUIET, ids=lambda story: story.__name__)
def test_everyday_work_is_not_offered(story: Callable[[], Story]):
    assert story().stops() is None


def test_what_was_rejected_is_not_offered_again():
    problem = three_attempts().stops()
    again = three_attempts()
    again.rejected = problem.keys
    assert again.stops() is None


def test_of_two_solutions_the_harder_one_is_offered_and_the_other_at_the_next_stop():
    story = three_attempts()
    for _ in range(5):
        story.fails("npm run build", MODULE).edits("a.js")
    story.passes("npm run build")
    assert story.stops().part.family == "npm build"
    assert story.stops().part.family == "pytest"
    assert story.stops() is None


def test_a_fix_that_does_not_hold_is_an_attempt_more():
    story = Story().fails("pytest", pytest_failed()).edits("src/a.py").passes("pytest", PASSED)
    assert story.stops() is None
    story.fails("pytest", pytest_failed()).edits("src/b.py").passes("pytest", PASSED)
    assert story.stops() is None
    assert story.fails("pytest", pytest_failed()).edits("src/c.py").passes("pytest", PASSED).stops() is not None


def test_what_was_solved_and_fails_again_at_the_stop_is_not_offered():
    assert three_attempts().fails("pytest -q", pytest_failed()).stops() is None


def test_what_is_solved_over_two_turns_is_offered_at_the_second():
    story = Story()
    for _ in range(3):
        story.fails("pytest", pytest_failed()).edits("src/a.py")
    assert story.stops() is None
    assert story.asks("go on").passes("pytest", PASSED).stops() is not None


def test_what_failed_half_a_day_ago_was_given_up():
    story = Story()
    for _ in range(3):
        story.fails("pytest", pytest_failed()).edits("src/a.py")
    story.waits(6 * 3600).fails("pytest", pytest_failed()).edits("b.py")
    assert story.passes("pytest", PASSED).stops() is None
