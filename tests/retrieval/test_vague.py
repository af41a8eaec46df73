"""A task is too vague by its wording, unless it names its topic or a set is likely to serve it."""

from __future__ import annotations

import pytest

from repertoire.inference.weights import bundled
from repertoire.ports import Embedder
from repertoire.retrieval.vague import BAR, OF_AN_AREA, SERVED, too_vague, vagueness_model_for

# written for this test; none stands in what was learned from
VAGUE = ("improve our app", "help me with the code", "make it great", "do something about the website")
CLEAR = (
    "write unit tests for the invoice parser",
    "review my pull request",
    "the nightly import runs out of memory",
    "translate the settings page into Polish",
    "add a dark theme",
    "deploy to Fly.io",
)
AREAS = frozenset(("backend", "testing"))


def test_it_was_learned_for_the_shipped_reading_of_questions_and_speaks_for_no_other() -> None:
    assert vagueness_model_for(bundled().query_encoder) is not None
    assert vagueness_model_for(bundled().model) is None


def test_vague_tasks_reach_the_bar_and_clear_ones_do_not(embedder: Embedder) -> None:
    vague = vagueness_model_for(bundled().query_encoder)
    assert vague is not None
    odds = [vague.odds(text, vector) for text in VAGUE + CLEAR for vector in embedder.embed_queries([text])]

    assert max(odds[len(VAGUE) :]) < 0.0 < BAR < min(odds[: len(VAGUE)])


@pytest.mark.parametrize(
    ("odds", "chance", "named", "asked"),
    [
        (BAR + 0.1, 0.1, (), True),
        (BAR + 0.1, 0.1, ("backend",), False),
        (OF_AN_AREA + 0.1, None, ("backend",), True),  # too little is known here to tell a chance
        (BAR - 0.1, 0.1, (), False),
        (BAR + 0.1, SERVED, (), False),
        (OF_AN_AREA + 0.1, 0.1, ("e2e-testing",), False),
        (OF_AN_AREA + 0.1, 0.1, ("backend", "testing"), False),
    ],
)
def test_what_names_its_job_or_is_likely_served_is_not_asked_back(
    odds: float, chance: float | None, named: tuple[str, ...], *, asked: bool
) -> None:
    assert too_vague(odds, chance, named, AREAS, in_project=False) is asked


@pytest.mark.parametrize(
    ("chance", "named", "asked"),
    [(SERVED + 0.1, ("backend",), True), (0.95, ("backend",), False), (SERVED + 0.1, (), False), (0.1, (), True)],
)
def test_in_a_project_its_specialist_for_an_area_must_surely_serve(
    chance: float, named: tuple[str, ...], *, asked: bool
) -> None:
    assert too_vague(OF_AN_AREA + 0.1, chance, named, AREAS, in_project=True) is asked
