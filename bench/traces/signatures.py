"""Measures error signatures: are lines of a log told apart, and is the trace found in which an error was solved.

signatures.py groups SET_DIR RUN.tsv     every line's template, `line-id<TAB>template`, for the judge of that set
signatures.py find SET_DIR --vectors FILE [--runs FOLDER]     Hit@1 and MRR@10: words, vectors, signatures, all fused
signatures.py speed     how long an output takes to be read
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import sqlite3
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "server"))

from repertoire.inference.embedder import load  # noqa: E402
from repertoire.inference.weights import bundled  # noqa: E402
from repertoire.traces.signature import signatures_in, template_of  # noqa: E402

STOP = frozenset(
    """a an the and or of to in on at for from by with as is are was were be been it its this that these those you your
    i we they he she has have had do does did but if then than so such there here into out up over under not no can will
    would should could may my me our what which who how when where why""".split()
)
PART, PARTS = 900, 6  # characters of a part, and how many of a problem and of a solution are embedded
MOST_WORDS, DEPTH, RRF = 256, 200, 60
VECTORS, SIGNATURES = 0.9, 0.6  # beside words: of each of two vector scores, and of an equal signature
EXACT, SAME = 1.0, 0.5  # an equal exact key, an equal key
GRID = [(vectors, signatures) for vectors in (0.5, 0.7, 0.9, 1.2) for signatures in (0.3, 0.6, 1.0)]
PIECES = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
Scores = np.ndarray


def main() -> int:
    """Run what is asked for."""
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = args.add_subparsers(dest="kind", required=True)
    groups = kinds.add_parser("groups")
    groups.add_argument("set_dir", type=Path)
    groups.add_argument("run", type=Path)
    find = kinds.add_parser("find")
    find.add_argument("set_dir", type=Path)
    find.add_argument("--vectors", type=Path, required=True, help="kept from run to run: making them takes minutes")
    find.add_argument("--runs", type=Path)
    kinds.add_parser("speed")
    asked = args.parse_args()
    if asked.kind == "groups":
        group(asked.set_dir, asked.run)
    elif asked.kind == "find":
        search(asked.set_dir, asked.vectors, asked.runs)
    else:
        speed()
    return 0


def group(folder: Path, run: Path) -> None:
    began, lines = time.perf_counter(), read(folder / "lines.jsonl")
    run.write_text("".join(f"{line['id']}\t{template_of(line['text'])}\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} lines, {1e6 * (time.perf_counter() - began) / len(lines):.0f} microseconds a line")


def search(folder: Path, kept: Path, runs: Path | None) -> None:
    documents, queries = read(folder / "corpus.jsonl"), read(folder / "queries.jsonl")
    gold = labels(folder / "qrels.tsv", {document["id"]: at for at, document in enumerate(documents)})
    print(f"{folder.name}: {len(documents)} documents, {len(queries)} questions")
    words = word_scores(documents, queries)
    whole, parts = vector_scores(documents, queries, kept)
    same = signature_scores(documents, queries)
    ways = {
        "FTS5": words,
        "MiniLM, whole": whole,
        "MiniLM, best part": parts,
        "RRF (FTS5, MiniLM whole)": fused(words, whole),
        "RRF (FTS5, MiniLM parts)": fused(words, parts),
        "FTS5 + signatures": scaled(words) + SIGNATURES * same,
        "FTS5 + vectors, scaled": mixed(words, whole, parts, same, (VECTORS, 0.0)),
        "FTS5 + vectors + signatures, scaled": mixed(words, whole, parts, same, (VECTORS, SIGNATURES)),
    }
    halves = [half(query["id"]) for query in queries]
    for name, scores in ways.items():
        placed = places(scores, queries, gold)
        told = [tell(placed[[mine == part for mine in halves]]) for part in (0, 1)]
        print(f"  {name:38} {tell(placed)}   halves {told[0]}, {told[1]}")
        if runs:
            write(runs / f"{folder.name} {name}.tsv", scores, documents, queries)
    crossed(lambda weights: places(mixed(words, whole, parts, same, weights), queries, gold), halves)


def crossed(placed: Callable[[tuple[float, float]], Scores], halves: Sequence[int]) -> None:
    """Print what the weights that are best on one half reach on the other."""
    tried, mine = {weights: placed(weights) for weights in GRID}, np.array(halves)
    for learned, asked in ((0, 1), (1, 0)):
        best = max(GRID, key=lambda weights: hits(tried[weights][mine == learned]))
        print(f"  weights from half {learned} {best}: half {asked} {tell(tried[best][mine == asked])}")
    totals = [hits(tried[weights]) for weights in GRID]
    print(f"  Hit@1 over all {len(GRID)} weights: {min(totals):.1f} to {max(totals):.1f}")


def mixed(words: Scores, whole: Scores, parts: Scores, same: Scores, weights: tuple[float, float]) -> Scores:
    return scaled(words) + weights[0] * (raised(whole) + raised(parts)) + weights[1] * same


def word_scores(documents: Sequence[dict[str, Any]], queries: Sequence[dict[str, Any]]) -> Scores:
    """Return bm25 of each document for each question: all its words or-ed, problem, solution and tags as columns."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE traces USING fts5(problem, solution, tags, tokenize='porter unicode61')")
    for at, document in enumerate(documents):
        sides = [f"{side} {' '.join(pieces(side))}" for side in told(document)]
        row = (at, *sides, " ".join(document["tags"]))
        database.execute("INSERT INTO traces(rowid, problem, solution, tags) VALUES (?, ?, ?, ?)", row)
    scores = np.zeros((len(documents), len(queries)))
    for column, query in enumerate(queries):
        asked = " OR ".join(f'"{word}"' for word in asked_words(query["text"]))
        for at, score in database.execute("SELECT rowid, -bm25(traces) FROM traces WHERE traces MATCH ?", (asked,)):
            scores[at, column] = score
    return scores


