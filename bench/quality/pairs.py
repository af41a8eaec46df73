"""Learns to read a question and a component together: `pairs.py HOME…` rewrites the bundled model's pairs.npz.

A cross-encoder (Nogueira and Cho 2019) that needs no weights of its own: the dense layers of the bundled model get a
turn of low rank, as in questions.py, and a linear head on the mean vector tells the log-odds that the component serves
and that it helps. It learns from short lists of components, some of which answer (pair_lessons.py). Its loss is the
surprise at what answers in a list, and for graded lists that of both grades of each component. The turns are learned
with a high rank and then cut to what holds most of them: a wider turn learns more, a narrower one is read faster.

`--halves FILE` learns from either half of the graded questions alone before, and writes what each tells of the other
half's components: relevance.py learns from that how far to trust it. Needs torch beside the product's packages, and the
homes of graded_tasks/. With an accelerator each takes a minute, on two cores two hours.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality"), str(ROOT / "tools")]

from pair_lessons import COPY, FAR, Lessons, List, Question, Texts, graded_questions, requests  # noqa: E402
from questions import Reader, load_weights, note  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

import build_model  # noqa: E402
from repertoire.app.wiring import open_repertoire  # noqa: E402
from repertoire.domain.component import Component  # noqa: E402
from repertoire.inference.adapters import HEAD, OFFSETS  # noqa: E402
from repertoire.inference.bundled import OF_QUESTION, OF_TEXT  # noqa: E402

STEPS, RATE, HEAD_RATE, DECAY, WARM, DROPPED = 750, 5e-4, 3e-3, 0.01, 40, 0.05
RANK = 64  # of the turns while they are learned
KEPT, KEPT_PACKED = 32, 64  # of those that are kept; the second where query, key and value are one
SCALE = 8.0  # of a unit vector before the head
OF_GRADES, HELPING = 2.0, 0.5
CHUNKS, AT_ONCE = 3, 1024  # parts of a batch by length; pairs and texts that are read at once
SEED = 0
Batch = tuple[list[List], list[list[int]]]  # lists, and the tokens of the pairs of all of them


class Words:
    """The tokens that the product gives the model for a question and for a component."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(str(build_model.TARGET / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.begin, self.end = (self._tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))

    def of(self, texts: Sequence[str], most: int) -> list[list[int]]:
        """Return the tokens of texts, so many of each at most."""
        return [encoding.ids[:most] for encoding in self._tokenizer.encode_batch(texts, add_special_tokens=False)]


class Tokens:
    """Questions and components as tokens, and the pairs that are read of them."""

    def __init__(self, questions: Sequence[Question], texts: Sequence[str]) -> None:
        words = Words()
        self.questions = words.of([question.text for question in questions], OF_QUESTION)
        self.texts = words.of(texts, OF_TEXT)
        self._begin, self._end = [words.begin], [words.end]

    def pair(self, question: int, row: int) -> list[int]:
        """Return what is read of a question and a component."""
        return self._begin + self.questions[question] + self._end + self.texts[row] + self._end

    def alone(self, tokens: list[int]) -> list[int]:
        """Return what is read of a text alone."""
        return self._begin + tokens + self._end


class PairEncoder(nn.Module):
    """The bundled model with turned layers, and a head for pairs."""

    def __init__(self, weights: dict[str, Tensor], rank: int = RANK) -> None:
        super().__init__()
        self.reader, self.head = Reader(weights, rank, DROPPED), nn.Linear(build_model.WIDTH, 2)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        self.head.to(device())

    def forward(self, pairs: Sequence[Sequence[int]]) -> Tensor:
        """Return the log-odds of serving and of helping for each pair; those of like length are read together."""
        order = np.argsort([len(pair) for pair in pairs], kind="stable")
        chunks = (chunk for chunk in np.array_split(order, CHUNKS) if len(chunk))
        parts = [self.reader.read([pairs[place] for place in chunk]) for chunk in chunks]
        back = torch.tensor(np.argsort(order), device=device())
        return self.head(SCALE * torch.cat(parts).float())[back]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what was learned: the head as the product reads it, and turns that are to be cut."""
        weights = (SCALE * self.head.weight).T.detach().cpu().numpy().astype(np.float32)
        offsets = self.head.bias.detach().cpu().numpy().astype(np.float32)
        return {HEAD: weights, OFFSETS: offsets, **self.reader.turns()}


def cut(learned: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what was learned as it ships: with the nearest turns of a lower rank, by the singular values of each."""
    found = {name: learned[name] for name in (HEAD, OFFSETS)}
    for name in (name.removesuffix(".down") for name in learned if name.endswith(".down")):
        down, up = (learned[f"{name}.{part}"].astype(np.float64) for part in ("down", "up"))
        (left, of_down), (right, of_up) = np.linalg.qr(down), np.linalg.qr(up.T)
        outer, values, inner = np.linalg.svd(of_down @ of_up.T)
        kept = KEPT_PACKED if name.endswith("packed") else KEPT
        root = np.sqrt(values[:kept])
        found[f"{name}.down"] = (left @ outer[:, :kept] * root).astype(np.float16)
        found[f"{name}.up"] = (root[:, None] * inner[:kept] @ right.T).astype(np.float16)
    return found


