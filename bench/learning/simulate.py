"""Simulates users whose taste is learned: `python bench/learning/simulate.py [SET…] [--write] [--cache DIR]`.

Users ask the train questions in rounds of 100, ten days apart. A user looks at rank r of the first five with
probability 1/r, from the top down, and selects the first that serves; who finds none uses what serves unaided, half of
the time. A third of the selections get a word: ok where it served, failed where not. `wrong` replaces a fifth of the
selections by something else that was looked at or shown. `change` alters, half-way, what serves for half of the
components: what was served by one is served by its nearest in meaning from then on. A fifth of the components never
serve a train question. At each checkpoint the dev questions are asked, labelled by the taste of that day; nothing is
learned from them. Figures are percentages with 95 % intervals.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

import numpy as np  # noqa: E402
from judge import interval  # noqa: E402
from opening import labelled_sets, shipped_model  # noqa: E402
from run import commit, keep  # noqa: E402

from repertoire.app.evaluate import EvalOptions, LabelledSet, fill, read_set  # noqa: E402
from repertoire.app.memory import known_trials, use_prior  # noqa: E402
from repertoire.app.search import search  # noqa: E402
from repertoire.app.wiring import capabilities_in  # noqa: E402
from repertoire.domain.answer import DESCRIPTION_SPACE, REQUEST_SPACE, Query  # noqa: E402
from repertoire.learning.memory import Clock, remember  # noqa: E402
from repertoire.retrieval.pipeline import Options, Pipeline  # noqa: E402
from repertoire.store.database import Store  # noqa: E402
from repertoire.store.events import ASKED, OFFERED, OUTCOME, SELECTED, Event  # noqa: E402
from repertoire.store.requests import Request, Selection  # noqa: E402

SETS = ("metatool_single", "ultratool")
SHOWN, ROUND, DAYS = 5, 100, 10
UNAIDED, TOLD, WRONG, UNSEEN = 0.5, 1 / 3, 0.2, 0.2
HALF_LIFE = 90.0
# name → what is learned from (past requests, use), whether a fifth of the selections is wrong, whether taste changes
ARMS = {
    "none": ((), False, False),
    "use alone": (("use",), False, False),
    "requests alone": (("requests",), False, False),
    "all": (("requests", "use"), False, False),
    "all, wrong": (("requests", "use"), True, False),
    "none, change": ((), False, True),
    "requests alone, change": (("requests",), False, True),
    "all, change": (("requests", "use"), False, True),
}


class Remembering:
    """The model, which reads each question once: every checkpoint asks the same."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self._read: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed_queries(self, texts: Sequence[str]) -> Any:
        new = [text for text in dict.fromkeys(texts) if text not in self._read]
        if new:
            self._read.update(zip(new, self._embedder.embed_queries(new), strict=True))
        return np.stack([self._read[text] for text in texts])


