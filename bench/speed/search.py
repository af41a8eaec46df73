"""Times warm searches over thousands of real components beside plain FTS5 over the same text in the same process."""

from __future__ import annotations

import argparse
import os
import re
import sqlite3
from collections.abc import Callable, Sequence

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)

import harness
import library
from harness import Row, Section, processor_milliseconds

from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.kernel import Repertoire
from repertoire.domain.answer import Query, Task
from repertoire.domain.component import BODY_INDEXED

LIMIT = 10
WARMUPS = 10
PLAIN = "plain FTS5"
Ask = Callable[[str], object]
_WORD = re.compile(r"\w+")


def measure(options: argparse.Namespace) -> Section:
    """Ask every question of every contestant, one after the other, and compare."""
    section = Section("search")
    with library.opened(library.home()) as repertoire:
        plain = _plain(repertoire)
        asked = library.questions(repertoire)
        section.settings = {**library.counts(repertoire), "queries": asked.origin, "limit": LIMIT, "runs": options.runs}
        for text in asked.short[:WARMUPS]:
            search(repertoire.pipeline, Query(text, limit=LIMIT))
        for name, texts in (("short", asked.short), ("2,000 characters", asked.long)):
            section.rows += _compared(repertoire, plain, name, texts * options.runs)
    return section


def _compared(repertoire: Repertoire, plain: Ask, name: str, texts: Sequence[str]) -> list[Row]:
    contestants = _contestants(repertoire, plain)
    samples: dict[str, list[float]] = {label: [] for label in contestants}
    processor: dict[str, list[float]] = {label: [] for label in contestants}
    stages: dict[str, list[float]] = {}
    for text in texts:
        for label, ask in contestants.items():
            spent, used = processor_milliseconds(lambda ask=ask, text=text: ask(text))
            samples[label].append(spent)
            processor[label].append(used)
        for stage in search(repertoire.pipeline, Query(text, limit=LIMIT)).report:
            stages.setdefault(stage.stage, []).append(stage.ms)
    rows = [
        Row(f"{label}{suffix}, {name}", values, baseline=f"{PLAIN}{suffix}, {name}" if label != PLAIN else "")
        for suffix, measured in (("", samples), (", processor time", processor))
        for label, values in measured.items()
    ]
    return [*rows, *(Row(f"  of search_components: {stage}, {name}", values) for stage, values in stages.items())]


def _contestants(repertoire: Repertoire, plain: Ask) -> dict[str, Ask]:
    pipeline, words_alone = repertoire.pipeline, frozenset(("vectors", "graph"))
    return {
        PLAIN: plain,
        "search_components": lambda text: search(pipeline, Query(text, limit=LIMIT)),
        "search_components, words alone": lambda text: search(pipeline, Query(text, limit=LIMIT, without=words_alone)),
        "recommend_set": lambda text: recommend(pipeline, Task(text)),
    }


def _plain(repertoire: Repertoire) -> Ask:
    """Return FTS5 as anyone would use it: every word of the question, or-ed, bm25, the ids of the best."""
    graph = repertoire.store.graph
    stored = graph.components(row.node_id for row in graph.summaries())
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE plain USING fts5(name, description, body, tokenize='porter unicode61')")
    db.executemany(
        "INSERT INTO plain(rowid, name, description, body) VALUES (?, ?, ?, ?)",
        [
            (node_id, entry.component.name, entry.component.description, entry.component.body[:BODY_INDEXED])
            for node_id, entry in stored.items()
        ],
    )
    db.execute("INSERT INTO plain(plain) VALUES ('optimize')")

    def ask(text: str) -> object:
        words = dict.fromkeys(_WORD.findall(text.lower()))
        question = " OR ".join(f'"{word}"' for word in words)
        return db.execute(
            "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain, 2, 1, 1) LIMIT ?", (question, LIMIT)
        ).fetchall()

    return ask


if __name__ == "__main__":
    harness.run_script("search", measure, runs=1)
