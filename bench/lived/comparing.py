"""Asks a lived-in home and the same home without a past, and tells what the past changed, for better and for worse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from doors import Doors, Reading
from graded import UNKNOWN, Graded, calibration, judge_tasks, plain
from judge import Figures, interval
from past import FAILED, KEPT, MUTED, PREFERRED, USED, Owned, Past

Readings = Mapping[str, Reading]
Hints = Mapping[str, Sequence[str]]
SHOWN = ("Good", "Bad", "Precision", "Hit@1", "First wrong", "Hint wrong", "Caught", "Needless")
_OWN = ("user:", "project:", "plugin:")  # ids of what is on the machine alone


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure in both homes, over how many questions, with which differences."""

    measure: str
    questions: int
    fresh: float
    lived: float
    difference: tuple[float, float, float] | None = None  # mean and interval, where the same questions are compared

    def line(self) -> str:
        """Return it as text; a difference is starred where its interval excludes zero."""
        told = ""
        if self.difference is not None:
            mean, low, high = self.difference
            told = f"{mean:+.1f}{'*' if low > 0 or high < 0 else ''}"
        return f"{self.measure:64s} {self.questions:4d} {self.fresh:7.1f} {self.lived:7.1f} {told:>8s}"


def paired(measure: str, before: np.ndarray, after: np.ndarray) -> Row:
    """Return the means in both homes, and the mean difference over the questions that have both figures."""
    both = ~np.isnan(before) & ~np.isnan(after)
    difference = interval(after[both] - before[both]) if both.any() else None
    return Row(measure, int((~np.isnan(after)).sum()), float(np.nanmean(before)), float(np.nanmean(after)), difference)


class Originals:
    """Takes what is installed for what it is a copy of, so that it has the grade of it."""

    def __init__(self, doors: Doors) -> None:
        self._graph = doors.answers.repertoire.store.graph
        self._known: dict[str, str] = {}

    def __call__(self, key: str) -> str:
        if key not in self._known:
            same = [one for group in self._graph.copies([key]) for one in group] if key.startswith(_OWN) else []
            self._known[key] = plain(next((one for one in same if not one.startswith(_OWN)), key))
        return self._known[key]


def read_all(doors: Doors, texts: Iterable[str]) -> dict[str, Reading]:
    """Ask each text once."""
    return {text: doors.ask(text) for text in texts}


def as_answers(readings: Readings, original: Callable[[str], str]) -> dict[str, dict[str, Any]]:
    """Return readings in the form that the judge of graded tasks takes, each copy as its original."""
    return {
        text: {
            **{door: [original(key) for key in one.named(door)] for door in ("set", "search", "hint")},
            "confidence": one.confidence,
        }
        for text, one in readings.items()
    }


def graded_rows(name: str, graded: Graded, fresh: Mapping, lived: Mapping) -> list[Row]:
    """Return the figures of graded tasks in both homes, with paired differences."""
    before, after = _judged(graded, fresh), _judged(graded, lived)
    rows = [
        paired(f"{name}: {figure}", before[figure], after[figure])
        for figure in SHOWN
        if figure in before and figure in after
    ]
    found = calibration(before), calibration(after)
    rows.append(Row(f"{name}: calibration error", found[1].sets, *(one.error for one in found)))
    return rows


def _judged(graded: Graded, answers: Mapping) -> Figures:
    wrong = [
        100.0 * (graded.grades.get(task["id"], {}).get(answer["set"][0], UNKNOWN) == UNKNOWN)
        if (answer := answers[task["text"]])["set"] and task["wants"]
        else np.nan
        for task in graded.tasks
    ]
    return {**judge_tasks(graded, answers), "First wrong": np.array(wrong)}


def worse(graded: Graded, fresh: Mapping, lived: Mapping) -> list[dict[str, Any]]:
    """Return each task that the past made worse, with both answers: what to read by eye."""
    before, after = _judged(graded, fresh), _judged(graded, lived)
    found = []
    for number, task in enumerate(graded.tasks):
        lost = [
            name
            for name, sign in (
                ("Good", 1),
                ("Bad", -1),
                ("Hit@1", 1),
                ("First wrong", -1),
                ("Hint wrong", -1),
                ("Caught", 1),
                ("Needless", -1),
            )
            if name in after and sign * (after[name][number] - before[name][number]) < 0
        ]
        if lost:
            text = task["text"]
            found.append({"id": task["id"], "task": text, "lost": lost, "fresh": fresh[text], "lived": lived[text]})
    return found


