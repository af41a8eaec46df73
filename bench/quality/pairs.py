"""Learns to read a question and a component together: `pairs.py HOME…` rewrites the bundled model's pairs.npz.

A cross-encoder (Nogueira and Cho 2019) that needs no weights of its own: the dense layers of the bundled model get a
turn of low rank, as in questions.py, and a linear head on the mean vector tells the log-odds that the component serves
and that it helps. It learns from short lists of components, some of which answer: graded tasks with what was graded,
and plain requests with the component that each was thought up for and others that are near by the vectors that ship.
Its loss is the surprise at what answers in a list, and for graded tasks that of both grades of each component.

`--halves FILE` learns from either half of the graded tasks alone before, and writes what each tells of the other half's
components: relevance.py learns from that how far to trust it. Needs torch beside the product's packages, and the homes
of graded_tasks/; takes half an hour on two cores, with halves an hour and a half.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality"), str(ROOT / "tools")]

from graded import GRADES, TASKS, plain  # noqa: E402
from opening import shipped_model  # noqa: E402
from plain_lessons import REQUESTS  # noqa: E402
from questions import Reader, load_weights, note  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

import build_model  # noqa: E402
from repertoire.app.wiring import open_repertoire  # noqa: E402
from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE  # noqa: E402
from repertoire.inference.adapters import HEAD, OFFSETS  # noqa: E402
from repertoire.inference.bundled import OF_QUESTION, OF_TEXT  # noqa: E402
from repertoire.ports import Embedder  # noqa: E402
from repertoire.retrieval.pair_reading import pair_text  # noqa: E402
from repertoire.store.database import Store  # noqa: E402

OF_TASKS, OF_REQUESTS, LONG = 6, 4, 8  # lists in a batch, and components in a list
STEPS, STEPS_OF_HALF, RATE, HEAD_RATE, DECAY, WARM = 900, 700, 1e-3, 3e-3, 0.01, 40
SCALE = 8.0  # of a unit vector before the head
NEAREST, COPY = slice(5, 150), 0.8  # of what others are drawn; a nearer one than this is as good as the answer
OF_GRADES, HELPING = 2.0, 0.5
ALIKE = {"tasks": 200, "requests": 2000}  # neighbours by length from which a batch is drawn
SEED = 0


@dataclass(frozen=True)
class List:
    """A question's tokens, the texts' tokens of some components, and the grade of each; `graded` by a reader."""

    question: list[int]
    texts: list[list[int]]
    grades: list[int]
    graded: bool


@dataclass(frozen=True)
class Request:
    """The tokens of a request, of the component that it was thought up for, and of those near to it."""

    question: list[int]
    answer: list[int]
    others: list[list[int]]


@dataclass(frozen=True)
class Task:
    """A graded task: its text, its tokens, and the ids of components with their grades."""

    text: str
    question: list[int]
    grades: dict[str, int]


class Words:
    """The tokens that the product gives the model for a question and for a component."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(str(build_model.TARGET / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.begin, self.end = (self._tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))

    def question(self, text: str) -> list[int]:
        """Return the tokens of a question."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids[:OF_QUESTION]

    def text(self, text: str) -> list[int]:
        """Return the tokens of a component's text."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids[:OF_TEXT]


