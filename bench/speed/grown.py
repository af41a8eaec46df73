"""Makes as many components as are wanted out of real ones, as repositories of files, and has the product ingest them.

Every text is mixed under a fixed seed: a name of two names, a description of the sentences of two descriptions, a body
as long as a real one whose paragraphs come from three. Vectors are mixed too (of the same components, normalised), for
embedding 100,000 texts would take an hour and more: they cost what real ones cost to read and to compare, and say
nothing about quality.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw
import harness
import library
import numpy as np
import numpy.typing as npt

from repertoire.app.kernel import Repertoire
from repertoire.app.sources.ingest import write_source
from repertoire.app.sources.opening import Surroundings, open_address
from repertoire.app.sources.settle import settle
from repertoire.boot.home import database_path
from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE
from repertoire.domain.component import AGENT, COMMAND, SKILL, Component
from repertoire.sources import address as addresses
from repertoire.sources.installed import Machine

SEED = 11
REPOSITORY_SIZE = 1_000  # components of one repository
_PLACES = {SKILL: "skills/{name}/SKILL.md", AGENT: "agents/{name}.md", COMMAND: "commands/{name}.md"}
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_BATCH = 512
_OWN = 0.7  # of a paragraph or a vector that comes from the first parent
_NICENESS = 10

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Made:
    """One component that was made, and the positions of the real ones it was made of."""

    path: str
    text: str
    parents: tuple[int, int, int]


def home(count: int) -> Path:
    """Return a home with so many components, real ones among them; made once, in minutes, and kept until deleted."""
    grown = library.cache() / f"home-{count}"
    if not (grown / "ingest.json").exists():
        real = library.home()
        shutil.rmtree(grown, ignore_errors=True)
        grown.mkdir(mode=0o700)
        shutil.copy2(database_path(real), database_path(grown))
        _grow(grown, count)
    return grown


def ingest_figures(grown: Path) -> dict[str, float]:
    """Return what was measured while a home was made."""
    told: dict[str, float] = json.loads((grown / "ingest.json").read_text())
    return told


def make(parents: Sequence[Component], count: int) -> Iterator[Made]:
    """Make components out of others, the same ones every time."""
    dice = random.Random(SEED)
    taken: set[str] = set()
    for _ in range(count):
        first = dice.randrange(len(parents))
        alike = [dice.randrange(len(parents)) for _ in range(2)]
        a, b, c = (parents[index] for index in (first, *alike))
        name = _name(a, b, taken, dice)
        front = json.dumps(_description(a, b, dice), ensure_ascii=False)  # a JSON string is a YAML one
        text = f"---\nname: {name}\ndescription: {front}\n---\n\n{_body(a, (b, c), dice)}\n"
        yield Made(_PLACES[a.type].format(name=name), text, (first, alike[0], alike[1]))


def _grow(grown: Path, count: int) -> None:
    with library.opened(grown) as repertoire:
        stored = repertoire.store.graph.components(row.node_id for row in repertoire.store.graph.summaries())
        real = {
            node_id: e.component for node_id, e in stored.items() if e.component.type in _PLACES and e.component.body
        }
        made = list(make(list(real.values()), max(0, count - len(stored))))
        figures = _ingest(repertoire, grown, made)
        _mix_vectors(repertoire, made, list(real))
    with closing(apsw.Connection(str(database_path(grown)))) as db:
        db.execute("INSERT INTO component_text(component_text) VALUES ('optimize'); PRAGMA wal_checkpoint(TRUNCATE)")
    (grown / "ingest.json").write_text(json.dumps(figures))


def _ingest(repertoire: Repertoire, grown: Path, made: Sequence[Made]) -> dict[str, float]:
    """Ingest as a refresh does: source by source, and once at the end what only all of them together show."""
    around = Surroundings(grown, repertoire.settings, Machine(()))
    spent = 0.0
    for number, start in enumerate(range(0, len(made), REPOSITORY_SIZE)):
        folder = _write(grown / "made" / f"made+{number:03}", made[start : start + REPOSITORY_SIZE])
        before = time.perf_counter()
        write_source(
            repertoire.store, open_address(addresses.parse(str(folder), trusted=True), around, tick=lambda: None)
        )
        spent += time.perf_counter() - before
        shutil.rmtree(folder)
        _say(f"{min(start + REPOSITORY_SIZE, len(made))}/{len(made)} in {spent:.0f} s")
    before = time.perf_counter()
    settle(repertoire.store)
    settling = time.perf_counter() - before
    return {
        "made": len(made),
        "seconds": round(spent, 1),
        "per_second": round(len(made) / max(spent, 1e-9), 1),
        "settling_seconds": round(settling, 1),
    }


def _write(folder: Path, made: Sequence[Made]) -> Path:
    for item in made:
        path = folder / item.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(item.text, encoding="utf-8")
    return folder


def _mix_vectors(repertoire: Repertoire, made: Sequence[Made], real: Sequence[int]) -> None:
    store, model = repertoire.store, repertoire.embedder.model if repertoire.embedder is not None else ""
    parents = {item.path: item.parents for item in made}
    dice = np.random.default_rng(SEED)
    for space in (BODY_SPACE, DESCRIPTION_SPACE):
        ids, vectors = store.vectors.matrix(space, model)
        place = {node_id: row for row, node_id in enumerate(ids.tolist())}
        missing = np.zeros(vectors.shape[1], dtype=np.float32)
        known = np.stack([vectors[place[node_id]] if node_id in place else missing for node_id in real])
        fresh = [row for row in store.graph.summaries() if row.node_id not in place]
        for start in range(0, len(fresh), _BATCH):
            batch = fresh[start : start + _BATCH]
            of = np.array([parents[row.id.partition(f"{row.source}:")[2]] for row in batch])
            mixed = _OWN * known[of[:, 0]] + (1.0 - _OWN) * known[of[:, 1]]
            mixed += dice.normal(0.0, 0.01, mixed.shape)
            mixed /= np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-9)
            store.vectors.put(
                space, model, [(row.node_id, row.content_hash) for row in batch], mixed.astype(np.float32)
            )


def _name(a: Component, b: Component, taken: set[str], dice: random.Random) -> str:
    ours, theirs = (re.findall(r"[a-z0-9]+", part.name.lower()) or ["made"] for part in (a, b))
    name = "-".join([*ours[: 1 + len(ours) // 2], *theirs[len(theirs) // 2 :]])[:60]
    while name in taken:
        name = f"{name[:54]}-{dice.randrange(100_000)}"
    taken.add(name)
    return name


def _description(a: Component, b: Component, dice: random.Random) -> str:
    ours, theirs = _SENTENCE.split(a.description), _SENTENCE.split(b.description)
    return " ".join([*ours[: dice.randint(1, len(ours))], *theirs[dice.randint(0, len(theirs) - 1) :]]).strip()


def _body(a: Component, others: Sequence[Component], dice: random.Random) -> str:
    elsewhere = [paragraph for other in others for paragraph in other.body.split("\n\n")]
    return "\n\n".join(own if dice.random() < _OWN else dice.choice(elsewhere) for own in a.body.split("\n\n"))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, help="components that the home is to hold")
    os.nice(_NICENESS)
    try:
        print(home(parser.parse_args().count))
    except harness.Skipped as why:
        sys.exit(f"SKIPPED: {why}")
