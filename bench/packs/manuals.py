"""Asks packs of thirteen manuals the questions of `manuals/`: `python bench/packs/manuals.py HOME`.

HOME holds the packs, each by the name of its file of questions. What comes first is told beside full text, vectors and
both fused by reciprocal ranks. For the gate each question is put to its pack and three others that chance picks.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

from repertoire.app.measure.plain_fusion import fuse_equally  # noqa: E402
from repertoire.app.packs.query import PackMeans, PackQuestion, query_packs  # noqa: E402
from repertoire.app.packs.shelf import OpenPack, PackShelf  # noqa: E402
from repertoire.app.wiring import open_embedder, open_pack_file  # noqa: E402
from repertoire.domain.pack import PackPassage  # noqa: E402
from repertoire.ports import Embedder  # noqa: E402
from repertoire.retrieval.pack_ranking import same_text  # noqa: E402
from repertoire.retrieval.sections import CHUNKS, HEADINGS, WORDS, SectionRun, rank_sections  # noqa: E402
from repertoire.settings import Settings  # noqa: E402

OTHERS, DEEP, SHOWN, SEED = 3, 200, 10, 0
ALONE = {WORDS: 0.0, CHUNKS: 0.0, HEADINGS: 0.0}
COLUMNS = ("page in 5", "section first", "section in 5", "section in 10")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    home = parser.parse_args().home
    embedder, _ = open_embedder(home, Settings())
    if embedder is None:
        sys.exit("the bundled model cannot be loaded")
    shelf = PackShelf(home / "packs", open_pack_file)
    exams = {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted((HERE / "manuals").glob("*.jsonl"))
    }
    print("| manual | questions | way | " + " | ".join(COLUMNS) + " |")
    every: dict[str, list[Sequence[bool]]] = {}
    for name, exam in exams.items():
        ways = ways_of(shelf, name, embedder)
        for way, ask in ways.items():
            rows = [judged(shelf.open(name, embedder.model), one["gold"], ask(one["question"])) for one in exam]
            every.setdefault(way, []).extend(rows)
            print(f"| {name} | {len(exam)} | {way} | {shares(rows)} |", flush=True)
    for way, rows in every.items():
        print(f"| all | {len(rows)} | {way} | {shares(rows)} |")
    gate(shelf, exams, embedder)


def ways_of(shelf: PackShelf, name: str, embedder: Embedder) -> Mapping[str, Callable[[str], Sequence[int]]]:
    """Return the ways to answer from a pack: each maps a question to node ids of sections, best first."""
    means = PackMeans(embedder, gate=Settings().pack_gate_percent / 100)
    pack = shelf.open(name, embedder.model)
    ids = {passage.citation: node for node, passage in passages(pack).items()}

    def ranked(question: str, weights: Mapping[str, float]) -> list[int]:
        run = SectionRun(question, pack.store.graph, pack.index, embedder, weights=weights, second_chunk=0.0)
        return [one.node_id for one in rank_sections(run, limit=DEEP)]

    def query(question: str) -> list[int]:
        found = query_packs(shelf, PackQuestion(question, (name,), limit=SHOWN), means)
        return [ids[hit.passage.citation] for hit in found.hits]

    return {
        "full text": lambda question: ranked(question, {**ALONE, WORDS: 1.0}),
        "vectors": lambda question: ranked(question, {**ALONE, CHUNKS: 1.0}),
        "reciprocal ranks": lambda question: fuse_equally(
            ranked(question, {**ALONE, way: 1.0}) for way in (WORDS, CHUNKS)
        ),
        "query_pack": query,
    }


def passages(pack: OpenPack) -> Mapping[int, PackPassage]:
    """Return every section of a pack by its node id."""
    return pack.store.passages(dict.fromkeys(pack.index.node_ids.tolist()))


def judged(pack: OpenPack, gold: Sequence[str], found: Sequence[int]) -> Sequence[bool]:
    """Tell whether a right page or section came; a section with the same text as a right one is right."""
    shown = pack.store.passages(dict.fromkeys(found[:DEEP]))
    texts = [(shown[node].citation, same_text(shown[node].text)) for node in found if node in shown]
    right_texts = {text for citation, text in texts if citation in gold}
    pages = [*dict.fromkeys(citation.partition("#")[0] for citation, _ in texts)]
    right_pages = {citation.partition("#")[0] for citation in gold}
    right = [citation in gold or text in right_texts for citation, text in texts]
    return (bool(right_pages & {*pages[:5]}), any(right[:1]), any(right[:5]), any(right[:10]))


def shares(rows: Sequence[Sequence[bool]]) -> str:
    """Return percents of the rows, one a column."""
    return " | ".join(f"{100 * share:.1f}" for share in np.mean(np.array(rows), axis=0))


def gate(shelf: PackShelf, exams: Mapping[str, Sequence[Mapping[str, str]]], embedder: Embedder) -> None:
    """Print how many own questions each pack loses, and how many foreign ones it refuses, three others beside it."""
    chance, means = random.Random(SEED), PackMeans(embedder, gate=Settings().pack_gate_percent / 100)
    lost: dict[str, list[bool]] = {name: [] for name in exams}
    refused: dict[str, list[bool]] = {name: [] for name in exams}
    for name, exam in exams.items():
        for one in exam:
            asked = (name, *chance.sample(sorted(exams.keys() - {name}), OTHERS))
            covering = query_packs(shelf, PackQuestion(one["question"], asked), means).covering
            lost[name].append(name not in covering)
            for other in asked[1:]:
                refused[other].append(other not in covering)
    for name in exams:
        print(f"| {name} | own lost {100 * np.mean(lost[name]):.1f} | refused {100 * np.mean(refused[name]):.1f} |")
    means_of = [100 * np.mean([np.mean(rows) for rows in found.values()]) for found in (lost, refused)]
    print(f"| mean | own lost {means_of[0]:.1f} | foreign refused {means_of[1]:.1f} |")


if __name__ == "__main__":
    main()
