"""Learns which tasks are too vague for a set: `python bench/quality/vague.py` rewrites retrieval/vague.npz.

The perceptron of need.py, smaller and over other prompts: vague.jsonl of plain_requests/ against its requests, everyday
prompts and what no component serves. `--check` holds a fifth of each out, five times, requests with
all others of their component, and prints the share of vague tasks and of requests that reach each bar.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "server"))

from need import Prompts, held_out, learn  # noqa: E402
from plain_lessons import bundled_embedder, lines  # noqa: E402

from repertoire.retrieval.vague import BAR, FILE  # noqa: E402

HIDDEN = 64
BARS = (0.0, 0.5, 1.0, BAR, 2.0, 3.0)


def prompts() -> tuple[Prompts, np.ndarray, str]:
    """Return what is learned from, which of it are requests, and the query encoder of its vectors."""
    embedder = bundled_embedder()
    vague = [json.loads(line)["text"] for line in lines("vague.jsonl")]
    requests = [json.loads(line) for line in lines("requests.jsonl")]
    idle = lines("everyday.txt", "none.txt")
    texts = [*vague, *(row["text"] for row in requests), *idle]
    groups = [*vague, *(row["component"] or row["text"] for row in requests), *idle]
    vectors = np.concatenate([embedder.embed_queries(texts[at : at + 64]) for at in range(0, len(texts), 64)])
    places = np.arange(len(texts))
    clear = (places >= len(vague)) & (places < len(vague) + len(requests))
    return Prompts(texts, vectors, places < len(vague), np.ones(len(texts)), groups), clear, embedder.query_encoder


def check(taught: Prompts, clear: np.ndarray, query_encoder: str) -> None:
    """Print how many vague tasks and how many requests that were held out reach each bar."""
    odds = held_out(taught, query_encoder, hidden=HIDDEN)
    for bar in BARS:
        vague, requests = (100 * np.mean(odds[which] > bar) for which in (taught.asking, clear))
        print(f"log-odds above {bar}: {vague:.1f} % of the vague, {requests:.2f} % of the requests")


def main() -> None:
    """Learn and write, or check."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    taught, clear, query_encoder = prompts()
    if parser.parse_args().check:
        check(taught, clear, query_encoder)
    else:
        learn(taught, query_encoder, hidden=HIDDEN).save(FILE)
        print(f"{len(taught.texts)} prompts, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