@dataclass
class World:
    """One simulated machine with its users."""

    store: Store
    embedder: Any
    labelled: LabelledSet
    arm: str
    dice: random.Random
    options: argparse.Namespace
    today: datetime = datetime(2026, 1, 1, tzinfo=timezone.utc)
    swapped: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.learns, self.wrong, self.changes = ARMS[self.arm]
        prior = use_prior(lambda: remember(known_trials(self.store), Clock(self.at, HALF_LIFE)))
        self.pipeline = Pipeline(
            self.store.graph,
            self.store.vectors,
            embedder=self.embedder,
            capabilities=capabilities_in(),
            options=Options(priors=(prior,) if "use" in self.learns else ()),
        )

    @property
    def at(self) -> str:
        return self.today.strftime("%Y-%m-%dT%H:%M:%SZ")

    def ask(self, query: Mapping[str, Any], limit: int = 10) -> list[str]:
        found = search(self.pipeline, Query(query["text"], limit=limit))
        return [hit.component.id for hit in found.hits]

    def serves(self, query: Mapping[str, Any]) -> set[str]:
        return {self.swapped.get(one, one) for one in self.labelled.gold.get(query["id"], ())}

    def round(self, queries: Sequence[Mapping[str, Any]]) -> None:
        """Let users ask, see, select and tell; then learn from it at once."""
        events: list[Event] = []
        past: list[Request] = []
        for query in queries:
            shown, chosen = self.ask(query, SHOWN), set()
            where = (query["id"], "/simulated", f"request:{query['id']}")
            events.append(Event(self.at, ASKED, *where))
            events += [Event(self.at, OFFERED, *where, one, {"rank": rank}) for rank, one in enumerate(shown, 1)]
            for one in self._selected(shown, self.serves(query)):
                chosen.add(one)
                events.append(Event(self.at, SELECTED, *where, one, {"how": "used"}))
                if self.dice.random() < TOLD:
                    told = {"outcome": "ok" if one in self.serves(query) else "failed"}
                    events.append(Event(self.at, OUTCOME, *where, one, told))
            if chosen:
                past.append(Request(where[2], query["text"], selected=tuple(map(Selection, sorted(chosen)))))
        if self.learns:
            self.store.events.append(events)
        if "requests" in self.learns:
            ids = self.store.requests.record_many(past, now=self.at)
            vectors = self.embedder.embed_queries([request.text for request in past])
            self.store.vectors.put(REQUEST_SPACE, self.embedder.reading, [(one, "") for one in ids], vectors)
        self.today += timedelta(days=DAYS)
        # as a server that starts anew: the leaning is read again also where no request moved the revision
        self.__post_init__()

    def _selected(self, shown: Sequence[str], serving: set[str]) -> set[str]:
        looked = [one for rank, one in enumerate(shown, 1) if self.dice.random() < 1 / rank]
        found = {next((one for one in looked if one in serving), "")} - {""}
        if not found and self.dice.random() < UNAIDED:
            found = {self.dice.choice(sorted(serving))}
        if found and self.wrong and self.dice.random() < WRONG:
            others = [one for one in (looked or shown) if one not in serving] or [o for o in shown if o not in serving]
            found = {self.dice.choice(others)} if others else found
        return found

    def change_taste(self) -> None:
        """Let half of the components be served by their nearest in meaning from now on."""
        ids, vectors = self.store.vectors.matrix(DESCRIPTION_SPACE, self.embedder.model)
        keys = [self.store.graph.components([int(one)])[int(one)].component.id for one in ids]
        alike = vectors @ vectors.T
        np.fill_diagonal(alike, -1.0)
        nearest = {key: keys[int(np.argmax(row))] for key, row in zip(keys, alike, strict=True)}
        self.swapped = {key: nearest[key] for key in self.dice.sample(sorted(keys), len(keys) // 2)}

    def measure(self, queries: Sequence[Mapping[str, Any]], unseen: set[str]) -> dict[str, Any]:
        """Ask the dev questions; `new` are those that only what never served before serves."""
        rows = [(self.serves(query), self.ask(query)) for query in queries]
        plain = [set(self.labelled.gold.get(query["id"], ())) for query in queries]
        hit = 100.0 * np.array([float(bool(found) and found[0] in gold) for gold, found in rows])
        five = 100.0 * np.array([len(gold & set(found[:5])) / max(len(gold), 1) for gold, found in rows])
        new = np.array([bool(gold) and gold <= unseen for gold in plain])
        swapped = np.array([bool(gold & set(self.swapped)) for gold in plain])
        figures = {"Hit@1": interval(hit), "R@5": interval(five)}
        if new.any():
            figures["Hit@1 of components without history"] = interval(hit[new])
        if swapped.any():
            figures["Hit@1 where taste changed"] = interval(hit[swapped])
        return figures


def main() -> int:
    """Run the arms and print, or keep, their curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS, help=f"which sets; default: {' '.join(SETS)}")
    parser.add_argument("--arms", nargs="*", default=list(ARMS), help="which users and what is learned")
    parser.add_argument("--seeds", type=int, default=1, help="how many times, with seeds 0, 1, …")
    parser.add_argument("--rounds", type=int, default=12, help="rounds of 100 questions")
    parser.add_argument("--dev", type=int, default=300, help="dev questions, the first of a shuffle with seed 0")
    parser.add_argument("--identity", action="store_true", help="only check that an empty log changes no answer")
    parser.add_argument("--write", action="store_true", help="keep the curves in bench/results")
    parser.add_argument("--cache", type=Path, help="keep the vectors of the corpora here")
    options = parser.parse_args()
    data, measured = labelled_sets(parser), commit()
    model = shipped_model(parser)
    rows: list[dict[str, Any]] = []
    embedder = Remembering(model)
    for name in options.sets:
        if options.identity:
            rows.append({"set": name, **identity(data / name, embedder, options)})
            print(rows[-1], flush=True)
            continue
        for seed in range(options.seeds):
            for arm in options.arms:
                for row in curve(data / name, arm, seed, embedder, options):
                    rows.append({"set": name, "arm": arm, "seed": seed, **row})
                    print(rows[-1], flush=True)
    if options.write:
        settings = {key: getattr(options, key) for key in ("rounds", "dev", "seeds")}
        keep("learning", {**measured, "model": model.model, "split": "dev", "settings": settings, "rows": rows})
    return 0


def curve(folder: Path, arm: str, seed: int, embedder: Any, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run one arm from an empty log on."""
    with tempfile.TemporaryDirectory() as place, Store.open(Path(place) / "simulated.db") as store:
        world = make(folder, store, embedder, arm, seed, options)
        dice = random.Random(f"{folder.name} {seed}")  # the same questions in the same order for every arm
        keys = sorted(str(row["id"]) for row in world.labelled.corpus)
        unseen = set(dice.sample(keys, int(UNSEEN * len(keys))))
        train = [q for q in world.labelled.split("train") if not unseen & set(world.labelled.gold.get(q["id"], ()))]
        dice.shuffle(train)
        dev = dev_queries(world.labelled, options.dev)
        rows = []
        for number in range(options.rounds + 1):
            if world.changes and number == options.rounds // 2:
                rows.append({"asked": number * ROUND, "taste": "before", **world.measure(dev, unseen)})
                world.change_taste()
            if number in checkpoints(options.rounds, arm):
                rows.append({"asked": number * ROUND, "taste": "present", **world.measure(dev, unseen)})
            if number < options.rounds and (world.learns or world.changes):
                world.round(train[number * ROUND : (number + 1) * ROUND])
        return rows


def checkpoints(rounds: int, arm: str) -> set[int]:
    """Return after which rounds an arm is measured: one that learns nothing changes with taste alone."""
    half = rounds // 2
    if not ARMS[arm][0]:
        return {half} if ARMS[arm][2] else {0}
    after = {half, half + 1, half + 2, half + 4, rounds} if ARMS[arm][2] else set()
    return after or {0, 1, 3, half, rounds}


def dev_queries(labelled: LabelledSet, number: int) -> list[Mapping[str, Any]]:
    """Return the dev questions that are asked, the same in each run."""
    queries = [query for query in labelled.split("dev") if labelled.gold.get(query["id"])]
    random.Random(0).shuffle(queries)
    return queries[:number]


def make(folder: Path, store: Store, embedder: Any, arm: str, seed: int, options: argparse.Namespace) -> World:
    """Fill a store with a set and put users before it."""
    labelled = read_set(folder)
    fill(store, EvalOptions(folder, Path(os.devnull), cache=options.cache), labelled, embedder, report=lambda _: None)
    return World(store, embedder, labelled, arm, random.Random(f"{folder.name} {arm} {seed}"), options)


def identity(folder: Path, embedder: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Count the dev questions whose answer, scores included, an empty log changes: there must be none."""
    with tempfile.TemporaryDirectory() as place, Store.open(Path(place) / "simulated.db") as store:
        world = make(folder, store, embedder, "use alone", 0, options)
        plain = Pipeline(store.graph, store.vectors, embedder=embedder, capabilities=capabilities_in())
        queries = dev_queries(world.labelled, options.dev)
        moved = 0
        for query in queries:
            answers = [
                [(hit.component.id, hit.score) for hit in search(pipeline, Query(query["text"], limit=20)).hits]
                for pipeline in (world.pipeline, plain)
            ]
            moved += answers[0] != answers[1]
        return {"identity": len(queries), "moved": moved}


if __name__ == "__main__":
    raise SystemExit(main())
