"""Teaches the pair encoder on: `further_pairs.py HOME… --halves FILE` rewrites the bundled model's pairs.npz.

From what pairs.py wrote it learns project_tasks/ and common_tasks/, and some of what was learned before, so that it
forgets nothing. In a project a component is read with what it is for behind the question, as by the product. Either
half of the new tasks, divided by project, is learned apart; what ships is the mean of both (Wortsman et al. 2022: Model
soups). FILE gets what each half tells of the other's components, after what pairs.py wrote there: relevance.py learns
from that how far to trust it. Needs torch beside the product's packages, and a home that holds the fourteen
repositories; a half takes 25 minutes on two cores.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality"), str(ROOT / "tools")]

from graded import Lesson, lessons, plain  # noqa: E402
from inside import questions_read  # noqa: E402
from pair_lessons import List, Texts, requests, some_of_each_grade  # noqa: E402
from pairs import SCALE, Batch, PairEncoder, Words, arguments, cut, descend, shipped_weights  # noqa: E402
from questions import note  # noqa: E402

import build_model  # noqa: E402
from repertoire.app.wiring import open_repertoire  # noqa: E402
from repertoire.domain.answer import Query  # noqa: E402
from repertoire.inference.adapters import HEAD, OFFSETS  # noqa: E402
from repertoire.inference.bundled import OF_QUESTION, OF_TEXT  # noqa: E402

NEW = ("project_tasks", "common_tasks")
LISTS = {"project_tasks": 9, "common_tasks": 6, "graded_tasks": 3, "unseen_tasks": 3, "long_prompts": 1}  # of a batch
BESIDE = {"requests": 1, "told": 1}
NEW_LIST, OLD_LIST = (10, 3), (8, 2)  # components of a task's list, and those of each grade above 0
FARTHER, BESIDE_ANSWER = 2, 5  # drawn from all components and held to be of no use
STEPS, HEAD_RATE, WARM, RANK = 250, 1e-3, 20, 32
SHIPPED = build_model.TARGET / "pairs.npz"
Pair = tuple[str, int]  # a question as it is read, and a component's row


class Questions:
    """The tasks and requests that are learned from, as tokens, each with what a reader or its writer graded."""

    def __init__(self, known: Texts, asked: Mapping[tuple[str, str], Mapping[str, str]]) -> None:
        self.tasks = [task for task in lessons(further=True) if task.kind in LISTS]
        self.tasks = [task for task in self.tasks if task.grades.keys() <= known.rows.keys()]
        self.rows = [{known.rows[key]: grade for key, grade in task.grades.items()} for task in self.tasks]
        own = [asked.get((task.project, task.text), {}) for task in self.tasks]
        self.texts = [
            {known.rows[key]: found.get(key, task.text) for key in task.grades}
            for task, found in zip(self.tasks, own, strict=True)
        ]
        self.beside = {"requests": requests(known.rows), "told": known.told}
        self._words = Words()
        self._components = self._words.of(known.texts, OF_TEXT)
        self._read: dict[str, list[int]] = {}

    def pair(self, pair: Pair) -> list[int]:
        """Return the tokens that are read of a pair."""
        text, row = pair
        if text not in self._read:
            self._read[text] = self._words.of([text], OF_QUESTION)[0]
        begin, end = self._words.begin, self._words.end
        return [begin, *self._read[text], end, *self._components[row], end]

    def __len__(self) -> int:
        return len(self._components)


class Draws:
    """Draws batches of lists for the tasks at some places."""

    def __init__(self, questions: Questions, places: Sequence[int]) -> None:
        self._questions = questions
        self._places = {kind: [at for at in places if questions.tasks[at].kind == kind] for kind in LISTS}

    def draw(self, chance: np.random.Generator) -> list[tuple[list[Pair], List]]:
        """Return lists with the pairs that are read for each."""
        found = []
        for kind, count in LISTS.items():
            places = chance.choice(self._places[kind], count, replace=False).tolist()
            found += [self._graded(place, chance, *(NEW_LIST if kind in NEW else OLD_LIST)) for place in places]
        for kind, count in BESIDE.items():
            of_kind = self._questions.beside[kind]
            places = chance.choice(len(of_kind), count, replace=False).tolist()
            found += [
                self._answered(of_kind[place].text, next(iter(of_kind[place].grades)), chance) for place in places
            ]
        return found

    def _graded(self, place: int, chance: np.random.Generator, long: int, of_a_grade: int) -> tuple[list[Pair], List]:
        grades, texts = self._questions.rows[place], self._questions.texts[place]
        rows = some_of_each_grade(grades, chance, long=long, of_a_grade=of_a_grade)
        pairs = [(texts[row], row) for row in rows]
        text = self._questions.tasks[place].text
        farther = [row for row in self._farther(chance, FARTHER) if row not in grades]
        values = [grades[row] for row in rows] + [0] * len(farther)
        return [*pairs, *((text, row) for row in farther)], List(place, [*rows, *farther], values, read=True)

    def _answered(self, text: str, answer: int, chance: np.random.Generator) -> tuple[list[Pair], List]:
        rows = [answer, *(row for row in self._farther(chance, BESIDE_ANSWER) if row != answer)]
        return [(text, row) for row in rows], List(0, rows, [2] + [0] * (len(rows) - 1), read=False)

    def _farther(self, chance: np.random.Generator, count: int) -> list[int]:
        return chance.choice(len(self._questions), count, replace=False).tolist()


def main() -> int:
    """Learn and write."""
    options = arguments(
        __doc__, steps=STEPS, halves="add what each half tells of the other to this file, as JSON lines"
    )
    known, asked = read(options.homes)
    questions = Questions(known, asked)
    with np.load(SHIPPED) as file:
        shipped = dict(file)
    weights = turned(shipped_weights(options.weights), shipped)
    taught = []
    for out in (0, 1):
        held = [at for at, task in enumerate(questions.tasks) if task.kind in NEW and half_of(task) == out]
        places = sorted({*range(len(questions.tasks))} - {*held})
        encoder = learn(weights, shipped, questions, places, options.steps, seed=1 + out)
        taught.append(encoder)
        if options.halves:
            with options.halves.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in told(encoder, questions, held))
    np.savez_compressed(options.out, **mean(shipped, taught))
    if options.out == SHIPPED:
        note(SHIPPED)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes", flush=True)
    return 0


def read(homes: Sequence[Path]) -> tuple[Texts, dict[tuple[str, str], dict[str, str]]]:
    """Return the components of some homes, and by project and task the question that is read with each of them."""
    found, asked = [], {}
    tasks = [task for task in lessons(further=True) if task.project]
    for home in homes:
        with open_repertoire(home, environment={"REPERTOIRE_QUERY_MS": "60000"}, read_only=True) as opened:
            graph = opened.store.graph
            ids = {plain(summary.id): summary for summary in graph.summaries()}
            found += [entry.component for entry in graph.components([one.node_id for one in ids.values()]).values()]
            for task in (task for task in tasks if ids.keys() >= task.grades.keys()):
                keys = [ids[key].id for key in task.grades]
                read = questions_read(opened.pipeline, Query(task.text, project=task.project), keys)
                asked[task.project, task.text] = {plain(key): text for key, text in read.items()}
    return Texts(iter(found)), asked


def half_of(task: Lesson) -> int:
    """Return the half of a new task: that of its project, so that no project is in both."""
    return zlib.crc32((Path(task.project).name or task.text).encode()) % 2


def turned(weights: dict[str, Tensor], turns: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    """Return the weights of the encoder that ships: with its turns added."""
    found = dict(weights)
    for layer in range(build_model.LAYERS):
        at = f"encoder.layer.{layer}."
        for part in ("attention.self.packed", "attention.output.dense", "intermediate.dense", "output.dense"):
            down, up = (turns[f"{at}{part}.{side}"].astype(np.float64) for side in ("down", "up"))
            added = torch.tensor((down @ up).T, dtype=torch.float32)
            if part.endswith("packed"):
                names = [f"{at}attention.self.{name}.weight" for name in ("query", "key", "value")]
                for name, of_part in zip(names, added.chunk(len(names)), strict=True):
                    found[name] = found[name] + of_part.to(found[name].device)
            else:
                found[f"{at}{part}.weight"] = found[f"{at}{part}.weight"] + added.to(found[f"{at}{part}.weight"].device)
    return found


def learn(
    weights: dict[str, Tensor],
    shipped: Mapping[str, np.ndarray],
    questions: Questions,
    places: Sequence[int],
    steps: int,
    seed: int,
) -> PairEncoder:
    """Return the encoder that descends the loss of pairs.py from where it is."""
    torch.manual_seed(seed)
    chance, draws = np.random.default_rng(seed), Draws(questions, places)
    encoder = PairEncoder(weights, RANK)
    with torch.no_grad():
        encoder.head.weight.copy_(torch.tensor(shipped[HEAD].T / SCALE))
        encoder.head.bias.copy_(torch.tensor(shipped[OFFSETS]))

    def draw() -> Batch:
        drawn = draws.draw(chance)
        return [one for _, one in drawn], [questions.pair(pair) for pairs, _ in drawn for pair in pairs]

    return descend(encoder, draw, steps, head_rate=HEAD_RATE, warm=WARM)


@torch.no_grad()
def told(encoder: PairEncoder, questions: Questions, places: Sequence[int]) -> Iterator[dict]:
    """Yield what an encoder tells of each graded component of some tasks."""
    for place in places:
        task, texts = questions.tasks[place], questions.texts[place]
        odds = encoder([questions.pair((text, row)) for row, text in texts.items()]).tolist()
        read = {key: [round(value, 4) for value in one] for key, one in zip(task.grades, odds, strict=True)}
        yield {"kind": task.kind, "project": Path(task.project).name, "text": task.text, "read": read}


def mean(shipped: Mapping[str, np.ndarray], taught: Sequence[PairEncoder]) -> dict[str, np.ndarray]:
    """Return what ships with the mean of what was learned from it, cut to the ranks that are kept."""
    learned = [encoder.arrays() for encoder in taught]
    found = {name: np.mean([one[name] for one in learned], axis=0) for name in (HEAD, OFFSETS)}
    for name in (name for name in shipped if name.endswith(".down")):
        found[name] = np.concatenate([one[name] for one in (shipped, *learned)], axis=1, dtype=np.float64)
    for name in (name for name in shipped if name.endswith(".up")):
        shares = (1.0, *(1.0 / len(learned) for _ in learned))
        turns = [share * one[name] for share, one in zip(shares, (shipped, *learned), strict=True)]
        found[name] = np.concatenate(turns, axis=0, dtype=np.float64)
    return cut(found)


if __name__ == "__main__":
    raise SystemExit(main())
