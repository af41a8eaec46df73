#!/usr/bin/env python3
"""Measure how fast traces are searched: FOLDER holds traces_so and traces_error, whose texts are mixed to N traces.

Each trace joins the problem of one document with the solution of another, as often as needed; vectors are those of the
two parts with noise, so that 100,000 need no hour. Beside the search, FTS5 and one matrix product answer the same
questions, their ranks fused, with the same model.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as users get it: the server starts with one thread for products

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.app.clock import now
from repertoire.app.traces.exchange import import_lines
from repertoire.app.traces.search import TraceQuery, search_traces
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import Moment
from repertoire.domain.graph import TRACES
from repertoire.domain.text import content_words
from repertoire.domain.trace import PROBLEM_SPACE, SOLUTION_SPACE

SEED, NOISE, DEEP, RRF = 7, 0.05, 200, 60
LONGEST = 1_200  # characters of a part
SETS = ("traces_so", "traces_error")


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def parts(folder: Path) -> list[tuple[str, str, list[str]]]:
    """Return the problem, the solution and the tags of every document that has both."""
    found = []
    for document in rows(folder / "traces_so" / "corpus.jsonl"):
        text, at = document["text"], document["solution_at"]
        if text[:at].strip() and text[at:].strip():
            found.append(
                (text[:at].strip()[:LONGEST], text[at:].strip()[:LONGEST], [tag for tag in document["tags"] if tag])
            )
    return found


def mixed(found: list[tuple[str, str, list[str]]], count: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of a problem and a solution, each once; the first are the documents themselves."""
    for number in range(count):
        shift, problem = divmod(number, len(found))
        yield problem, (problem + shift * 7) % len(found)


def fill(repertoire: Any, folder: Path, count: int) -> float:
    """Import the traces and put their vectors; return the seconds that the import took."""
    found, store, embedder = parts(folder), repertoire.store, repertoire.embedder
    pairs = list(mixed(found, count))

    def line(number: int, problem: int, solution: int) -> str:
        context, text, tags = found[problem][0], found[solution][1], found[problem][2]
        return json.dumps(
            {"title": f"{context[:70].splitlines()[0]} {number}", "context": context, "solution": text, "tags": tags}
        )

    begin = time.perf_counter()
    done = import_lines(store, (line(number, *pair) for number, pair in enumerate(pairs)), moment=Moment(now(), "", ""))
    seconds = time.perf_counter() - begin
    print(done.added, done.known, done.refused[:2], f"{seconds:.1f} s", file=sys.stderr)
    random = np.random.default_rng(SEED)
    for space, which in ((PROBLEM_SPACE, 0), (SOLUTION_SPACE, 1)):
        base = np.concatenate(
            [
                embedder.embed_passages([one[which][:400] for one in found[start : start + 64]])
                for start in range(0, len(found), 64)
            ]
        )
        pending = store.traces.pending(space, embedder.model, limit=count)
        picked = base[[pairs[place % len(pairs)][which] for place in range(len(pending))]]
        noisy = picked + random.normal(0, NOISE, picked.shape).astype(np.float32)
        noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
        for start in range(0, len(pending), 2000):
            store.vectors.put(space, embedder.model, pending[start : start + 2000], noisy[start : start + 2000])
    return seconds


def plain(repertoire: Any) -> Callable[[str], list[int]]:
    """Return a search by FTS5 and one product with each space's matrix, their ranks fused."""
    store, embedder = repertoire.store, repertoire.embedder
    spaces = [store.vectors.matrix(space, embedder.model) for space in (PROBLEM_SPACE, SOLUTION_SPACE)]

    def ask(text: str) -> list[int]:
        lists = [
            [one for one, _ in store.graph.match(content_words(text)[:256], limit=DEEP, weights=(1, 1, 1), view=TRACES)]
        ]
        vector = embedder.embed_passages([text])[0]
        for ids, matrix in spaces:
            scores = matrix @ vector
            best = np.argpartition(-scores, DEEP)[:DEEP]
            lists.append(ids[best[np.argsort(-scores[best])]].tolist())
        fused: dict[int, float] = {}
        for ranked in lists:
            for rank, one in enumerate(ranked, 1):
                fused[one] = fused.get(one, 0.0) + 1 / (RRF + rank)
        return sorted(fused, key=lambda one: -fused[one])[:10]

    return ask


def timed(ask: Callable[[Any], object], questions: list[Any]) -> dict[str, float]:
    """Return the milliseconds of warm answers, by the clock and as processor time of the asking thread."""
    times = []
    for question in questions:
        wall, processor = time.perf_counter(), time.thread_time()
        ask(question)
        times.append(((time.perf_counter() - wall) * 1000, (time.thread_time() - processor) * 1000))
    warm = np.array(times[len(times) // 4 :])
    return {
        "first": round(times[0][0], 1),
        **{
            f"{clock} p{share}": round(float(np.percentile(warm[:, column], share)), 1)
            for column, clock in enumerate(("wall", "processor"))
            for share in (50, 95)
        },
    }


def main() -> None:
    """Measure, and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--count", type=int, default=10_000)
    arguments.add_argument("--home", type=Path, help="keep the home here, to be used again")
    arguments.add_argument("--questions", type=int, default=100, help="of each set")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = given.home or Path(scratch)
        home.mkdir(parents=True, exist_ok=True)
        with open_repertoire(home, environment={}) as repertoire:
            figures: dict[str, Any] = {"traces": given.count}
            if not repertoire.store.traces.counts():
                figures["import_s"] = round(fill(repertoire, given.folder, given.count), 1)
            for name in SETS:
                texts = [
                    query["text"] for query in rows(given.folder / name / "queries.jsonl") if query["split"] == "dev"
                ]
                asked = texts[: given.questions]
                key = "query" if name == "traces_so" else "error"
                wanted = [TraceQuery(**{"query": "", key: text}) for text in asked]
                search = timed(lambda one: search_traces(repertoire.traces, one, embedder=repertoire.embedder), wanted)
                figures[name] = {"search": search, "fts5 and numpy": timed(plain(repertoire), asked)}
                figures[name]["embedding alone"] = timed(lambda text: repertoire.embedder.embed_passages([text]), asked)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