def asked_words(text: str) -> list[str]:
    words = dict.fromkeys(re.findall(r"\w+", text) + pieces(text))
    telling = [word for word in words if word.lower() not in STOP and not word.isdigit() and len(word) > 1]
    return (telling or list(words))[:MOST_WORDS]


def pieces(text: str) -> list[str]:
    """Return the parts of the names in camelCase and snake_case."""
    split = ([part for word in name.split("_") for part in PIECES.findall(word)] for name in re.findall(r"\w+", text))
    return [part for parts in split if len(parts) > 1 for part in parts if len(part) > 1]


def vector_scores(
    documents: Sequence[dict[str, Any]], queries: Sequence[dict[str, Any]], kept: Path
) -> tuple[Scores, Scores]:
    """Return the cosine of each whole document, and of its best part."""
    cut = [part for document in documents for side in told(document) for part in parted(side)]
    owners = [at for at, document in enumerate(documents) for side in told(document) for _ in parted(side)]
    asked = embedded([query["text"] for query in queries], kept)
    parts = np.full((len(documents), len(queries)), -1.0)
    np.maximum.at(parts, owners, embedded(cut, kept) @ asked.T)
    return embedded([document["text"] for document in documents], kept) @ asked.T, parts


def embedded(texts: Sequence[str], kept: Path) -> Scores:
    known: dict[str, Scores] = dict(np.load(kept)) if kept.exists() else {}
    keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if missing:
        embedder = load(bundled())
        known |= {key: embedder.embed_passages([text])[0] for key, text in missing.items()}
        np.savez(kept, **known)
    return np.array([known[key] for key in keys])


def signature_scores(documents: Sequence[dict[str, Any]], queries: Sequence[dict[str, Any]]) -> Scores:
    """Return for each document and question whether they tell of one error; the less, the more documents do."""
    holders: dict[str, set[int]] = defaultdict(set)
    for at, document in enumerate(documents):
        for signature in signatures_in(told(document)[0]):
            holders[signature.exact].add(at)
            holders[signature.key].add(at)
    scores = np.zeros((len(documents), len(queries)))
    for column, query in enumerate(queries):
        for signature in signatures_in(query["text"], failed=True):
            for key, weight in ((signature.exact, EXACT), (signature.key, SAME)):
                for at in holders.get(key, ()):
                    scores[at, column] = max(scores[at, column], weight / (1 + math.log2(len(holders[key]))))
    return scores


def told(document: dict[str, Any]) -> tuple[str, str]:
    return document["text"][: document["solution_at"]], document["text"][document["solution_at"] :]


def parted(text: str) -> list[str]:
    return [text[at : at + PART] for at in range(0, max(1, len(text)), PART)][:PARTS]


def scaled(scores: Scores) -> Scores:
    return np.divide(scores, np.maximum(scores.max(axis=0), 1e-9))


def raised(scores: Scores) -> Scores:
    """Return cosines as what they stand above the mean of all documents, the best as 1."""
    mean = scores.mean(axis=0)
    return np.divide(scores - mean, scores.max(axis=0) - mean)


def fused(*ways: Scores) -> Scores:
    ranks = [np.argsort(np.argsort(-way, axis=0, kind="stable"), axis=0) for way in ways]
    return np.sum([np.where(rank < DEPTH, 1.0 / (RRF + 1 + rank), 0.0) for rank in ranks], axis=0)


def places(scores: Scores, queries: Sequence[dict[str, Any]], gold: dict[str, set[int]]) -> Scores:
    """Return the place of the first right document for each question, counted from 0."""
    ranked = np.argsort(-scores, axis=0, kind="stable")
    return np.array(
        [np.isin(ranked[:, column], list(gold[query["id"]])).argmax() for column, query in enumerate(queries)]
    )


def hits(placed: Scores) -> float:
    return 100 * float(np.mean(placed == 0))


def tell(placed: Scores) -> str:
    return f"{hits(placed):5.1f} / {100 * np.mean(np.where(placed < 10, 1.0 / (1 + placed), 0)):5.1f}"


def half(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2


def write(path: Path, scores: Scores, documents: Sequence[dict[str, Any]], queries: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    best = np.argsort(-scores, axis=0, kind="stable")[:10]
    rows = (
        f"{query['id']}\t{documents[at]['id']}\t{rank}\t{scores[at, column]:.6f}\n"
        for column, query in enumerate(queries)
        for rank, at in enumerate(best[:, column], 1)
    )
    path.write_text("".join(rows), encoding="utf-8")


def labels(path: Path, numbers: dict[str, int]) -> dict[str, set[int]]:
    gold: dict[str, set[int]] = defaultdict(set)
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, document = line.split("\t")[:2]
        gold[query].add(numbers[document])
    return gold


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def speed() -> None:
    outputs = {
        "one line": "TypeError: x is not a function",
        "a Java stack of 20,000 characters": 'Exception in thread "main" java.lang.Error: no\n'
        + "".join(f"    at org.acme.Part{n}.run(Part{n}.java:{n})\n" for n in range(450)),
        "a quiet build of 20,000 characters": "".join(f"compiling module {n} with its options\n" for n in range(520)),
        "500 different errors": "".join(f"error: part {n} {'x' * (n % 50)} failed\n" for n in range(500)),
    }
    for name, text in outputs.items():
        signatures_in(text)
        times = []
        for _ in range(20):
            began = time.perf_counter()
            signatures_in(text)
            times.append(time.perf_counter() - began)
        print(f"{name}: {1000 * np.median(times):.1f} ms, worst {1000 * max(times):.1f} ms")


if __name__ == "__main__":
    raise SystemExit(main())