class PairEncoder(nn.Module):
    """The bundled model with turned layers, and a head for pairs."""

    def __init__(self, weights: dict[str, Tensor], words: Words) -> None:
        super().__init__()
        self.reader, self.head, self._words = Reader(weights), nn.Linear(build_model.WIDTH, 2), words
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, pairs: Sequence[tuple[list[int], list[int]]]) -> Tensor:
        """Return the log-odds of serving and of helping for each question with its text."""
        begin, end = self._words.begin, self._words.end
        return self.head(
            SCALE * self.reader.read([[begin, *question, end, *text, end] for question, text in pairs]).float()
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what was learned, as the product reads it."""
        weights = (SCALE * self.head.weight).T.detach().numpy().astype(np.float32)
        return {HEAD: weights, OFFSETS: self.head.bias.detach().numpy().astype(np.float32), **self.reader.turns()}


def main() -> int:
    """Learn and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("homes", nargs="+", type=Path)
    parser.add_argument("--weights", type=Path, help="a folder with model.safetensors, instead of a package")
    parser.add_argument("--halves", type=Path, help="write here what each half tells of the other, as JSON lines")
    parser.add_argument("--out", type=Path, default=build_model.TARGET / "pairs.npz", help="where to write")
    options = parser.parse_args()
    embedder, words = shipped_model(parser), Words()
    weights, texts, requests = load_weights(options.weights), {}, []
    for home in options.homes:
        with open_repertoire(home, environment={}, read_only=True) as opened:
            known, asked = from_home(opened.store, embedder, words)
        texts |= known
        requests += asked
    tasks = read_tasks(texts, words)
    half = np.random.default_rng(1).permutation(len(tasks)) % 2
    if options.halves:
        with options.halves.open("w", encoding="utf-8") as file:
            for out in (0, 1):
                kept = [task for task, part in zip(tasks, half, strict=True) if part != out]
                encoder = learn(weights, Lists(kept, texts, requests), words, STEPS_OF_HALF)
                for task in (task for task, part in zip(tasks, half, strict=True) if part == out):
                    file.write(json.dumps({"text": task.text, "read": told(encoder, task, texts)}) + "\n")
    encoder = learn(weights, Lists(tasks, texts, requests), words, STEPS)
    np.savez_compressed(options.out, **encoder.arrays())
    if options.out.parent == build_model.TARGET:
        note(options.out)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes", flush=True)
    return 0


def read_tasks(texts: Mapping[str, list[int]], words: Words) -> list[Task]:
    """Return the tasks of which some graded component is known."""
    tasks = []
    for line in TASKS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        grades = {key: grade for field, grade in GRADES for key in row[field] if key in texts}
        if grades:
            tasks.append(Task(row["text"], words.question(row["text"]), grades))
    return tasks


def from_home(store: Store, embedder: Embedder, words: Words) -> tuple[dict[str, list[int]], list[Request]]:
    """Return the texts of a home's components by id, and the requests that were thought up for some of them."""
    (node_ids, bodies), (_, descriptions) = (
        store.vectors.matrix(space, embedder.model) for space in (BODY_SPACE, DESCRIPTION_SPACE)
    )
    vectors, stored = bodies + descriptions, store.graph.components(node_ids.tolist())
    components = [stored[node_id].component for node_id in node_ids.tolist()]
    tokens = [words.text(pair_text(component)) for component in components]
    rows = {plain(component.id): row for row, component in enumerate(components)}
    lines = map(json.loads, REQUESTS.read_text(encoding="utf-8").splitlines())
    asked = [(line["text"], rows[line["component"]]) for line in lines if line.get("component") in rows]
    return {key: tokens[row] for key, row in rows.items()}, [
        Request(words.question(text), tokens[row], [tokens[other] for other in others])
        for (text, row), others in zip(asked, _others(asked, vectors, embedder), strict=True)
    ]


def _others(asked: Sequence[tuple[str, int]], vectors: np.ndarray, embedder: Embedder) -> Iterator[list[int]]:
    """Yield for each request the rows near to it, without the row that it was thought up for and its near copies."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for start in range(0, len(asked), 64):
        part = asked[start : start + 64]
        likeness = embedder.embed_queries([text for text, _ in part]) @ vectors.T
        for (_, row), alike in zip(part, likeness, strict=True):
            near = np.argsort(-alike, kind="stable")[NEAREST]
            yield near[unit[near] @ unit[row] < COPY].tolist()


class Lists:
    """What is learned from, and the batches that are drawn of it."""

    def __init__(self, tasks: Sequence[Task], texts: Mapping[str, list[int]], requests: Sequence[Request]) -> None:
        self._tasks = sorted(tasks, key=lambda task: len(task.question))
        self._texts = texts
        self._requests = sorted(requests, key=lambda request: len(request.question))

    def draw(self, rng: random.Random) -> list[List]:
        """Return a batch of lists; tasks of like length stand together, and requests."""
        found = [self._of_task(task, rng) for task in _alike(self._tasks, ALIKE["tasks"], OF_TASKS, rng)]
        return found + [_of_request(one, rng) for one in _alike(self._requests, ALIKE["requests"], OF_REQUESTS, rng)]

    def _of_task(self, task: Task, rng: random.Random) -> List:
        """Return up to two components of each higher grade, and others up to the length of a list."""
        by_grade = [[key for key, grade in task.grades.items() if grade == wanted] for wanted in (2, 1, 0)]
        chosen = [key for keys in by_grade[:2] for key in rng.sample(keys, min(2, len(keys)))]
        chosen += rng.sample(by_grade[2], min(LONG - len(chosen), len(by_grade[2])))
        return List(
            task.question, [self._texts[key] for key in chosen], [task.grades[key] for key in chosen], graded=True
        )


def _of_request(request: Request, rng: random.Random) -> List:
    others = rng.sample(request.others, min(LONG - 1, len(request.others)))
    return List(request.question, [request.answer, *others], [2] + [0] * len(others), graded=False)


def _alike(rows: Sequence, span: int, count: int, rng: random.Random) -> list:
    start = rng.randrange(max(1, len(rows) - span + 1))
    return rng.sample(list(rows[start : start + span]), count)


def learn(weights: dict[str, Tensor], lists: Lists, words: Words, steps: int) -> PairEncoder:
    """Return the encoder that descends the loss over batches of lists."""
    rng = random.Random(SEED)
    torch.manual_seed(SEED)
    encoder = PairEncoder(weights, words)
    groups = [
        {"params": list(encoder.reader.parameters()), "rate": RATE},
        {"params": list(encoder.head.parameters()), "rate": HEAD_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, lr=RATE, weight_decay=DECAY)
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * min(1.0, (step + 1) / WARM) * (1.0 - step / steps)
        batch = lists.draw(rng)
        odds = encoder([(one.question, text) for one in batch for text in one.texts])
        loss = loss_of(batch, odds.split([len(one.texts) for one in batch]))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(encoder.reader.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 50 == 49:
            print(f"  step {step + 1} of {steps}: {np.mean(losses[-50:]):.3f}", flush=True)
    return encoder.eval()


def loss_of(batch: Sequence[List], odds: Sequence[Tensor]) -> Tensor:
    """Return the surprise at what answers in each list, and for graded lists that of both grades of each component."""
    order, grades = [], []
    for one, found in zip(batch, odds, strict=True):
        given = torch.tensor(one.grades)
        gains = 2.0**given - 1.0
        if gains.sum() > 0:
            likely = functional.log_softmax(found[:, 0] + HELPING * found[:, 1], dim=0)
            order.append(-(gains / gains.sum() * likely).sum())
        if one.graded:
            wanted = torch.stack([given >= 2, given >= 1], dim=1).float()
            grades.append(functional.binary_cross_entropy_with_logits(found, wanted))
    return torch.stack(order).mean() + OF_GRADES * torch.stack(grades).mean()


@torch.no_grad()
def told(encoder: PairEncoder, task: Task, texts: Mapping[str, list[int]]) -> dict[str, list[float]]:
    """Return what an encoder tells of each graded component of a task, by id."""
    keys = sorted(task.grades, key=lambda key: len(texts[key]))
    odds = encoder([(task.question, texts[key]) for key in keys])
    return {key: [round(value, 4) for value in row] for key, row in zip(keys, odds.tolist(), strict=True)}


if __name__ == "__main__":
    raise SystemExit(main())
