#!/usr/bin/env python3
"""Measure the search of traces on labelled sets: FOLDER holds traces_so and traces_error, each corpus, queries, qrels.

For every set a home is made for once (or taken from --homes), the corpus read into it as an import would, and every
query asked of the search as users get it, and of its parts alone; `silence` asks again with the right trace left out.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.app.clock import now
from repertoire.app.traces.embed import embed_traces
from repertoire.app.traces.exchange import import_lines
from repertoire.app.traces.search import Wanted, search_traces
from repertoire.app.traces.telling import Told, trace_of
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import Moment

SYSTEMS: Mapping[str, frozenset[str]] = {
    "search": frozenset(),
    "words": frozenset(("vectors", "signatures")),
    "vectors": frozenset(("words", "signatures")),
    "words and vectors": frozenset(("signatures",)),
}
SETS = ("traces_so", "traces_error", "traces_error/blind")
_TITLE = 80


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def line_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document as a line that can be imported; the sets have no titles, so that its first words stand in."""
    text, at = document["text"], document["solution_at"]
    context, solution = text[:at].strip() or "(nothing)", text[at:].strip() or "(nothing)"
    title = next(iter(context.splitlines()), "")[:_TITLE].strip() or "(untitled)"
    return {
        "title": title,
        "context": context[:20_000],
        "solution": solution[:20_000],
        "tags": [tag for tag in document.get("tags", []) if tag],
    }


def filled(repertoire: Any, documents: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Read the documents into a home; map each trace's key to its document's id."""
    moment = Moment(now(), "", "")
    told = [line_of(document) for document in documents]
    done = import_lines(repertoire.store, map(json.dumps, told), moment=moment)
    print(done.added, done.known, done.refused[:3], file=sys.stderr)
    embed_traces(repertoire.store, repertoire.embedder)
    keys = {}
    for document, line in zip(documents, told, strict=True):
        values = {**line, "tags": tuple(line["tags"])}
        keys[trace_of(Told(**values), project="", session="", now=moment.at).key] = document["id"]
    return keys


def asked(name: str, query: Mapping[str, Any]) -> dict[str, str]:
    """Return how a query is asked: what was printed is an error, a title is none."""
    return {"query": query["text"]} if name == "traces_so" else {"query": "", "error": query["text"]}


def wilson(good: int, of: int) -> list[float]:
    """Return the 95 % bounds of a share, in percent."""
    share, z2 = good / of, 1.96 * 1.96
    middle, spread = share + z2 / (2 * of), 1.96 * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return [round(100 * (middle + sign * spread) / (1 + z2 / of), 1) for sign in (-1, 1)]


def measured(
    repertoire: Any, name: str, queries: Sequence[Any], gold: Mapping[str, set[str]], keys: Mapping[str, str]
) -> Any:
    """Return Hit@1, MRR@10 and R@5 of each system, and how often the answer calls itself fitting."""
    figures: dict[str, Any] = {}
    for system, without in SYSTEMS.items():
        ranks, milliseconds, fitting, silent, confidences = [], [], 0, 0, []
        for query in queries:
            wanted = Wanted(**asked(name, query), limit=10, without=without)
            begin = time.perf_counter()
            found = search_traces(repertoire.store, wanted, embedder=repertoire.embedder)
            milliseconds.append((time.perf_counter() - begin) * 1000)
            ids = [keys.get(hit.trace.key, "") for hit in found.hits]
            rank = next((place for place, one in enumerate(ids, 1) if one in gold[query["id"]]), 0)
            ranks.append(rank)
            if system == "search":
                fitting += found.fits
                rest = [hit for hit in found.hits if keys.get(hit.trace.key, "") not in gold[query["id"]]]
                beside = rest[0].evidence if rest else None
                silent += bool(beside and beside.confidence >= 0.5)
                confidences.append([found.hits[0].evidence if found.hits else None, beside, rank])
        first = sum(rank == 1 for rank in ranks)
        figures[system] = {
            "hit@1": round(100 * first / len(ranks), 1),
            "interval": wilson(first, len(ranks)),
            "mrr@10": round(100 * sum(1 / rank for rank in ranks if rank) / len(ranks), 1),
            "r@5": round(100 * sum(0 < rank <= 5 for rank in ranks) / len(ranks), 1),
            "ms_median": round(sorted(milliseconds)[len(milliseconds) // 2], 1),
            "ms_p95": round(sorted(milliseconds)[int(len(milliseconds) * 0.95)], 1),
        }
        if system == "search":
            figures[system]["fits"] = round(100 * fitting / len(ranks), 1)
            figures[system]["fits_without_the_right_one"] = round(100 * silent / len(ranks), 1)
            figures["_evidence"] = confidences
    return figures


def main() -> None:
    """Measure, and write the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--split", default="dev")
    arguments.add_argument("--homes", type=Path, help="keep the homes here, to be used again")
    arguments.add_argument("--out", type=Path)
    arguments.add_argument("--sets", nargs="*", default=list(SETS))
    arguments.add_argument("--evidence", type=Path, help="write what confidence is made of")
    given = arguments.parse_args()
    results: dict[str, Any] = {"split": given.split}
    with tempfile.TemporaryDirectory() as scratch:
        for name in given.sets:
            folder = given.folder / name
            home = (given.homes or Path(scratch)) / ("blind" if name.endswith("blind") else "whole")
            queries = [query for query in rows(folder / "queries.jsonl") if query["split"] == given.split]
            gold: dict[str, set[str]] = {}
            for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
                query, document, _ = line.split("\t")
                gold.setdefault(query, set()).add(document)
            home.mkdir(parents=True, exist_ok=True)
            with open_repertoire(home, environment={}) as repertoire:
                keys = filled(repertoire, rows(folder / "corpus.jsonl"))
                results[name] = measured(repertoire, name, queries, gold, keys)
            evidence = results[name].pop("_evidence")
            if given.evidence:
                kept = [[vars(part) if part else None for part in row[:2]] + [row[2]] for row in evidence]
                given.evidence.with_suffix(f".{name.replace('/', '-')}.json").write_text(json.dumps(kept))
            print(json.dumps({name: results[name]}, indent=1))
    if given.out:
        given.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
