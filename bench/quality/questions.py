"""Learns how the bundled model reads questions: `python bench/quality/questions.py` rewrites its questions.npz.

A general model puts a question near what is worded like it; what serves it is worded otherwise. So every dense layer
gets a turn of low rank (LoRA, Hu et al. 2021) that is applied to questions alone: vectors of components stay as they
are, and nothing is embedded anew when this is learned again. It learns from three kinds of lessons: the train splits of
sets whose answers are many and telling (no set with a small, closed stock of tools: what is learned must hold for
components it never saw); what components say of themselves in quotation marks, in descriptions, amid their bodies; and
sentences of encyclopaedic passages, which hold the model to what it knew. The surprise at what answers among all
components of a set is minimised (a softmax over them), near copies of an answer left out; a distance from the model's
own vector is charged.

Needs torch beside the product's packages; takes some minutes on two cores. `--halves DIR` also learns from either half
of the train splits alone: learn.py weighs each question with the turn that was not learned from it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality"), str(ROOT / "tools")]

from judge import read_labels  # noqa: E402
from learn import answered, filled, half_of  # noqa: E402
from opening import labelled_sets  # noqa: E402

import build_model  # noqa: E402
from repertoire.app.wiring import open_embedder  # noqa: E402
from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE  # noqa: E402
from repertoire.settings import Settings  # noqa: E402

LABELLED = {"cc_native": 3.0, "cc_bundles": 1.0, "sealtools": 1.0, "toolret_apigen": 1.0}  # how often each is drawn
LENIENT = ("cc_native",)
SELF_TOLD = "cc_native"  # whose components tell of themselves
TOLD = {"quote": 2.0, "sentence": 1.0, "description": 2.0}
ANCHORS = {"hotpot100": 0.75, "musique100": 0.75}  # their texts alone: no question of theirs is read
RANK, STEPS, RATE, DECAY, WARM = 16, 300, 5e-4, 0.01, 20
BATCH, TEMPERATURE, LOYALTY, COPY = 64, 0.05, 0.5, 0.9
TOKENS = 80  # of a question while learning; more cost time and taught nothing
SEED = 0

SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|\s+#+\s+|\s+[-*•]\s+")
QUOTED = re.compile(r"[\"“]([^\"”\n]{12,160})[\"”]")
CODE = re.compile(r"[{}<>=$|]")
OPENING = re.compile(
    r"^(this skill should be used|use this (skill|agent|command)|use|invoke|run|apply|activate)"
    r"( this)?( skill| agent| command| tool)?( proactively)?( when| for| to| if| whenever)?"
    r"( the user| you)?( wants?| needs?| asks?)?( to| for| about)?\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Lesson:
    """Questions as tokens with the rows that answer each, the vectors of all rows, and how often it is drawn."""

    weight: float
    questions: list[list[int]]
    answers: list[list[int]]
    views: tuple[Tensor, ...]


class Turned(nn.Module):
    """A dense layer with a turn of low rank beside it."""

    def __init__(self, weight: Tensor, bias: Tensor, rank: int) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        outputs, inputs = weight.shape
        self.down = nn.Parameter((torch.randn(rank, inputs) / inputs**0.5).to(weight.device))
        self.up = nn.Parameter(torch.zeros(outputs, rank, device=weight.device))

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output, turned."""
        turn = functional.linear(functional.linear(x, self.down), self.up)
        return functional.linear(x, self.weight, self.bias) + turn


