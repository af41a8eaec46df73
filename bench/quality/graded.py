"""Judges answers to plain tasks by graded components: 2 serves the task, 1 helps, 0 would not help or misleads.

A set is good with a member of grade 2 and none of grade 0, and one for each part of a task that has several; bad
without a member of grade 2 or with a 0 first. What nobody graded counts as 0, and its share is told. It shares no code
with what it judges.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

UNKNOWN, HELPS, SERVES = 0, 1, 2
HERE = Path(__file__).resolve().parent
TASKS = HERE / "graded_tasks" / "tasks.jsonl"  # what is learned from
GRADES = (("others", UNKNOWN), ("helps", HELPS), ("serves", SERVES))  # its fields, and what they are worth
_HALVES = ("learned-eight", "learned-six")
# Further folders, and their splits that are learned from; what else they hold is a yardstick.
LEARNED = {
    "unseen_tasks": _HALVES,
    "long_prompts": _HALVES,
    "common_tasks": ("learned",),
    "project_tasks": ("learned",),
}
BINS, DRAWS = 10, 2_000
Figures = dict[str, np.ndarray]


@dataclass(frozen=True)
class Graded:
    """The tasks of a split and the grades of components for each, by the task's id."""

    tasks: Sequence[Mapping]
    grades: Mapping[str, Mapping[str, int]]

    @classmethod
    def read(cls, folder: Path, split: str, further: Path | None = None) -> Graded:
        """Read a folder with tasks.jsonl and grades.tsv, and further grades of its tasks."""
        lines = (folder / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
        tasks = [task for task in map(json.loads, filter(str.strip, lines)) if task.get("split") == split]
        grades: dict[str, dict[str, int]] = defaultdict(dict)
        for file in filter(None, (folder / "grades.tsv", further)):
            for line in file.read_text(encoding="utf-8").splitlines():
                task, component, grade = line.split("\t")
                grades[task][plain(component)] = int(grade)
        return cls(tasks, grades)


@dataclass(frozen=True)
class Lesson:
    """A task to learn from: where it is kept, its text, the grades of components by id, and its project's folder."""

    kind: str
    text: str
    grades: Mapping[str, int]
    project: str = ""


def lessons(*, further: bool) -> list[Lesson]:
    """Return the tasks of graded_tasks/, and if wanted those of the further folders that are learned from."""
    rows = map(json.loads, TASKS.read_text(encoding="utf-8").splitlines())
    found = [
        Lesson(TASKS.parent.name, row["text"], {key: grade for field, grade in GRADES for key in row[field]})
        for row in rows
    ]
    for kind, split in ((kind, split) for kind, splits in LEARNED.items() if further for split in splits):
        read = Graded.read(HERE / kind, split)
        found += [
            Lesson(kind, task["text"], read.grades.get(task["id"], {}), _folder(HERE / kind, task))
            for task in read.tasks
        ]
    return found


def _folder(kept: Path, task: Mapping) -> str:
    return str(kept / task["project"]) if task.get("project") else ""


def plain(key: str) -> str:
    """Return an id without what says how it was fetched."""
    return key.removeprefix("git:").removeprefix("https://")


def judge_tasks(graded: Graded, answers: Mapping[str, Mapping]) -> Figures:
    """Return a figure a task, in per cent but for `Sure`, for every measure; NaN where a measure does not apply."""
    rows = [_judged(task, answers[task["text"]], graded.grades.get(task["id"], {})) for task in graded.tasks]
    return {
        name: np.array([row.get(name, math.nan) for row in rows]) for name in dict.fromkeys(n for r in rows for n in r)
    }


def _judged(task: Mapping, answer: Mapping, grades: Mapping[str, int]) -> dict[str, float]:
    chosen, listed, named = ([plain(key) for key in answer[door]] for door in ("set", "search", "hint"))
    members = [grades.get(key, UNKNOWN) for key in chosen]
    good, bad = _verdict(task, chosen, members)
    figures = {"Good": 100.0 * good, "Bad": 100.0 * bad}
    if chosen:
        figures["Confidence"] = answer["confidence"]
    if chosen and not good:
        figures["Sure"] = answer["confidence"]
    if members:
        figures["Unjudged"] = 100.0 * np.mean([key not in grades for key in chosen])
    if not task["wants"]:
        return figures | {"Needless": 100.0 * bool(answer["hint"])}
    if members:
        figures["Precision"] = 100.0 * np.mean([grade >= HELPS for grade in members])
    found = [grades.get(key, UNKNOWN) for key in listed[:10]]
    ideal = _gain(sorted(grades.values(), reverse=True)[:10])
    figures |= {"nDCG@10": 100.0 * _gain(found) / (ideal or 1.0), "Hit@1": 100.0 * (found[:1] == [SERVES])}
    hinted = [grades.get(key, UNKNOWN) for key in named]
    figures["Caught"] = 100.0 * (SERVES in hinted)
    if hinted:
        figures["Hint wrong"] = 100.0 * (hinted[0] == UNKNOWN)
    return figures


@dataclass(frozen=True)
class Calibration:
    """How far confidence is from the share of good sets, beside what chance alone gives a perfect confidence.

    `error` is the expected calibration error over ten bins, in per cent, `sure` the mean confidence of sets that are
    not good; each with its mean and its 2.5th and 97.5th percentile, were every set good with just its confidence.
    """

    sets: int
    error: float
    error_by_chance: tuple[float, float, float]
    sure: float
    sure_by_chance: tuple[float, float, float]


def calibration(figures: Figures) -> Calibration:
    """Return the calibration of the confidence in the sets that were recommended, from the figures of the tasks."""
    told = ~np.isnan(figures["Confidence"])
    confidence, good = figures["Confidence"][told], figures["Good"][told] > 0
    drawn = np.random.default_rng(0).random((DRAWS, len(good))) < confidence
    return Calibration(
        len(good),
        _error(confidence, good),
        _spread([_error(confidence, one) for one in drawn]),
        _sure(confidence, good),
        _spread([_sure(confidence, one) for one in drawn]),
    )


def _error(confidence: np.ndarray, good: np.ndarray) -> float:
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, confidence - good, BINS)
    return float(100.0 * np.abs(gaps).sum() / len(confidence))


def _sure(confidence: np.ndarray, good: np.ndarray) -> float:
    return math.nan if good.all() else float(confidence[~good].mean())


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    return float(np.nanmean(values)), *(float(np.nanpercentile(values, share)) for share in (2.5, 97.5))


def _verdict(task: Mapping, chosen: Sequence[str], members: Sequence[int]) -> tuple[bool, bool]:
    if not task["wants"]:
        return not chosen, bool(chosen)
    whole = all({plain(key) for key in part} & set(chosen) for part in task.get("parts", ()))
    served = SERVES in members
    return served and UNKNOWN not in members and whole, not served or members[0] == UNKNOWN


def _gain(grades: Sequence[int]) -> float:
    return sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))
