"""Several thousand real components in a home of their own, with vectors; built once, brought up to date after that.

REPERTOIRE_COMPONENTS_DATA names the folder of repositories; REPERTOIRE_BENCH_DATA, if set, the labelled sets whose
queries are asked. REPERTOIRE_BENCH_CACHE says where the home is kept, else it lies in the temporary folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import harness

sys.path.insert(0, str(harness.SERVER))

from repertoire.app.kernel import Repertoire
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.ingest import ingest
from repertoire.app.wiring import open_repertoire
from repertoire.boot.home import database_path
from repertoire.domain.answer import BODY_SPACE

QUERIES, LONG_QUERIES, LONG_CHARACTERS = 200, 20, 2_000
_SEED = 7
_LEAST = 12  # characters of a sentence that asks for something
_NICENESS = 10


@dataclass(frozen=True)
class Questions:
    """What is asked: short requests as people write them, and prompts of 2,000 characters."""

    short: tuple[str, ...]
    long: tuple[str, ...]
    origin: str


def repositories() -> list[Path]:
    """Return the folders to ingest.

    Raises:
        Skipped: there is no data here.
    """
    named = os.environ.get("REPERTOIRE_COMPONENTS_DATA")
    if not named:
        message = "set REPERTOIRE_COMPONENTS_DATA to a folder with one folder of components a repository"
        raise harness.Skipped(message)
    return sorted(folder for folder in Path(named).iterdir() if folder.is_dir() and "+" in folder.name)


def cache() -> Path:
    """Return the folder that keeps what takes minutes to make."""
    return Path(os.environ.get("REPERTOIRE_BENCH_CACHE") or Path(tempfile.gettempdir()) / "repertoire-bench")


def home() -> Path:
    """Return the home, its components ingested and embedded by the product itself; the first time takes minutes."""
    repositories()
    kept = cache() / "home"
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    # In a process of its own: what it loads must not weigh on what is measured here.
    subprocess.run([sys.executable, __file__, str(kept)], check=True)
    return kept


def build(folder: Path) -> None:
    """Bring a home up to date with the repositories: nothing is done twice."""
    os.nice(_NICENESS)
    mark, readers = folder / "read-by", _readers()
    if database_path(folder).exists() and not (mark.exists() and mark.read_text() == readers):
        # Read by other code: every file counts as changed. What comes out the same keeps its vectors.
        with closing(sqlite3.connect(database_path(folder))) as db, db:
            db.execute("UPDATE file SET content_hash = ''")
    with opened(folder) as repertoire:
        for repository in repositories():
            for told in ingest(repertoire.store, folder, str(repository), settings=repertoire.settings):
                if told.changed or told.removed:
                    _say(f"{told.source}: {told.changed} changed, {told.removed} removed, {told.seconds:.1f} s")
        _embed(repertoire)
    mark.write_text(readers)


@contextmanager
def opened(folder: Path, **settings: str) -> Iterator[Repertoire]:
    """Open a home as the product does, deaf to this machine's own settings; with these, as in an environment."""
    with open_repertoire(folder, environment=settings) as repertoire:
        yield repertoire


@contextmanager
def copied(folder: Path) -> Iterator[Path]:
    """Lend a copy of a home that may be written to."""
    with tempfile.TemporaryDirectory(prefix="repertoire-speed-") as place:
        lent = Path(place) / "home"
        lent.mkdir(mode=0o700)
        # Nothing is open on it here: the log is empty and the file is the whole database.
        shutil.copy2(database_path(folder), database_path(lent))
        yield lent


def questions(repertoire: Repertoire) -> Questions:
    """Return what is asked, the same every time."""
    named = os.environ.get("REPERTOIRE_BENCH_DATA")
    if named:
        origin = "cc_native"
        lines = (Path(named) / origin / "queries.jsonl").read_text("utf-8").splitlines()
        texts = [json.loads(line)["text"] for line in lines]
    else:
        origin = "first sentences of the components' own descriptions"
        texts = _first_sentences(repertoire)
    texts = sorted({" ".join(text.split()) for text in texts if len(text.strip()) >= _LEAST})
    random.Random(_SEED).shuffle(texts)
    return Questions(tuple(texts[:QUERIES]), tuple(_long(repertoire, texts)), origin)


def counts(repertoire: Repertoire) -> dict[str, int]:
    """Return how large the graph is that is asked."""
    told = repertoire.store.graph.counts()
    model = repertoire.embedder.model if repertoire.embedder is not None else ""
    vectors = repertoire.store.vectors.progress(BODY_SPACE, model).done
    return {"components": told["components"], "nodes": told["nodes"], "edges": told["edges"], "vectors": vectors}


def _readers() -> str:
    """Return a hash of the code that makes components of files."""
    package = harness.SERVER / "repertoire"
    digest = hashlib.sha256()
    rooms = [path for room in ("ingestion", "sources", "catalogue") for path in sorted((package / room).rglob("*.*"))]
    for path in (*rooms, package / "app" / "sources" / "ingest.py", package / "app" / "sources" / "opening.py"):
        if path.suffix in {".py", ".json"}:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _embed(repertoire: Repertoire) -> None:
    if repertoire.embedder is None:
        raise harness.Skipped("; ".join(repertoire.degraded))
    shown = 0

    def report(done: int, total: int) -> None:
        nonlocal shown
        if done >= shown and done < total:
            _say(f"vectors {done}/{total}")
            shown = done + 1000

    embed_pending(repertoire.store, repertoire.embedder, report=report)


def _first_sentences(repertoire: Repertoire) -> list[str]:
    graph = repertoire.store.graph
    stored = graph.components(row.node_id for row in graph.summaries())
    return [entry.component.description.split(". ")[0] for entry in stored.values()]


def _long(repertoire: Repertoire, texts: list[str]) -> list[str]:
    """Return prompts as long as a pasted document: a request, then a component's text."""
    graph = repertoire.store.graph
    ids = [row.node_id for row in graph.summaries()]
    random.Random(_SEED).shuffle(ids)
    stored = graph.components(ids[:1000])
    bodies = [entry.component.body for entry in stored.values() if len(entry.component.body) >= LONG_CHARACTERS]
    return [f"{text}\n{body}"[:LONG_CHARACTERS] for text, body in zip(texts, bodies, strict=False)][:LONG_QUERIES]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
