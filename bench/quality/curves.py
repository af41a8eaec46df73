"""Measures how answers get better with use: `python bench/quality/curves.py [SET…] [--write] [--cache DIR]`.

Each set is asked its dev questions after 0, 25, 100, 400 and all of its train questions were recorded as if a user had
asked them and used what answers them. Each point has its 95 % interval and the paired difference to no past at all.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

from judge import interval, judge, read_labels, read_run  # noqa: E402
from opening import labelled_sets, shipped_model, throw_away  # noqa: E402
from run import commit, keep  # noqa: E402

from repertoire.app.measure.evaluate import EvalOptions, evaluate  # noqa: E402

SETS = ("ultratool", "metatool_single", "metatool_multi", "cc_native")
POINTS = ("", "train:25", "train:100", "train:400", "train")
SHOWN = ("Hit@1", "R@5", "C@5", "C@10", "nDCG@10")


def main() -> int:
    """Draw the curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS, help=f"which sets; default: {' '.join(SETS)}")
    parser.add_argument("--write", action="store_true", help="keep the curves in bench/results")
    parser.add_argument("--cache", type=Path, help="keep the vectors of the corpora here")
    options = parser.parse_args()
    data, measured = labelled_sets(parser), commit()
    embedder = shipped_model(parser)
    rows = []
    for name in options.sets:
        without = None
        for learn in POINTS:
            learned, figures = point(data / name, learn, options.cache, embedder)
            if rows and rows[-1]["set"] == name and rows[-1]["learned"] == learned:
                continue  # there are no more to learn from
            without = without or figures
            row = {"set": name, "learn": learn, "learned": learned, "n": len(next(iter(figures.values())))}
            row["figures"] = {key: interval(values) for key, values in figures.items()}
            row["versus_none"] = {key: interval(values - without[key]) for key, values in figures.items()}
            rows.append(row)
            print(line(row), flush=True)
    if options.write:
        keep("curves", {**measured, "model": embedder.model, "split": "dev", "rows": rows})
    return 0


def point(folder: Path, learn: str, cache: Path | None, embedder: object) -> tuple[int, dict]:
    """Answer a set with so much past, and return how much that was, and the figures of every question."""
    with tempfile.TemporaryDirectory(prefix="repertoire-curves-") as place:
        run = Path(place) / "run.tsv"
        with throw_away(Path(place), embedder) as opened:
            asked = EvalOptions(folder, run, learn=learn, cache=cache)
            result = evaluate(asked, opened, report=lambda _: None)
        return result.learned, judge(read_labels(folder, "dev"), read_run(run), "search")


def line(row: dict) -> str:
    """Return a point as text: each figure with the difference to no past, starred where that is sure."""
    cells = []
    for name in SHOWN:
        delta, low, high = row["versus_none"][name]
        cells.append(f"{name} {row['figures'][name][0]:.1f} ({delta:+.1f}{'*' if low > 0 or high < 0 else ''})")
    return f"{row['set']:16s} {row['learned']:5d}  {'  '.join(cells)}"


if __name__ == "__main__":
    raise SystemExit(main())
