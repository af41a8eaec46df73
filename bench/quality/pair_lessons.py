"""Reads what the pair encoder learns from: questions with components, graded by a reader or thought up for one of them.

Graded tasks are those of graded_tasks/ and the learned splits of unseen_tasks/ and long_prompts/ (further_pairs.py
teaches project_tasks/ and common_tasks/ after that). Others are plain requests with the component that each was thought
up for, and what components say of themselves: quotations and sentences of a body, which name, type, plugin and
description are to be told from.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from graded import lessons, plain
from plain_lessons import REQUESTS
from questions import QUOTED, SENTENCE, telling

from repertoire.domain.component import Component
from repertoire.retrieval.pair_reading import pair_text

LISTS = {"graded_tasks": 16, "unseen_tasks": 12, "long_prompts": 6, "requests": 8, "told": 6}  # of each kind in a batch
LONG, OF_A_GRADE, FARTHER = 8, 2, 2  # components of a list, of each grade above 0, and farther ones beside graded ones
NEAR, FAR = slice(5, 150), slice(100, 400)  # places by nearness from which components of no use are drawn
COPY = 0.8  # likeness to the answer from which on a component is as good as the answer
TOLD = 3  # quotations and sentences that are taken of each component at most
SEED = 0


@dataclass(frozen=True)
class Question:
    """A question of some kind, with the grades of components by their rows; `read` where a reader graded them."""

    kind: str
    text: str
    grades: Mapping[int, int]
    read: bool


@dataclass(frozen=True)
class List:
    """A question's place, the rows of some components, and the grade of each; `read` where a reader graded them."""

    question: int
    rows: list[int]
    grades: list[int]
    read: bool


class Texts:
    """What is read of the components of some homes: a row for each, by id."""

    def __init__(self, components: Iterator[Component]) -> None:
        self.rows: dict[str, int] = {}
        self.texts: list[str] = []
        self.told: list[Question] = []
        chance = random.Random(SEED)
        for component in components:
            key = plain(component.id)
            if key not in self.rows:
                self.rows[key] = len(self.texts)
                self.texts.append(pair_text(component))
                said = self_told(component, chance)
                self.told += [Question("told", text, {self.rows[key]: 2}, read=False) for text in said]


def self_told(component: Component, chance: random.Random) -> list[str]:
    """Return some quotations, examples and sentences of a component."""
    quotes = QUOTED.findall(f"{component.description} {component.body[:4000]}")
    quotes = [text for text in quotes if telling(text, 3)] + list(component.examples[:3])
    sentences = [text.strip(" #*-`") for text in SENTENCE.split(component.body[:6000])]
    sentences = [text for text in sentences if 25 <= len(text) <= 200 and telling(text, 5)]
    return [text for found in (quotes, sentences) for text in chance.sample(found, min(TOLD, len(found)))]


def graded_questions(rows: Mapping[str, int]) -> list[Question]:
    """Return the tasks to learn from of which some graded component is known."""
    found = (
        Question(one.kind, one.text, {rows[key]: grade for key, grade in one.grades.items() if key in rows}, read=True)
        for one in lessons(further=True)
        if one.kind in LISTS
    )
    return [question for question in found if question.grades]


def requests(rows: Mapping[str, int]) -> list[Question]:
    """Return the plain requests that were thought up for a component that is known."""
    lines = map(json.loads, REQUESTS.read_text(encoding="utf-8").splitlines())
    return [
        Question("requests", line["text"], {rows[line["component"]]: 2}, read=False)
        for line in lines
        if line.get("component") in rows
    ]


def some_of_each_grade(
    grades: Mapping[int, int], chance: np.random.Generator, *, long: int = LONG, of_a_grade: int = OF_A_GRADE
) -> list[int]:
    """Return so many rows: some of each grade above 0, then others."""
    chosen: list[int] = []
    for grade in (2, 1, 0):
        rows = [row for row, given in grades.items() if given == grade]
        most = of_a_grade if grade else long - len(chosen)
        chosen += chance.choice(rows, min(most, len(rows)), replace=False).tolist() if rows else []
    return chosen


class Lessons:
    """Draws batches of lists for the questions at some places.

    `near` holds for each question the rows of components, the nearest first.
    """

    def __init__(
        self, questions: Sequence[Question], near: np.ndarray, alike: np.ndarray, places: Sequence[int]
    ) -> None:
        self._questions, self._near, self._alike = questions, near, alike
        self._places = {kind: [place for place in places if questions[place].kind == kind] for kind in LISTS}

    def draw(self, chance: np.random.Generator) -> list[List]:
        """Return a batch."""
        return [
            self._list(place, chance)
            for kind, count in LISTS.items()
            for place in chance.choice(self._places[kind], count, replace=False).tolist()
        ]

    def _list(self, place: int, chance: np.random.Generator) -> List:
        question, near = self._questions[place], self._near[place]
        if question.read:
            return self._of_graded(place, question, near[FAR], chance)
        (answer,) = question.grades
        others = near[NEAR][~self._alike[answer, near[NEAR]]]
        drawn = chance.choice(others, min(LONG - 1, len(others)), replace=False).tolist()
        return List(place, [answer, *drawn], [2] + [0] * len(drawn), read=False)

    def _of_graded(self, place: int, question: Question, far: np.ndarray, chance: np.random.Generator) -> List:
        """Return some components of each grade, and farther ones that nobody graded, held to be of no use."""
        chosen = some_of_each_grade(question.grades, chance)
        farther = [row for row in chance.choice(far, FARTHER, replace=False).tolist() if row not in question.grades]
        grades = [question.grades[row] for row in chosen] + [0] * len(farther)
        return List(place, chosen + farther, grades, read=True)
