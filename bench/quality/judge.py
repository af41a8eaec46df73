"""Judges run files: a scorer that shares no code with what it judges, with intervals from a bootstrap over queries."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROUNDS = 2000
Figures = dict[str, np.ndarray]


@dataclass(frozen=True)
class Labels:
    """The queries of a split, in order, and what answers each."""

    queries: list[dict]
    gold: dict[str, set[str]] = field(default_factory=dict)


def read_labels(folder: Path, split: str, *, lenient: bool = False) -> Labels:
    """Read a split; `lenient` counts what qrels_lenient.tsv names too."""
    gold: dict[str, set[str]] = defaultdict(set)
    name = "qrels_lenient.tsv" if lenient else "qrels.tsv"
    for line in (folder / name).read_text(encoding="utf-8").splitlines():
        query, document, *_ = line.split("\t")
        gold[query].add(document)
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [query for query in map(json.loads, lines) if query.get("split") == split]
    return Labels(queries, dict(gold))


def read_run(path: Path) -> dict[str, list[str]]:
    """Read a run: the documents of every query, best first."""
    rows: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, document, rank, *_ = line.split("\t")
        if query != "query-id":
            rows[query].append((int(rank), document))
    return {query: [document for _, document in sorted(found)] for query, found in rows.items()}


def judge(labels: Labels, run: dict[str, list[str]], mode: str, *, lenient: bool = False) -> Figures:
    """Return a figure a query, in per cent, for every measure of a mode; NaN where a measure does not apply."""
    measure = {"search": _search, "set": _set, "prompt": _prompt}[mode]
    rows = [
        measure(query, run.get(query["id"], []), labels.gold.get(query["id"], set()), enough=1 if lenient else 0)
        for query in labels.queries
        if mode == "prompt" or labels.gold.get(query["id"])
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: np.array([row.get(name, math.nan) for row in rows]) for name in names}


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """Return the mean with its 95 % bootstrap interval; NaNs are left out."""
    known = values[~np.isnan(values)]
    rng = np.random.default_rng(0)
    means = known[rng.integers(0, len(known), (ROUNDS, len(known)))].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return round(float(known.mean()), 2), round(float(low), 2), round(float(high), 2)


def _search(_query: dict, found: list[str], gold: set[str], *, enough: int) -> dict[str, float]:
    right = [document in gold for document in found[:10]]
    first = right.index(True) + 1 if True in right else 0
    gain = sum(1 / math.log2(place + 2) for place, hit in enumerate(right) if hit)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(len(gold), 10)))
    figures = {"Hit@1": float(first == 1), "MRR@10": 1 / first if first else 0.0, "nDCG@10": gain / ideal}
    for depth in (5, 10):
        share = sum(right[:depth]) / (enough or len(gold))
        figures[f"R@{depth}"] = min(share, 1.0)
        figures[f"C@{depth}"] = float(share >= 1.0)
    return {name: 100.0 * value for name, value in figures.items()}


def _set(_query: dict, found: list[str], gold: set[str], **_: int) -> dict[str, float]:
    right = len(gold.intersection(found))
    both = len(found) + len(gold)
    figures = {
        "F1": 2 * right / both,
        "P": right / max(len(found), 1),
        "R": right / len(gold),
        "Cover": right == len(gold),
    }
    return {**{name: 100.0 * value for name, value in figures.items()}, "Size": float(len(found))}


def _prompt(query: dict, found: list[str], _gold: set[str], **_: int) -> dict[str, float]:
    if "should_trigger" not in query:
        return {"Needless": 100.0 * bool(found)}
    own = set(query["component_ids"])
    if query["should_trigger"]:
        return {"Pass": 100.0 * bool(found), "Caught": 100.0 * bool(own.intersection(found[:3]))}
    return {"Wrong": 100.0 * bool(own.intersection(found[:1]))}
