"""Reranking sees where the question's words stand in a component's text, and what the text says it is not for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.component import AGENT, SKILL, Component
from repertoire.domain.text import content_words
from repertoire.retrieval.ranking_weights import RERANK
from repertoire.retrieval.rerank import FEATURES, odds_of, second_look


def look(question: str, *components: Component) -> list[dict[str, float]]:
    rarities = dict.fromkeys(content_words(question), 1.0)
    rows = second_look(question, rarities, components)
    return [dict(zip(FEATURES, row, strict=True)) for row in rows.tolist()]


def skill(name: str = "a-skill", description: str = "", body: str = "", **fields: object) -> Component:
    return Component(id=f"x:{name}", type=SKILL, name=name, description=description, body=body, **fields)


def test_words_are_told_apart_by_the_field_they_stand_in():
    (seen,) = look("review database schema", skill("schema-helper", "Reviews tables.", "Works on any database."))

    assert seen["held in the name"] == seen["held in the description"] == seen["held in the body"] == 1 / 3
    assert seen["of the name, asked for"] == 0.5


def test_words_that_stand_together_are_told_from_scattered_ones():
    far = " and much else besides" * 20
    together, scattered = look(
        "database migration",
        skill(description="Plans a database migration."),
        skill(description=f"Looks after a database {far}. Bird migration."),
    )

    assert together["held in the description"] == scattered["held in the description"] == 1
    assert together["held side by side"] > scattered["held side by side"] == 0
    assert together["held within a few lines"] > scattered["held within a few lines"]


def test_what_a_component_is_not_for_is_held_against_it_only_where_it_is_said_nowhere_else():
    refused, both = look(
        "write unit tests",
        skill(description="Plans releases. Not for writing unit tests; use tdd instead."),
        skill(description="Writes unit tests. Not for unit tests of generated code."),
    )

    assert refused["held only in what it is not for"] > 0.5
    assert both["held only in what it is not for"] == 0


def test_a_request_given_as_an_example_is_recognised():
    given_one, none = look(
        "why is my build so slow",
        skill(description='Use when the user asks "why is the build slow" or similar.'),
        skill(description="Use for builds."),
    )
    (own,) = look("why is my build so slow", skill(examples=("the build is slow",)))

    assert given_one["asked like an example"] > 0.6 < own["asked like an example"]
    assert none["asked like an example"] == 0


def test_the_kind_counts_by_the_way_something_is_asked():
    agent = Component(id="x:agent", type=AGENT, name="an-agent")
    (asked,) = look("how do I deploy this?", agent)
    (told,) = look("deploy the service", agent)

    assert (asked["agent, where asked"], asked["agent, where told"], asked["agent, where of one's own"]) == (1, 0, 1)
    assert (told["agent, where asked"], told["agent, where told"], told["agent, where of one's own"]) == (0, 1, 0)


def test_every_feature_has_its_weight_and_a_head_is_moved_around_its_usual():
    assert len(RERANK) == len(FEATURES)
    odds = odds_of(second_look("a b test", {"test": 1.0}, [skill("test"), skill("other")]))

    assert abs(odds.sum()) < 1e-9


@given(question=st.text(max_size=80), description=st.text(max_size=200), body=st.text(max_size=200))
def test_whatever_is_asked_of_whatever_text_shares_lie_between_none_and_all(question: str, description: str, body: str):
    for seen in look(question, skill(description=description, body=body)):
        assert all(-1e-9 <= share <= 1 + 1e-9 for share in seen.values())
