"""Reads the exam of a pack: questions with the sections that answer them, one JSON object a line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from repertoire.documentation.schemas import value_in
from repertoire.domain.errors import PackRefused
from repertoire.domain.text import clean_line

EXAM_BYTES = 5_000_000  # of the largest exam that is read
_QUESTIONS = 10_000
TEST = "test"  # the split whose questions choose nothing
_QUESTION, _ANSWER, _GOLD = 1_000, 10_000, 20  # characters of a question and an answer; sections that answer one


@dataclass(frozen=True)
class ExamQuestion:
    """A question, and the citations (`article#anchor`) of the sections that answer it.

    `answer` is a reference answer; the questions of the split `test` are kept from everything that is chosen.
    """

    id: str
    question: str
    gold: tuple[str, ...]
    answer: str = ""
    split: str = ""


def read_exam(text: str, *, place: str) -> tuple[ExamQuestion, ...]:
    """Return the questions of an exam; `place` names it in errors.

    Raises:
        PackRefused: a line is no question, or two have the same id.
    """
    questions = tuple(_questions(text, place))
    if not questions:
        message = f"{place} has no questions; write one JSON object a line, as {_FORM}"
        raise PackRefused(message)
    return questions


def unknown_gold(exam: Iterable[ExamQuestion], citations: Collection[str]) -> tuple[str, ...]:
    """Return what questions are to be answered with and is none of these citations of a pack."""
    return tuple(sorted({gold for question in exam for gold in question.gold} - {*citations}))


_FORM = '{"id": "q1", "question": "…", "gold": ["article.md#anchor"]}'


def _questions(text: str, place: str) -> Iterator[ExamQuestion]:
    known: set[str] = set()
    for number, line in enumerate(text.splitlines()[:_QUESTIONS], 1):
        if not line.strip():
            continue
        found = _question(value_in(line))
        if found is None or found.id in known:
            why = "is no question" if found is None else f"has the id {found.id!r} of an earlier one"
            message = f"line {number} of {clean_line(place, 200)} {why}; write {_FORM}"
            raise PackRefused(message)
        known.add(found.id)
        yield found


def _question(value: Any) -> ExamQuestion | None:
    if not isinstance(value, dict):
        return None
    one, question, gold = value.get("id"), value.get("question"), value.get("gold")
    if not (isinstance(one, str) and isinstance(question, str) and isinstance(gold, list)):
        return None
    if not one or not question.strip() or not gold or not all(isinstance(place, str) and place for place in gold):
        return None
    answer, split = (part if isinstance(part, str) else "" for part in (value.get("answer"), value.get("split")))
    return ExamQuestion(
        clean_line(one, 100),
        clean_line(question, _QUESTION),
        tuple(gold[:_GOLD]),
        clean_line(answer, _ANSWER),
        clean_line(split, 20),
    )
