"""Simulated users, learned from: `python bench/learning/simulate.py [SET…] [--write] [--keep FILE] [--cache DIR]`.

Users (users.py) ask train questions in rounds, ten days apart. A fifth of the components that serve anything serve no
question that is asked: they stay without a history. At each checkpoint dev questions are asked, labelled by the taste
of that day; nothing is learned from them. Each arm is run with seeds 0, 1, …; figures are means over seeds with 95 %
intervals (Student's t), differences to no learning are paired by seed. With `--keep` a run that was cut off goes on
where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality"), str(ROOT / "bench" / "learning")]

from opening import labelled_sets, shipped_model  # noqa: E402
from run import commit, keep  # noqa: E402
from users import Arm, Asked, Corpus, Remembering, World  # noqa: E402

from repertoire.app.ask.search import search  # noqa: E402
from repertoire.app.measure.labelled import fill, read_set  # noqa: E402
from repertoire.domain.answer import Query  # noqa: E402
from repertoire.retrieval.pipeline import Pipeline  # noqa: E402
from repertoire.store.database import Store  # noqa: E402

SETS = ("ultratool", "metatool_multi", "metatool_single")
POOL, NEW, RECOVERED = 600, 0.2, 0.9
AGAIN = "Hit@1 of what is asked again"
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
ARMS = {
    "no learning": Arm(learns=False),
    "learning": Arm(),
    "a fifth wrong": Arm(wrong=0.2),
    "taste changes, no learning": Arm(learns=False, changes=True),
    "taste changes": Arm(changes=True),
    "late components, no learning": Arm(learns=False, late=True),
    "late components": Arm(late=True),
    "a popular one": Arm(popular=True),
    "taste changes, hints": Arm(changes=True, hinted=True),
    "taste changes, hints, no exploration": Arm(changes=True, hinted=True, explores=False),
}
BASE = {"taste changes": "taste changes, no learning", "late components": "late components, no learning"}


def curve(corpus: Corpus, arm: str, seed: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run one arm with one seed from an empty log on; return its checkpoints."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(shutil.copy(corpus.base, place))
        with Store.open(path) as store:
            world = World(corpus, store, ARMS[arm], f"{corpus.folder.name} {arm} {seed}")
            return list(checkpoints(world, Course(corpus, ARMS[arm], seed, options)))


class Course:
    """What is asked of one world: the same for every arm with the same seed, but for what the arm is about."""

    def __init__(self, corpus: Corpus, arm: Arm, seed: int, options: argparse.Namespace) -> None:
        self.rounds, self.round, self.half = options.rounds, options.round, options.rounds // 2
        self.dice = random.Random(f"{corpus.folder.name} {seed}")
        self.train = train = corpus.split("train")[:POOL]
        dev = corpus.split("dev")
        self.serving = sorted({one for query in [*train, *dev] for one in corpus.gold(query)})
        self.new = set(self.dice.sample(self.serving, max(1, int(NEW * len(self.serving)))))
        known = [query for query in train if not corpus.gold(query) & self.new]
        found = [query for query in dev if corpus.gold(query) & self.new]
        self.lone = self.dice.sample(found, min(options.lone, len(found)))
        self.dev = self.dice.sample(dev, min(options.dev, len(dev)))
        wanted = Counter(one for query in known for one in sorted(corpus.gold(query)))
        self.popular = wanted.most_common(1)[0][0]
        self.stream = _stream(self.dice, known, self.rounds * self.round)
        begun = {query["id"]: query for query in self.stream[: self.half * self.round]}
        self.again = self.dice.sample(list(begun.values()), min(options.dev, len(begun)))
        if arm.changes:  # users ask for what they asked for before, and want something else
            self.stream[self.half * self.round :] = _stream(self.dice, self.again, self.half * self.round)
        if arm.popular:
            of_it = [query for query in known if self.popular in corpus.gold(query)]
            self.stream = self._mixed(self.stream, of_it)
        if arm.late:
            begun, middle = self.stream[: self.half * self.round], self.stream[self.half * self.round :]
            late = [query for query in train if corpus.gold(query) & self.new] or known
            self.stream = begun + self._mixed(middle, late)

    def _mixed(self, queries: Sequence[Asked], others: Sequence[Asked]) -> list[Asked]:
        return [self.dice.choice(others) if number % 2 else query for number, query in enumerate(queries)]

    def of_round(self, number: int) -> Sequence[Asked]:
        """Return what is asked in a round."""
        return self.stream[number * self.round : (number + 1) * self.round]

    def measured(self, arm: Arm) -> set[int]:
        """Return after which rounds dev questions are asked."""
        if not arm.learns:
            return {self.half} if arm.changes else {0}
        return set(range(self.half, self.rounds + 1)) if arm.changes else {self.half, self.rounds}


def checkpoints(world: World, course: Course) -> Iterator[dict[str, Any]]:
    """Let a world run its course; yield its figures on the way."""
    arm, level, recovered = world.arm, 0.0, -1
    world.hidden = frozenset(course.new if arm.late else ())
    for number in range(course.rounds + 1):
        if number == course.half and (arm.late or arm.changes):
            world.hidden, world.needed, world.shown = frozenset(), Counter(), set()
            world.wanted, world.leading = Counter(), Counter()
        if number == course.half and arm.changes:
            before = changed(world, course)
            level = before[AGAIN]
            yield {"asked": number * course.round, "taste": "before", **before}
        if number in course.measured(arm):
            row = world.measure(course.dev, course.lone, course.new, course.popular)
            row[AGAIN] = world.first(concerned(world, course))
            yield {"asked": number * course.round, **row}
            if recovered < 0 and row[AGAIN] >= RECOVERED * level:
                recovered = world.selections
        if number < course.rounds and (arm.learns or arm.late):
            world.round(course.of_round(number))
    if arm.changes and arm.learns:
        after = {"selections until recovered": float(recovered)} if recovered >= 0 else {}
        for times, met in world.met.items():
            after[f"Hit@1 after {times} selections of the new taste"] = 100.0 * mean(met)
        yield {"asked": "in the end", "recovered": 100.0 * (recovered >= 0), **after}
    if arm.late or (arm.changes and arm.learns):
        new = course.new if arm.late else set(world.swapped.values())
        needed = [one for one in sorted(new) if world.needed[one]]
        shown = 100.0 * mean(one in world.shown for one in needed)
        waited = float(mean(world.needed[one] for one in needed))
        first = 100.0 * sum(world.leading[one] for one in needed) / sum(world.wanted[one] for one in needed)
        yield {"asked": "in the end", "needed until shown": waited, "shown at all": shown, "first when needed": first}


def changed(world: World, course: Course) -> dict[str, float]:
    """Change what users want; return the figures of before, those of what changed among them."""
    before = world.measure(course.dev, (), course.new, course.popular)
    world.change_taste(course.serving, course.train, course.dice)
    old = [query for query in course.dev if world.corpus.gold(query) & set(world.swapped)]
    again = concerned(world, course)
    swapped, world.swapped, world.selections = world.swapped, {}, 0
    levels = {"Hit@1 where taste changed": world.first(old), AGAIN: world.first(again)}
    world.swapped = swapped
    return {**before, **levels}


def concerned(world: World, course: Course) -> Sequence[Asked]:
    """Return what was asked for before; after a change of taste, where that concerns it."""
    changed = [query for query in course.again if world.corpus.gold(query) & set(world.swapped)]
    return changed or course.again


def _stream(dice: random.Random, queries: Sequence[Asked], count: int) -> list[Asked]:
    found: list[Asked] = []
    while len(found) < count:  # where there are fewer, they are asked again
        found += dice.sample(list(queries), len(queries))
    return found[:count]


def summed(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each checkpoint's figures over seeds: mean and 95 % interval, and the paired difference to no learning."""
    of: dict[tuple[Any, ...], dict[int, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        seeds = of[row["set"], row["arm"], row["asked"], row.get("taste", "")]
        seeds[row["seed"]] = {**seeds.get(row["seed"], {}), **row}
    found = []
    for (name, arm, asked, taste), seeds in of.items():
        base = BASE.get(arm.removesuffix(", no exploration").removesuffix(", hints"), "no learning")
        plain: dict[int, dict[str, Any]] = defaultdict(dict)
        for (other, of_arm, _, of_taste), ones in of.items():
            if (other, of_arm, of_taste) == (name, base, taste):
                for seed, one in ones.items():
                    plain[seed] |= one
        means: dict[str, Any] = {"set": name, "arm": arm, "asked": asked, "seeds": len(seeds)} | (
            {"taste": taste} if taste else {}
        )
        for key in sorted({key for one in seeds.values() for key, value in one.items() if isinstance(value, float)}):
            values = {seed: one[key] for seed, one in seeds.items() if key in one}
            means[key] = spread(list(values.values()))
            paired = [value - plain[seed][key] for seed, value in values.items() if key in plain[seed]]
            if paired and arm != base:
                means[f"{key}, difference"] = spread(paired)
        found.append(means)
    return found


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean over seeds with Student's 95 % interval."""
    middle = mean(values)
    half = STUDENT.get(len(values), 1.96) * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return round(middle, 2), round(middle - half, 2), round(middle + half, 2)


def main() -> int:
    """Run the arms and print, or keep, their curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS, help=f"which sets; default: {' '.join(SETS)}")
    parser.add_argument("--arms", nargs="*", default=list(ARMS), choices=list(ARMS), help="which of them")
    parser.add_argument("--seeds", type=int, default=5, help="how many times, with seeds 0, 1, …")
    parser.add_argument("--rounds", type=int, default=6, help="rounds of questions")
    parser.add_argument("--round", type=int, default=40, help="questions in a round")
    parser.add_argument("--dev", type=int, default=60, help="dev questions, drawn by the seed")
    parser.add_argument("--lone", type=int, default=30, help="dev questions that need what has no history")
    parser.add_argument("--keep", type=Path, help="keep each finished curve in this file, and go on from it")
    parser.add_argument("--identity", action="store_true", help="only check that an empty log changes no answer")
    parser.add_argument("--write", action="store_true", help="keep the curves in bench/results")
    parser.add_argument("--cache", type=Path, help="keep the vectors of the corpora here")
    options = parser.parse_args()
    data, measured, model = labelled_sets(parser), commit(), shipped_model(parser)
    rows = _kept(options.keep)
    with tempfile.TemporaryDirectory(prefix="repertoire-users-") as place:
        every = {name: make(data / name, Path(place), Remembering(model), options) for name in options.sets}
        if options.identity:
            return sum(_moved(corpus, options) for corpus in every.values())
        for seed in range(options.seeds):
            for name, corpus in every.items():
                for arm in options.arms:
                    if any((row["set"], row["arm"], row["seed"]) == (name, arm, seed) for row in rows):
                        continue
                    found = [
                        {"set": name, "arm": arm, "seed": seed, **row} for row in curve(corpus, arm, seed, options)
                    ]
                    rows += found
                    _keep(options.keep, found)
                    print(found[-1], flush=True)
    found = summed([row for row in rows if row["set"] in options.sets])
    for row in found:
        print(json.dumps(row))
    if options.write:
        settings = {key: getattr(options, key) for key in ("seeds", "rounds", "round", "dev", "lone")}
        keep("learning", {**measured, "model": model.model, "split": "dev", "settings": settings, "rows": found})
    return 0


def make(folder: Path, place: Path, embedder: Any, options: argparse.Namespace) -> Corpus:
    """Fill a store with a set's components, from which every curve begins."""
    labelled, base = read_set(folder), place / f"{folder.name}.db"
    with Store.open(base) as store:
        fill(store, labelled, embedder, cache=options.cache, tell=lambda _: None)
    return Corpus(folder, base, labelled, embedder)


def _kept(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _keep(path: Path | None, rows: Sequence[Mapping[str, Any]]) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))


def _moved(corpus: Corpus, options: argparse.Namespace) -> int:
    """Count the dev questions whose answer, scores included, an empty log changes: there must be none."""
    with Store.open(corpus.base) as store:
        world = World(corpus, store, Arm(), "0")
        plain = Pipeline(store.graph, store.vectors, embedder=corpus.embedder, capabilities=corpus.capabilities)
        queries = corpus.split("dev")[: options.dev]
        moved = 0
        for query in queries:
            asked = Query(query["text"], limit=20)
            both = [[(h.component.id, h.score) for h in search(p, asked).hits] for p in (world.pipeline, plain)]
            moved += both[0] != both[1]
    print({"set": corpus.folder.name, "identity": len(queries), "moved": moved})
    return moved


if __name__ == "__main__":
    raise SystemExit(main())
