"""Asks a real home, with each part switched off in turn: `home.py HOME SET… [--without PART]… [--write]`.

A set is a folder of REPERTOIRE_BENCH_DATA with graded plain tasks (tasks.jsonl, grades.tsv) or with labelled questions
(queries.jsonl, qrels.tsv), of which those are asked that something in the home answers. Figures have 95 % intervals;
what a part brings is the paired difference to the answers without it, starred where its interval excludes zero. Of
graded tasks it also tells how well the confidence is calibrated, beside what a perfect one would show on as few.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

import numpy as np  # noqa: E402
from graded import Calibration, Graded, calibration, judge_tasks  # noqa: E402
from judge import Figures, Labels, interval, judge, read_labels, read_run  # noqa: E402
from opening import UNHURRIED, labelled_sets  # noqa: E402
from run import commit, keep  # noqa: E402

from repertoire.app.kernel import Repertoire  # noqa: E402
from repertoire.app.measure.evaluate import SEARCH, TASK, EvalOptions, VerbCaller, evaluate  # noqa: E402
from repertoire.app.wiring import open_repertoire  # noqa: E402
from repertoire.domain.answer import PARTS  # noqa: E402

SETS, LISTS = ("Good", "Bad", "Precision", "Sure", "Unjudged"), ("nDCG@10", "Hit@1", "R@5")
SHOWN = (*SETS, *LISTS, "Caught", "Hint wrong", "Needless", "Everyday")
EVERYDAY = Path("everyday") / "prompts.txt"


def main() -> int:
    """Print a row for everything, and one for each part switched off."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--without", action="append", help="only these, several with commas at once; default: each")
    parser.add_argument("--grades", type=Path, help="further grades: of components that the set's own leave out")
    parser.add_argument("--write", action="store_true", help="keep the figures in bench/results")
    given = parser.parse_args()
    data, measured, rows = labelled_sets(parser), commit(), []
    environment = {"REPERTOIRE_QUERY_MS": str(UNHURRIED)}
    with open_repertoire(given.home, environment=environment, read_only=True) as opened:
        for name in given.sets:
            whole = asked(opened, data / name, given.split, frozenset(), given.grades)
            for part in ("", *(given.without or PARTS)):
                without = frozenset(part.split(",")) if part else frozenset()
                figures = asked(opened, data / name, given.split, without, given.grades) if part else whole
                row = {"set": name, "without": part, "n": len(next(iter(figures.values())))}
                row["figures"] = {key: interval(values) for key, values in figures.items() if _told(values)}
                if part:
                    row["brings"] = {
                        key: interval(whole[key] - values)
                        for key, values in figures.items()
                        if _told(values) and _told(whole[key] - values)
                    }
                elif "Confidence" in whole:
                    found = calibration(whole)
                    row["calibration"] = asdict(found)
                    print(calibration_line(found))
                rows.append(row)
                print(line(row), flush=True)
    if given.write:
        keep("home", {**measured, "split": given.split, "rows": rows})
    return 0


def _told(values: np.ndarray) -> bool:
    return not np.isnan(values).all()


def asked(opened: Repertoire, folder: Path, split: str, without: frozenset[str], grades: Path | None = None) -> Figures:
    """Return the figures of every task or question of a set."""
    plain = (folder / "grades.tsv").is_file()
    with tempfile.TemporaryDirectory(prefix="repertoire-home-") as place:
        run = Path(place) / "run"
        options = EvalOptions(folder, run, split=split, mode=TASK if plain else SEARCH, without=without, at_home=True)
        result = evaluate(options, opened, report=lambda _: None)
        if not plain:
            labels = read_labels(folder, split)
            here = [query for query in labels.queries if query["id"] not in result.left_out]
            return judge(Labels(here, labels.gold), read_run(run), SEARCH)
        answers = {row["task"]: row for row in map(json.loads, run.read_text(encoding="utf-8").splitlines())}
    figures = judge_tasks(Graded.read(folder, split, grades), answers)
    return figures | {"Everyday": drawn(opened, folder.parent / EVERYDAY, without)}


def drawn(opened: Repertoire, prompts: Path, without: frozenset[str]) -> np.ndarray:
    """Return for every prompt that needs nothing whether it draws a hint, in per cent; NaN where there are none."""
    if not prompts.is_file():
        return np.array([np.nan])
    asked = [text for text in prompts.read_text(encoding="utf-8").splitlines() if text.strip()]
    return np.array([100.0 * bool(VerbCaller(opened, without).offer(text)) for text in asked])


def calibration_line(found: Calibration) -> str:
    """Return the calibration as text."""
    chance, low, high = found.error_by_chance
    sure, lowest, highest = found.sure_by_chance
    return (
        f"calibration error of {found.sets} sets {found.error:.1f} (a perfect confidence: {chance:.1f}, {low:.1f} to "
        f"{high:.1f}); mean confidence of what is not good {found.sure:.2f} ({sure:.2f}, {lowest:.2f} to {highest:.2f})"
    )


def line(row: dict) -> str:
    """Return a row as text: each figure, and what the part brings, starred where that is sure."""
    cells = []
    for name in SHOWN:
        if name in row["figures"]:
            cell = f"{name} {row['figures'][name][0]:.1f}" if name != "Sure" else f"Sure {row['figures'][name][0]:.2f}"
            if name in row.get("brings", {}) and any(row["brings"][name]):
                delta, low, high = row["brings"][name]
                cell += f" ({delta:+.1f}{'*' if low > 0 or high < 0 else ''})"
            cells.append(cell)
    return f"{row['set']} {'without ' + row['without'] if row['without'] else 'with everything':22s} {'  '.join(cells)}"


if __name__ == "__main__":
    raise SystemExit(main())
