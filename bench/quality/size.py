"""Derives how many components a task needs from its wording, as `retrieval/plan.py` keeps it: bench/quality/size.py.

Least squares on the train splits of four labelled sets, each weighing the same; judged on dev beside the best constant.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

from judge import interval, read_labels  # noqa: E402

from repertoire.app.wiring import capabilities_in  # noqa: E402
from repertoire.retrieval.plan import MOST_NEEDED, clauses, size_of  # noqa: E402

SETS = ("ultratool", "metatool_multi", "cc_bundles", "sealtools")


def main() -> int:
    """Print the weights, and how far off they and constants are."""
    data, capabilities = Path(os.environ["REPERTOIRE_BENCH_DATA"]), capabilities_in()
    rows, sizes = [], []
    for name in SETS:
        asked, needed = questions(data / name, "train", capabilities)
        weight = 1.0 / np.sqrt(len(needed))
        rows.append(np.array([[1.0, max(len(parts), 1), len(named)] for parts, named in asked]) * weight)
        sizes.append(needed * weight)
    weights = np.linalg.lstsq(np.concatenate(rows), np.concatenate(sizes), rcond=None)[0]
    print("size = {:.2f} + {:.2f} a clause + {:.2f} a capability".format(*weights))
    for name in SETS:
        asked, needed = questions(data / name, "dev", capabilities)
        guessed = np.array([size_of(parts, named) for parts, named in asked])
        errors = {"as shipped": guessed, "always 2": np.full(len(needed), 2), "always 3": np.full(len(needed), 3)}
        told = ", ".join(f"{label} {interval(np.abs(guess - needed))}" for label, guess in errors.items())
        print(f"{name:16s} off by: {told}")
    return 0


def questions(folder: Path, split: str, capabilities: object) -> tuple[list[tuple], np.ndarray]:
    """Return the clauses and capabilities of every question, and how many components answer it."""
    labels = read_labels(folder, split)
    known = [query for query in labels.queries if labels.gold.get(query["id"])]
    asked = [(clauses(query["text"]), capabilities(query["text"])) for query in known]
    return asked, np.array([min(len(labels.gold[query["id"]]), MOST_NEEDED) for query in known], dtype=np.float64)


if __name__ == "__main__":
    raise SystemExit(main())
