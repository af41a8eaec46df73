"""Times questions to packs of 1,000, 10,000 and 100,000 sections, by profile, beside FTS5 and numpy in the same run.

The time of the processor is told too: that of the clock is more where other programs take the cores.

The sections are paragraphs of this repository's own pages in another order; their vectors are those of the paragraphs
with noise, so that nothing has to be embedded. `python bench/packs/latency.py --runs 60 --write` keeps the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "server"))

import numpy as np  # noqa: E402

from repertoire.app.wiring import open_embedder  # noqa: E402
from repertoire.domain.pack import CHUNK_SPACE, HEADING_SPACE, SECTIONS, PackArticle, PackSection  # noqa: E402
from repertoire.domain.pack_stages import PROFILES, STAGES  # noqa: E402
from repertoire.domain.text import content_words  # noqa: E402
from repertoire.ports import Embedder  # noqa: E402
from repertoire.retrieval.pack_ranking import PackRun, rank_pack  # noqa: E402
from repertoire.retrieval.sections import read_sections  # noqa: E402
from repertoire.settings import Settings  # noqa: E402
from repertoire.store.pack_file import PackStore  # noqa: E402

SIZES = (1_000, 10_000, 100_000)
GOALS = {"baseline": 20.0, "balanced": 40.0, "maximum": 60.0}  # milliseconds, p95
IN_ARTICLE, LIMIT, DEPTH, WARM = 20, 5, 400, 5
NOISE = 0.6
QUESTIONS = (
    "how do I keep secrets out of what is stored",
    "what happens when a process is killed in the middle of an ingest",
    "why are vectors stored as whole numbers",
    "which settings change how much of a prompt is kept",
    "how is a component found that has no description",
    "what does the arbiter do with two hints",
    "how can I measure my own labelled set",
    "what is the difference between a pack and a trace",
    "how does a commons keep communities apart",
    "which files does an export hold",
)


def paragraphs() -> list[str]:
    """Return the paragraphs of this repository's pages."""
    texts = [
        path.read_text(encoding="utf-8") for path in sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("bench/**/*.md")])
    ]
    found = [part.strip() for text in texts for part in re.split(r"\n\s*\n", text)]
    return [part for part in found if 80 <= len(part) <= 1_200]


def articles(parts: Sequence[str], size: int) -> Iterator[PackArticle]:
    """Yield articles with so many sections in all, each with links to three others."""
    dice = random.Random(size)
    count = size // IN_ARTICLE
    for number in range(count):
        sections = []
        for place in range(IN_ARTICLE):
            text = f"## Part {place}\n\n{dice.choice(parts)} {dice.choice(parts)[:200]}"
            sections.append(PackSection(f"Part {place}", f"part-{place}", 2, text, (), ((0, len(text)),)))
        links = tuple(f"page{dice.randrange(count)}.md" for _ in range(3))
        yield PackArticle(f"page{number}.md", f"Page {number}", tuple(sections), links=links)


def filled(path: Path, parts: Sequence[str], size: int, model: str, vectors: np.ndarray) -> PackStore:
    """Write a pack of a size, with vectors near those of its paragraphs."""
    store = PackStore.new(path)
    store.add(articles(parts, size))
    random_numbers = np.random.default_rng(size)
    for space, rows in ((CHUNK_SPACE, store.chunks()), (HEADING_SPACE, store.headings())):
        near = vectors[random_numbers.integers(0, len(vectors), len(rows))]
        near = near + NOISE * random_numbers.standard_normal(near.shape) / np.sqrt(near.shape[1])
        near = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)
        for start in range(0, len(rows), 5_000):
            store.vectors.put(
                space, model, [(row[0], "") for row in rows[start : start + 5_000]], near[start : start + 5_000]
            )
    return store


