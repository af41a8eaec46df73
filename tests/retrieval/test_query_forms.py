"""A question is rewritten as what it defines, as names of an API, and in its parts."""

from __future__ import annotations

import pytest

from repertoire.retrieval.query_forms import MOST_FORMS, forms_of


@pytest.mark.parametrize(
    ("question", "forms"),
    [
        ("What is a lifetime?", ["lifetime is"]),
        ("what does borrowing mean", ["borrowing is"]),
        ("difference between &T and &mut T?", ["&T", "&mut T"]),
        ("set connectTimeout with --retry or http.Agent", ["connectTimeout --retry http.Agent"]),
        (
            "install the package globally and pin the node version",
            ["install the package globally", "pin the node version"],
        ),
        ("bodkin", []),
    ],
)
def test_a_question_has_the_forms_that_a_reader_would_look_for(question: str, forms: list[str]) -> None:
    found = forms_of(question)
    assert [form for form in found if form in forms] == forms
    assert question not in found


def test_no_question_has_more_forms_than_are_asked() -> None:
    assert (
        len(forms_of("build a wheel, fetch two rods, weave the basket, sell the goods, count the money, read a_b.c"))
        == MOST_FORMS
    )
