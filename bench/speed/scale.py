"""Times searches over 10,000 and 100,000 components, what loading and changing them takes, and how large they are."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)

import grown
import harness
import library
import numpy as np
from harness import MEGABYTES, Row, Section, milliseconds, processor_milliseconds

from repertoire.app.ask.search import search
from repertoire.app.kernel import Repertoire
from repertoire.boot.home import database_path
from repertoire.domain.answer import BODY_SPACE, Query
from repertoire.domain.component import Component, FileRecord, SourceInfo
from repertoire.domain.text import content_words
from repertoire.retrieval.snapshot import Snapshots

COUNTS: dict[int, dict[str, float | None]] = {  # components, and what they are to be answered in
    10_000: {"short": 30.0, "2,000 characters": 60.0, "ppr": 5.0, "snapshot": 3000.0},
    100_000: {"short": 150.0, "2,000 characters": None, "ppr": 50.0, "snapshot": 3000.0},
}
LIMIT = 10
WARMUPS = 20
CHANGES = 5
LOADS = 3
PLAIN = "FTS5 and numpy"
UNHURRIED = {"REPERTOIRE_QUERY_MS": "60000"}  # on a busy machine an answer would leave stages out, and look quick
_NOW = "2000-01-01T00:00:00Z"
_SOURCE = SourceInfo("folder:/changing", "folder", "/changing")
Ask = Callable[[str], object]


def measure(options: argparse.Namespace) -> Section:
    """Measure every size, the smallest first."""
    section = Section("scale", {"limit": LIMIT, "runs": options.runs, "homes": {}})
    for count, goals in COUNTS.items():
        folder = grown.home(count)
        label = f"{count:,}"
        with library.opened(folder, **UNHURRIED) as repertoire:
            asked = library.questions(repertoire)
            section.settings["homes"][label] = {
                **library.counts(repertoire),
                "queries": asked.origin,
                "ingest": grown.ingest_figures(folder),
                "file_MB": round(database_path(folder).stat().st_size / 1e6, 1),
                "load": [round(load, 2) for load in os.getloadavg()],
            }
            section.rows += _loads(repertoire, label, goals["snapshot"])
            section.rows += _searches(repertoire, label, asked, goals, options.runs)
            section.rows.append(Row(f"resident after searches, {label}", [_resident()], unit=MEGABYTES))
        section.rows += _changes(folder, label, asked.short)
        gc.collect()
    return section


def _loads(repertoire: Repertoire, label: str, goal: float | None) -> list[Row]:
    model = repertoire.embedder.model if repertoire.embedder is not None else ""
    store = repertoire.store

    def load() -> None:
        Snapshots(store.graph, store.vectors, model=model).current().warm()

    return [Row(f"snapshot load, {label}", [milliseconds(load) for _ in range(LOADS)], goal=goal)]


def _searches(
    repertoire: Repertoire, label: str, asked: library.Questions, goals: dict[str, float | None], runs: int
) -> list[Row]:
    rows: list[Row] = []
    plain = _plain(repertoire)
    for text in asked.short[-WARMUPS:]:
        search(repertoire.pipeline, Query(text, limit=LIMIT))
        plain(text)
    for name, texts in (("short", asked.short), ("2,000 characters", asked.long)):
        rows += _compared(repertoire, plain, f"{name}, {label}", texts * runs, goals[name], goals["ppr"])
    return rows


def _compared(
    repertoire: Repertoire, plain: Ask, name: str, texts: Sequence[str], goal: float | None, walking: float | None
) -> list[Row]:
    samples: dict[str, list[float]] = {}
    stages: dict[str, list[float]] = {}
    for text in texts:

        def ours(text: str = text) -> None:
            answer = search(repertoire.pipeline, Query(text, limit=LIMIT))
            for stage in answer.report:
                stages.setdefault(stage.stage, []).append(stage.ms)

        for label, ask in ((PLAIN, lambda text=text: plain(text)), ("search_components", ours)):
            spent, used = processor_milliseconds(ask)
            samples.setdefault(label, []).append(spent)
            samples.setdefault(f"{label}, processor time", []).append(used)
    rows = [
        Row(f"{label}, {name}", values, baseline=f"{label.replace('search_components', PLAIN)}, {name}")
        for label, values in samples.items()
    ]
    rows = [replace(row, goal=goal) if row.name == f"search_components, {name}" else row for row in rows]
    return [
        *rows,
        *(
            Row(f"  of search_components: {stage}, {name}", values, goal=walking if stage == "ppr" else None)
            for stage, values in stages.items()
        ),
    ]


def _plain(repertoire: Repertoire) -> Ask:
    """Return what anyone would write: or-ed words by bm25, one product with all vectors, the best of both."""
    graph, embedder = repertoire.store.graph, repertoire.embedder
    if embedder is None:
        raise harness.Skipped("; ".join(repertoire.degraded))
    ids, vectors = repertoire.store.vectors.matrix(BODY_SPACE, embedder.model)

    def ask(text: str) -> object:
        words = graph.match(content_words(text), limit=LIMIT, weights=(2.0, 1.0, 1.0))
        near = vectors @ embedder.embed_queries([text])[0]
        return words, ids[np.argpartition(-near, LIMIT)[:LIMIT]]

    return ask


def _changes(folder: Path, label: str, texts: Sequence[str]) -> list[Row]:
    """Time the first question after one component changed, in a copy."""
    samples = []
    with library.copied(folder) as lent, library.opened(lent) as repertoire:
        for number in range(CHANGES + 1):
            search(repertoire.pipeline, Query(texts[number], limit=LIMIT))
            item = Component(
                id=f"{_SOURCE.key}:skills/changing.md",
                type="skill",
                name="changing",
                description=f"Revision {number}.",
                path="skills/changing.md",
                content_hash=str(number),
            )
            record = FileRecord(item.path, item.content_hash, (item,), (), ())
            repertoire.store.sources.write(_SOURCE, [record], [], derived=[], now=_NOW)
            again = Query(texts[number], limit=LIMIT)
            samples.append(milliseconds(lambda again=again: search(repertoire.pipeline, again)))
    return [Row(f"first search after one component changed, {label}", samples[1:])]


def _resident() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000.0
    return float("nan")


if __name__ == "__main__":
    harness.run_script("scale", measure, runs=1)
