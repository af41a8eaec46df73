"""The text of searches and sets: what a reader finds in it, and that nobody else writes its lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.answer import Answer, Hit, Item, Recommendation, Why
from repertoire.domain.component import Component
from repertoire.rendering.answers import answer_text, recommendation_text

COMPONENT = Component(
    id="s:a.md", type="mcp_server", name="postgres", description="Runs SQL.", install=("add market", "install it")
)
HIT = Hit(
    COMPONENT,
    0.9,
    whys=(Why("words", "words: sql"), Why("request", "asked for: the merger"), Why("words", "words: sql")),
)


def test_a_ranked_list_reads_at_a_glance() -> None:
    assert answer_text(Answer((HIT,), fits=True, confidence=0.9, degraded=("vectors 1/2",))).splitlines() == [
        "1 component, best first:",
        "1. postgres (mcp server, available)",
        "   Runs SQL.",
        "   why: words: sql; used before for a similar request",
        "   install: add market && install it",
        "   id: s:a.md",
        "Note: vectors 1/2",
    ]


def test_nothing_fits_is_said_before_the_nearest_misses() -> None:
    text = answer_text(Answer((HIT,), fits=False, confidence=0.1))
    assert text.startswith("Nothing fits well. The nearest misses:\n1. postgres")
    assert answer_text(Answer((), fits=False, confidence=0.0)) == "Nothing fits, and nothing comes near."


def test_a_set_tells_parts_install_lines_gaps_and_runners_up() -> None:
    near = Hit(Component(id="s:b.md", type="skill", name="mysql"), 0.5)
    text = recommendation_text(
        Recommendation(
            items=(Item(HIT, role="sql", tokens=10),),
            near=(near,),
            gaps=("charts",),
            install=("add market", "install it"),
            warnings=("big exceeds the budget",),
            confidence=0.876,
        )
    )
    assert text.splitlines()[:3] == [
        "1 component for this task, confidence 0.88:",
        "1. postgres (mcp server, available)",
        "   for: sql",
    ]
    assert text.splitlines()[-6:] == [
        "Install:",
        "   add market",
        "   install it",
        "Not covered by this set: charts",
        "Warning: big exceeds the budget",
        "Runners-up: mysql (skill)",
    ]


def test_an_empty_set_names_what_came_near() -> None:
    text = recommendation_text(Recommendation((), near=(HIT,), gaps=("charts",)))
    assert text.startswith("Nothing fits this task. The nearest misses:\n- postgres")
    assert "Not covered by this set: charts" in text


@given(st.text(max_size=400), st.text(max_size=400), st.text(max_size=100))
def test_a_strangers_text_never_starts_a_line_nor_grows_one(name: str, description: str, why: str) -> None:
    stranger = Component(id="s:c.md", type="skill", name=name, description=description, install=(description,))
    plain = Component(id="s:c.md", type="skill", name="x", description="x", install=("x",))
    text = answer_text(Answer((Hit(stranger, 1.0, whys=(Why("words", why),)),), fits=True, confidence=1.0))
    model = answer_text(Answer((Hit(plain, 1.0, whys=(Why("words", "x"),)),), fits=True, confidence=1.0))
    starts = [line[:6].strip()[:3] for line in model.splitlines()]
    assert all(line[:6].strip()[:3] in starts or line.startswith("   ") for line in text.splitlines())
    assert len(text.splitlines()) <= len(model.splitlines())
    assert max(map(len, text.splitlines())) <= 350
