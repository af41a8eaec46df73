"""The length of a question changes the weights of the parts of its score."""

from __future__ import annotations

import pytest

from repertoire.domain.answer import Query
from repertoire.retrieval.plan import make_plan


def brevity(text: str) -> float:
    return make_plan(Query(text), "").brevity


def test_a_few_words_are_brief() -> None:
    assert brevity("add dark mode") == 1.0


def test_a_sentence_is_not_brief() -> None:
    assert (
        brevity("Extract the tables of scanned invoices, check totals against orders and write differences to a ledger")
        == 0.0
    )


def test_what_lies_between_is_partly_brief() -> None:
    assert 0.0 < brevity("migrate our payment tests from mocha to vitest quickly") < 1.0


@pytest.mark.parametrize("text", ["", "?"])
def test_a_question_without_words_is_brief(text: str) -> None:
    assert brevity(text) == 1.0