class Reader(nn.Module):
    """The encoder of tools/build_model.py in torch, its dense layers turned; it runs where its weights lie.

    While it learns, `dropped` of what every layer adds is left out.
    """

    PARTS = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
    PARTS += ("intermediate.dense", "output.dense")

    def __init__(self, weights: dict[str, Tensor], rank: int = RANK, dropped: float = 0.0) -> None:
        super().__init__()
        self.dropped = dropped
        self.fixed = {name: value for name, value in weights.items() if name.startswith("embeddings") or "Norm" in name}
        names = [f"encoder.layer.{layer}.{part}" for layer in range(build_model.LAYERS) for part in self.PARTS]
        self.dense = nn.ModuleList(Turned(weights[f"{name}.weight"], weights[f"{name}.bias"], rank) for name in names)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the unit vector of every text: the mean of its tokens'."""
        table = (self.fixed[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type"))
        word, position, kind = table
        x = self._drop(self._normal(word[ids] + position[: ids.shape[1]] + kind[0], "embeddings.LayerNorm"))
        hidden = torch.zeros_like(mask, dtype=torch.float).masked_fill(mask == 0, -1e9)[:, None, None, :]
        left_out = self.dropped if self.training else 0.0
        for layer in range(build_model.LAYERS):
            query, key, value, out, inner, last = self.dense[6 * layer : 6 * layer + 6]
            heads = [part(x).view(*ids.shape, build_model.HEADS, -1).transpose(1, 2) for part in (query, key, value)]
            context = functional.scaled_dot_product_attention(*heads, attn_mask=hidden, dropout_p=left_out)
            context = context.transpose(1, 2).reshape(x.shape)
            x = self._normal(x + self._drop(out(context)), f"encoder.layer.{layer}.attention.output.LayerNorm")
            x = self._normal(x + self._drop(last(functional.gelu(inner(x)))), f"encoder.layer.{layer}.output.LayerNorm")
        real = mask[..., None].float()
        return functional.normalize((x.float() * real).sum(1) / real.sum(1), dim=-1)

    def read(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Return the vectors of tokenised texts."""
        ids = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, text in enumerate(texts):
            ids[row, : len(text)], mask[row, : len(text)] = torch.tensor(text), 1
        place = self.fixed["embeddings.word_embeddings.weight"].device
        with torch.autocast(place.type, torch.bfloat16):  # a third of the time where the processor knows it
            return self(ids.to(place), mask.to(place))

    @torch.no_grad()
    def read_all(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Return the vectors of many texts, those of like length together."""
        order = by_length(texts)
        found = torch.zeros(len(texts), build_model.WIDTH)
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            found[part] = self.read([texts[index] for index in part]).cpu()
        return found

    def turns(self) -> dict[str, np.ndarray]:
        """Return what was learned, by the names of the graph's inputs; it lays query, key and value side by side."""
        found = {}
        for layer in range(build_model.LAYERS):
            query, key, value, *others = self.dense[6 * layer : 6 * layer + 6]
            down = torch.cat([part.down for part in (query, key, value)])
            up = torch.block_diag(*(part.up for part in (query, key, value)))
            found |= named(f"encoder.layer.{layer}.attention.self.packed", down, up)
            for part, name in zip(others, self.PARTS[3:], strict=True):
                found |= named(f"encoder.layer.{layer}.{name}", part.down, part.up)
        return found

    def _drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.dropped, self.training)

    def _normal(self, x: Tensor, name: str) -> Tensor:
        return functional.layer_norm(x, x.shape[-1:], self.fixed[f"{name}.weight"], self.fixed[f"{name}.bias"], 1e-12)


def main() -> int:
    """Learn and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, help="keep the vectors of the corpora here")
    parser.add_argument("--weights", type=Path, help="a folder with model.safetensors, instead of a package")
    parser.add_argument("--halves", type=Path, help="also learn from each half of the train splits, into this folder")
    parser.add_argument("--out", type=Path, default=build_model.TARGET / "questions.npz", help="where to write")
    options = parser.parse_args()
    data = labelled_sets(parser)
    tokenizer = Tokenizer.from_file(str(build_model.TARGET / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKENS)
    corpora = {name: corpus(data / name, options.cache) for name in (*LABELLED, *ANCHORS)}
    weights = load_weights(options.weights)
    for half in (None, 0, 1) if options.halves else (None,):
        lessons = read_lessons(data, corpora, tokenizer, half)
        path = options.out if half is None else options.halves / f"questions-{half}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **learn(weights, lessons))
        if path.parent == build_model.TARGET:
            note(path)
        print(f"{path}: {path.stat().st_size} bytes", flush=True)
    return 0


def note(path: Path) -> None:
    """Write the file's checksum beside those of the model."""
    sums = path.with_name("SHA256SUMS")
    kept = [line for line in sums.read_text(encoding="utf-8").splitlines() if not line.endswith(f"  {path.name}")]
    added = f"{build_model.digest(path.read_bytes())}  {path.name}"
    sums.write_text("\n".join([*kept, added]) + "\n", encoding="utf-8")


def load_weights(folder: Path | None) -> dict[str, Tensor]:
    """Return the published weights by name, from a folder or the package that tools/build_model.py names."""
    import tempfile  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as scratch:
        place = folder or build_model.fetch_package(Path(scratch))
        build_model.read_upstream(place)
        return {name: value.float() for name, value in load_file(place / "model.safetensors").items()}


@dataclass(frozen=True)
class Corpus:
    """The components of a set: rows by id, and their vectors in both spaces."""

    rows: dict[str, int]
    views: tuple[Tensor, Tensor]


def corpus(folder: Path, cache: Path | None) -> Corpus:
    """Embed a set's components as the product does."""
    embedder, degraded = open_embedder(ROOT, Settings())
    if embedder is None:
        sys.exit("; ".join(degraded))
    with filled(folder, cache, embedder) as store:
        spaces = [store.vectors.matrix(space, embedder.model) for space in (BODY_SPACE, DESCRIPTION_SPACE)]
        ids = {summary.node_id: summary.id for summary in store.graph.summaries()}
    rows = {ids[node_id]: row for row, node_id in enumerate(spaces[0][0].tolist())}
    return Corpus(rows, (torch.tensor(spaces[0][1]), torch.tensor(spaces[1][1])))


def read_lessons(data: Path, corpora: dict[str, Corpus], tokenizer: Tokenizer, half: int | None) -> dict[str, Lesson]:
    """Return every lesson by name; `half` of the labelled questions is left out of them."""
    rng = random.Random(SEED)
    lessons = {name: labelled(data / name, corpora[name], tokenizer, half) for name in LABELLED}
    lessons |= self_told(data / SELF_TOLD, corpora[SELF_TOLD], tokenizer, rng)
    lessons |= {name: anchor(data / name, corpora[name], tokenizer, rng) for name in ANCHORS}
    return lessons


def labelled(folder: Path, known: Corpus, tokenizer: Tokenizer, half: int | None) -> Lesson:
    """Return a train split: its questions, spread over it where it is large, with what answers them."""
    gold = read_labels(folder, "train", lenient=folder.name in LENIENT).gold
    queries = half_of(answered(folder)[0], half)
    answers = [[known.rows[key] for key in sorted(gold[query["id"]]) if key in known.rows] for query in queries]
    asked = [(query["text"], rows) for query, rows in zip(queries, answers, strict=True) if rows]
    texts = tokens(tokenizer, [text for text, _ in asked])
    return Lesson(LABELLED[folder.name], texts, [rows for _, rows in asked], known.views)


def self_told(folder: Path, known: Corpus, tokenizer: Tokenizer, rng: random.Random) -> dict[str, Lesson]:
    """Return what components say of themselves; each is to be found by the view that does not hold it verbatim."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for row in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        component = json.loads(row)
        if component["type"] == "plugin":  # its description stands for its members: a label of cc_bundles
            continue
        description, _, body = component["text"].partition("\n")
        place = known.rows.get(component["id"])
        if place is None:  # an ingest leaves it out
            continue
        quotes = [text for text in QUOTED.findall(f"{description} {body[:4000]}") if telling(text, 3)]
        sentences = [text.strip(" #*-`") for text in SENTENCE.split(body[:6000])]
        sentences = [text for text in sentences if 25 <= len(text) <= 200 and telling(text, 5)]
        own = [text.strip() for text in SENTENCE.split(description) if len(text.split()) >= 5]
        found["quote"] += [(text, place) for text in rng.sample(quotes, min(3, len(quotes)))]
        found["sentence"] += [(text, place) for text in rng.sample(sentences, min(2, len(sentences)))]
        found["description"] += [(OPENING.sub("", rng.choice(own))[:300], place)] if own else []
    body, description = known.views
    views = {"quote": (description,), "sentence": (description,), "description": (body,)}
    return {
        kind: Lesson(
            TOLD[kind], tokens(tokenizer, [text for text, _ in pairs]), [[row] for _, row in pairs], views[kind]
        )
        for kind, pairs in found.items()
    }


def telling(text: str, words: int) -> bool:
    """Tell whether a text is prose of so many words at least."""
    return len(text.split()) >= words and not CODE.search(text)


def anchor(folder: Path, known: Corpus, tokenizer: Tokenizer, rng: random.Random) -> Lesson:
    """Return a sentence of every passage, to be found by it."""
    texts, answers = [], []
    for row in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        passage = json.loads(row)
        sentences = [text for text in passage["text"].replace("\n", " ").split(". ") if 6 <= len(text.split()) <= 40]
        if len(sentences) > 1:
            texts.append(rng.choice(sentences))
            answers.append([known.rows[passage["id"]]])
    return Lesson(ANCHORS[folder.name], tokens(tokenizer, texts), answers, known.views)


def named(layer: str, down: Tensor, up: Tensor) -> dict[str, np.ndarray]:
    """Return a layer's turn as the graph takes it: both matrices on the right of what they multiply."""
    halved = (matrix.detach().cpu().T.numpy().astype(np.float16) for matrix in (down, up))
    return dict(zip((f"{layer}.down", f"{layer}.up"), halved, strict=True))


def tokens(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    """Return the token ids of texts."""
    return [encoding.ids for encoding in tokenizer.encode_batch(texts)]


def by_length(texts: Sequence[Sequence[int]]) -> list[int]:
    """Return the positions of texts, shorter ones first."""
    return sorted(range(len(texts)), key=lambda index: len(texts[index]))


def learn(weights: dict[str, Tensor], lessons: dict[str, Lesson]) -> dict[str, np.ndarray]:
    """Return the turns that descend the surprise at what answers, a batch of one lesson at a time."""
    rng = random.Random(SEED)
    torch.manual_seed(SEED)
    reader = Reader(weights)
    own = {name: reader.read_all(lesson.questions) for name, lesson in lessons.items()}  # not turned yet
    order = {name: by_length(lesson.questions) for name, lesson in lessons.items()}
    optimizer = torch.optim.AdamW(reader.parameters(), lr=RATE, weight_decay=DECAY)
    surprise = []
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / WARM) * (1.0 - step / STEPS)
        (name,) = rng.choices(list(lessons), [lesson.weight for lesson in lessons.values()])
        loss = slope_of(reader, lessons[name], draw(order[name], rng), own[name], rng)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        surprise.append(loss.item())
        if step % 50 == 49:
            print(f"  step {step + 1} of {STEPS}: {np.mean(surprise[-50:]):.3f}", flush=True)
    return reader.turns()


def draw(order: list[int], rng: random.Random) -> list[int]:
    """Draw a batch of questions of like length: padding would be half of it otherwise."""
    span = min(len(order), max(BATCH, len(order) // 4))
    start = rng.randrange(len(order) - span + 1)
    return rng.sample(order[start : start + span], min(BATCH, span))


def slope_of(reader: Reader, lesson: Lesson, batch: list[int], own: Tensor, rng: random.Random) -> Tensor:
    """Return the surprise at what answers a batch, with what leaving the model's own vectors costs."""
    view = rng.choice(lesson.views)
    asked = reader.read([lesson.questions[index] for index in batch])
    odds = asked @ view.T / TEMPERATURE
    with torch.no_grad():
        wanted = torch.zeros_like(odds)
        copies = view[[lesson.answers[index][0] for index in batch]] @ view.T > COPY
        for row, index in enumerate(batch):
            wanted[row, lesson.answers[index]] = 1.0 / len(lesson.answers[index])
            copies[row, lesson.answers[index]] = False
    likely = functional.log_softmax(odds.masked_fill(copies, -1e4), dim=1)
    strayed = 1.0 - (asked * own[batch]).sum(1)
    return -(wanted * likely).sum(1).mean() + LOYALTY * strayed.mean()


if __name__ == "__main__":
    raise SystemExit(main())