def main() -> int:
    """Learn and write."""
    options = arguments(__doc__, steps=STEPS, halves="write here what each half tells of the other, as JSON lines")
    known = Texts(components(options.homes))
    graded = graded_questions(known.rows)
    questions = [*graded, *requests(known.rows), *known.told]
    weights, tokens = shipped_weights(options.weights), Tokens(questions, known.texts)
    near, alike = nearness(Reader(weights, 1), tokens)

    def learned_from(places: np.ndarray) -> PairEncoder:
        return learn(weights, Lessons(questions, near, alike, places.tolist()), tokens, options.steps)

    if options.halves:
        half, keys = np.random.default_rng(1).permutation(len(graded)) % 2, list(known.rows)
        others = np.arange(len(graded), len(questions))
        with options.halves.open("w", encoding="utf-8") as file:
            for out in (0, 1):
                encoder = learned_from(np.concatenate([np.flatnonzero(half != out), others]))
                for place in np.flatnonzero(half == out).tolist():
                    told = told_of(encoder, tokens, place, questions[place])
                    read = {keys[row]: odds for row, odds in told.items()}
                    one = {"kind": questions[place].kind, "project": "", "text": questions[place].text, "read": read}
                    file.write(json.dumps(one) + "\n")
    np.savez_compressed(options.out, **cut(learned_from(np.arange(len(questions))).arrays()))
    if options.out.parent == build_model.TARGET:
        note(options.out)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes", flush=True)
    return 0


def arguments(described: str, *, steps: int, halves: str) -> argparse.Namespace:
    """Return what a script that teaches the pair encoder was given."""
    parser = argparse.ArgumentParser(description=described.splitlines()[0])
    parser.add_argument("homes", nargs="+", type=Path)
    parser.add_argument("--weights", type=Path, help="a folder with model.safetensors, instead of a package")
    parser.add_argument("--halves", type=Path, help=halves)
    parser.add_argument("--steps", type=int, default=steps, help="fewer to try it out")
    parser.add_argument("--out", type=Path, default=build_model.TARGET / "pairs.npz", help="where to write")
    return parser.parse_args()


def device() -> torch.device:
    """Return where to learn: on an accelerator if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def components(homes: Sequence[Path]) -> Iterator[Component]:
    """Yield all components of some homes."""
    for home in homes:
        with open_repertoire(home, environment={}, read_only=True) as opened:
            node_ids = [summary.node_id for summary in opened.store.graph.summaries()]
            yield from (entry.component for entry in opened.store.graph.components(node_ids).values())


def shipped_weights(folder: Path | None) -> dict[str, Tensor]:
    """Return the weights as they ship, rounded to 8 bits, so that the turns fit what they are added to."""
    found = {}
    for name, weight in load_weights(folder).items():
        values = weight.numpy()
        if name.endswith("word_embeddings.weight"):
            codes, scales = build_model.quantise(values)
            values = codes * scales
        elif values.ndim == 2 and name.startswith("encoder"):
            codes, scales = build_model.quantise(values.reshape(len(values), -1, build_model.BLOCK))
            values = (codes * scales).reshape(values.shape)
        found[name] = torch.tensor(values, dtype=torch.float32, device=device())
    return found


@torch.no_grad()
def nearness(reader: Reader, tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows near to each question by the model as it is, and which components are as good as copies."""
    texts = reader.read_all([tokens.alone(text) for text in tokens.texts])
    asked = reader.read_all([tokens.alone(question) for question in tokens.questions])
    near = [torch.topk(part @ texts.T, min(FAR.stop, len(texts)), dim=1).indices for part in asked.split(AT_ONCE)]
    return torch.cat(near).numpy(), (texts @ texts.T > COPY).numpy()


def learn(weights: dict[str, Tensor], lessons: Lessons, tokens: Tokens, steps: int) -> PairEncoder:
    """Return the encoder that was learned from batches of lists."""
    chance = np.random.default_rng(SEED)
    torch.manual_seed(SEED)

    def draw() -> Batch:
        lists = lessons.draw(chance)
        return lists, [tokens.pair(one.question, row) for one in lists for row in one.rows]

    return descend(PairEncoder(weights), draw, steps, head_rate=HEAD_RATE, warm=WARM)


def descend(encoder: PairEncoder, draw: Callable[[], Batch], steps: int, *, head_rate: float, warm: int) -> PairEncoder:
    """Let an encoder descend the loss over batches, each lists with the tokens of their pairs in order; return it."""
    encoder.train()
    groups = [
        {"params": list(encoder.reader.parameters()), "rate": RATE},
        {"params": list(encoder.head.parameters()), "rate": head_rate},
    ]
    optimizer = torch.optim.AdamW(groups, lr=RATE, weight_decay=DECAY)
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * min(1.0, (step + 1) / warm) * (1.0 - step / steps)
        lists, pairs = draw()
        loss = loss_of(lists, encoder(pairs).split([len(one.rows) for one in lists]))
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
        given = torch.tensor(one.grades, device=found.device)
        gains = 2.0**given - 1.0
        if gains.sum() > 0:
            likely = functional.log_softmax(found[:, 0] + HELPING * found[:, 1], dim=0)
            order.append(-(gains / gains.sum() * likely).sum())
        if one.read:
            wanted = torch.stack([given >= 2, given >= 1], dim=1).float()
            grades.append(functional.binary_cross_entropy_with_logits(found, wanted, reduction="none"))
    return torch.stack(order).mean() + OF_GRADES * torch.cat(grades).mean()


@torch.no_grad()
def told_of(encoder: PairEncoder, tokens: Tokens, place: int, question: Question) -> dict[int, list[float]]:
    """Return what an encoder tells of each graded component of a question, by row."""
    rows = list(question.grades)
    odds = encoder([tokens.pair(place, row) for row in rows])
    return {row: [round(value, 4) for value in told] for row, told in zip(rows, odds.tolist(), strict=True)}


if __name__ == "__main__":
    raise SystemExit(main())