def drawn(name: str, fresh: Hints, lived: Hints) -> Row:
    """Return the share of prompts that draw a hint."""
    shares = [np.array([100.0 * bool(one[text]) for text in fresh]) for one in (fresh, lived)]
    return paired(name, *shares)


@dataclass(frozen=True)
class Again:
    """What was installed, asked for again: in the same words, and in others where there are any."""

    past: Past
    other_words: Mapping[str, str]  # the request's text -> other words
    fresh: Readings
    lived: Readings
    original: Callable[[str], str]

    def rows(self) -> list[Row]:
        """Return how often what has a past leads, by what became of it."""
        rows = [
            self._row(f"{role}: leads its set, {words}", role, _leads, others=others)
            for role in (KEPT, USED, PREFERRED, FAILED, MUTED)
            for words, others in (("same words", False), ("other words", True))
        ]
        rows += [self._row(f"{role}: is in its set, same words", role, _within) for role in (KEPT, USED, PREFERRED)]
        rows.append(self._row("kept: leads its set as one that is installed", KEPT, self._as_installed))
        rows.append(self._row("muted: in its set or a hint, same words", MUTED, _named))
        return rows

    def lost(self) -> list[dict[str, Any]]:
        """Return what should lead and does not, or should be silent and is not."""
        found = []
        for one in self.past.owned:
            for text in filter(None, (one.wish.text, self.other_words.get(one.wish.text, ""))):
                was, leads = (_leads(home[text], one.original, self.original) for home in (self.fresh, self.lived))
                wanted = one.wish.role in (KEPT, USED, PREFERRED)
                if (wanted and not leads and (was or text == one.wish.text)) or (
                    one.wish.role in (FAILED, MUTED) and leads
                ):
                    firsts = [self.original(key) for key in self.lived[text].named("set")]
                    found.append(
                        {
                            "role": one.wish.role,
                            "task": text,
                            "past": one.original,
                            "lived": firsts,
                            "fresh": self.fresh[text].named("set"),
                        }
                    )
        return found

    def _row(self, name: str, role: str, holds: Callable[..., bool], *, others: bool = False) -> Row:
        asked = [
            (text, one)
            for one in self.past.owned
            if one.wish.role == role
            if (text := self.other_words.get(one.wish.text, "") if others else one.wish.text)
        ]
        shares = [
            np.array([100.0 * holds(home[text], one.original, self.original) for text, one in asked])
            for home in (self.fresh, self.lived)
        ]
        return paired(name, *shares)

    def _as_installed(self, reading: Reading, key: str, original: Callable[[str], str]) -> bool:
        return _leads(reading, key, original) and bool(reading.items[0]["installed"])


def _leads(reading: Reading, key: str, original: Callable[[str], str]) -> bool:
    return original(reading.first) == plain(key)


def _within(reading: Reading, key: str, original: Callable[[str], str]) -> bool:
    return plain(key) in map(original, reading.named("set"))


def _named(reading: Reading, key: str, original: Callable[[str], str]) -> bool:
    return any(plain(key) == original(one) for door in ("set", "hint") for one in reading.named(door))


def intruders(owned: Sequence[Owned], graded: Graded, fresh: Mapping, lived: Mapping) -> list[dict[str, Any]]:
    """Return the tasks of others that something with a past newly leads though it would not help with them."""
    pasts, found = {plain(one.original) for one in owned}, []
    for task in graded.tasks:
        text, grades = task["text"], graded.grades.get(task["id"], {})
        for door in ("set", "search", "hint"):
            first, before = (next(iter(home[text][door]), "") for home in (lived, fresh))
            if first in pasts and first != before and grades.get(first, UNKNOWN) == UNKNOWN:
                found.append({"task": text, "door": door, "intruder": first, "before": before})
    return found


def strangers(readings: Readings, folder: Path) -> list[str]:
    """Return what an answer in a project's folder names that is another project's own."""
    return [
        f"{text}: {key} in {folder.name}, by {door}"
        for text, reading in readings.items()
        for door in ("set", "search", "hint")
        for key in reading.named(door)
        if key.startswith("project:") and not key.startswith(f"project:{folder.resolve()}:")
    ]


def hidden(copied: Mapping[str, str], fresh: Readings, lived: Readings, original: Callable[[str], str]) -> list[str]:
    """Return the requests whose sets lack the first of before, or call it installed, as another project has a copy."""
    found = []
    for text in copied:
        sets = [(original(one["id"]), one["installed"]) for one in lived[text].items]
        if (plain(fresh[text].first), False) not in sets:
            found.append(f"{text}: {sets} in place of {fresh[text].first}")
    return found