def timed(ask: Callable[[str], object], runs: int) -> list[tuple[float, float]]:
    """Return the milliseconds of each run by the clock and of the processor, after some to warm up."""
    times = []
    for number in range(WARM + runs):
        question = f"{QUESTIONS[number % len(QUESTIONS)]} {number}"  # never the same twice: nothing is cached
        began, used = time.perf_counter(), time.process_time()
        ask(question)
        times.append((1_000 * (time.perf_counter() - began), 1_000 * (time.process_time() - used)))
    return times[WARM:]


def measure(
    size: int, runs: int, parts: Sequence[str], vectors: np.ndarray, embedder: Embedder
) -> dict[str, dict[str, float]]:
    """Return the figures of a size by profile, and those of FTS5 with numpy."""
    with tempfile.TemporaryDirectory() as folder:
        store = filled(Path(folder) / "pack.db", parts, size, embedder.model, vectors)
        index = read_sections(store.graph, store.vectors, embedder.model)
        matrix = index.spaces[CHUNK_SPACE].vectors

        def texts(node_ids: Sequence[int]) -> dict[int, str]:
            return {one: passage.text for one, passage in store.passages(dict.fromkeys(node_ids)).items()}

        def profile(stages: frozenset[str]) -> Callable[[str], object]:
            def ask(question: str) -> object:
                off = frozenset(STAGES) - stages
                run = PackRun(question, store.graph, index, embedder, without=off, texts=texts, limit=LIMIT)
                ranking = rank_pack(run)
                return store.passages({one.node_id: one.chunk for one in ranking.sections})

            return ask

        def plain(question: str) -> object:
            found = store.graph.match(content_words(question), limit=DEPTH, weights=(2, 1, 1), view=SECTIONS)
            near = matrix @ embedder.embed_passages([question])[0]
            best = np.argpartition(-near, DEPTH)[:DEPTH]
            ranks = {one: 1 / (60 + rank) for rank, (one, _) in enumerate(found)}
            for rank, row in enumerate(best[np.argsort(-near[best])].tolist()):
                node_id = int(index.node_ids[index.spaces[CHUNK_SPACE].rows[row]])
                ranks[node_id] = ranks.get(node_id, 0.0) + 1 / (60 + rank)
            return store.passages(dict.fromkeys(sorted(ranks, key=lambda one: -ranks[one])[:LIMIT]))

        asked = {"FTS5 and numpy": plain, **{name: profile(stages) for name, stages in PROFILES.items()}}
        asked["all stages but the cross-encoder"] = profile(frozenset(STAGES))
        figures = {}
        for name, ask in asked.items():
            times = timed(ask, runs)
            (p50, cpu50), (p95, cpu95) = (np.percentile(times, share, axis=0).round(1).tolist() for share in (50, 95))
            goal = {"goal": GOALS[name]} if name in GOALS else {}
            figures[name] = {"p50": p50, "p95": p95, "processor p50": cpu50, "processor p95": cpu95, **goal}
            line = f"{size:>7,} {name:<34} p50 {p50:6.1f}  p95 {p95:6.1f} ms; processor {cpu50:6.1f} {cpu95:6.1f}"
            print(line, flush=True)
        store.close()
        return figures


def main() -> None:
    """Measure every size, print the figures, and keep them if asked."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=60)
    arguments.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    arguments.add_argument("--write", action="store_true")
    options = arguments.parse_args()
    embedder, degraded = open_embedder(Path(tempfile.gettempdir()), Settings())
    if embedder is None:
        raise SystemExit("; ".join(degraded))
    parts = paragraphs()
    vectors = np.concatenate(
        [embedder.embed_passages(parts[start : start + 8]) for start in range(0, min(len(parts), 400), 8)]
    )
    sizes = {f"{size:,}": measure(size, options.runs, parts, vectors, embedder) for size in options.sizes}
    kept = {"runs": options.runs, "python": platform.python_version(), "load": os.getloadavg(), "sizes": sizes}
    if options.write:
        (ROOT / "bench" / "results" / "packs-latency.json").write_text(
            json.dumps(kept, indent=2) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
