"""Measures retrieval on every labelled set and writes the table: `python bench/quality/run.py [--ablate] [--write]`.

The sets are found through REPERTOIRE_BENCH_DATA. Each figure has its 95 % interval and, where the data hold a plain
search's run of the same split, the paired difference to it. `--write` keeps the table as bench/results/quality-N.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

import numpy as np  # noqa: E402
from judge import interval, judge, read_labels, read_run  # noqa: E402
from opening import labelled_sets, shipped_model, throw_away  # noqa: E402

from repertoire.app.measure.evaluate import EvalOptions, evaluate  # noqa: E402
from repertoire.domain.answer import PARTS  # noqa: E402

RESULTS = ROOT / "bench" / "results"
SETS = (
    *("cc_native", "cc_bundles", "ultratool", "metatool_multi", "metatool_single", "sealtools", "toolret_apigen"),
    *("bfcl_live", "hotpot100", "musique100"),
)
NEEDLESS = "needless"  # made here: requests that nothing serves, over the components of cc_trigger
ABLATED = tuple(part for part in PARTS if part not in ("learning", "need"))  # these have no say in a search
SHOWN = ("Hit@1", "R@5", "R@10", "nDCG@10", "C@5", "C@10", "F1", "Cover", "Size", "Pass", "Caught", "Wrong", "Needless")


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    mode: str = "search"
    lenient: bool = False
    scope_repo: bool = False
    learn: str = ""
    without: str = ""

    def __str__(self) -> str:
        marks = (
            [self.mode] * (self.mode != "search") + ["lenient"] * self.lenient + ["own repository"] * self.scope_repo
        )
        marks += [f"learn {self.learn}"] * bool(self.learn) + [f"without {self.without}"] * bool(self.without)
        return " ".join([self.name, *marks])


def cases(*, ablate: bool) -> Iterator[Case]:
    """Return the rows of the table."""
    yield from (Case(name) for name in SETS)
    yield from (Case("cc_native", lenient=True), Case("cc_native", lenient=True, scope_repo=True))
    yield from (Case("cc_trigger", mode="prompt"), Case(NEEDLESS, mode="prompt"))
    yield from (Case(name, mode="set") for name in ("cc_bundles", "ultratool", "metatool_multi", "sealtools"))
    for name in ("ultratool", "metatool_multi", "metatool_single", "cc_native"):
        yield from (Case(name, learn=learn) for learn in ("train:25", "train:100", "train:400", "train"))
    yield from (Case(name, learn="train") for name in ("sealtools", "toolret_apigen"))
    yield from (Case(name, mode="set", learn="train") for name in ("ultratool", "metatool_multi"))
    if ablate:
        yield from (Case(name, without=part) for name in SETS for part in ABLATED)


def main() -> int:
    """Run the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help="only these sets")
    parser.add_argument("--ablate", action="store_true", help="each set also with one part switched off")
    parser.add_argument("--write", action="store_true", help="keep the table in bench/results")
    parser.add_argument("--cache", type=Path, help="keep the vectors of the corpora here")
    options = parser.parse_args()
    data = labelled_sets(parser)
    embedder = shipped_model(parser)
    last, measured = newest(), commit()  # now: work may go on while this runs
    rows = []
    with tempfile.TemporaryDirectory(prefix="repertoire-quality-") as place:
        make_needless(data, Path(place) / NEEDLESS)
        for case in cases(ablate=options.ablate):
            if options.sets and case.name not in options.sets:
                continue
            rows.append(measure(case, data, Path(place), options.cache, embedder))
            print(line(rows[-1], last), flush=True)
    if options.write:
        keep("quality", {**measured, "model": embedder.model, "split": "dev", "rows": rows})
    return 0


def measure(case: Case, data: Path, place: Path, cache: Path | None, embedder: object) -> dict:
    """Answer a set and judge the run."""
    folder = place / NEEDLESS if case.name == NEEDLESS else data / case.name
    run = place / "run.tsv"
    asked = EvalOptions(
        folder,
        run,
        mode=case.mode,
        learn=case.learn,
        without=frozenset(filter(None, [case.without])),
        scope_repo=case.scope_repo,
        cache=cache,
    )
    with throw_away(place, embedder) as opened:
        result = evaluate(asked, opened, report=lambda _: None)
    labels = read_labels(folder, "dev", lenient=case.lenient)
    ours = judge(labels, read_run(run), case.mode, lenient=case.lenient)
    row = {
        "case": str(case),
        **asdict(case),
        "n": len(labels.queries),
        "figures": {k: interval(v) for k, v in ours.items()},
    }
    scope = "-scope-repo" if case.scope_repo else ""
    plain = data / "plain_runs" / f"{case.name}{scope}.fused.tsv"
    if plain.is_file() and case.mode != "set":
        theirs = judge(labels, read_run(plain), case.mode, lenient=case.lenient)
        row["versus_plain"] = {name: interval(ours[name] - theirs[name]) for name in ours}
    return {**row, "p50_ms": round(result.p50_ms, 2), "p95_ms": round(result.p95_ms, 2)}


def make_needless(data: Path, folder: Path) -> None:
    """Put requests that Claude Code components do not serve before the components of one plugin."""
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").write_bytes((data / "cc_trigger" / "corpus.jsonl").read_bytes())
    (folder / "queries.jsonl").write_bytes((data / "metatool_single" / "queries.jsonl").read_bytes())
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n", encoding="utf-8")


def newest(kind: str = "quality") -> dict | None:
    """Return the last table of a kind that was kept."""
    kept = sorted(RESULTS.glob(f"{kind}-*.json"), key=lambda path: int(path.stem.partition("-")[2]))
    return json.loads(kept[-1].read_text(encoding="utf-8")) if kept else None


def keep(kind: str, table: dict) -> None:
    """Write a table beside the earlier ones of its kind."""
    last = newest(kind)
    number = last["number"] + 1 if last else 1
    path = RESULTS / f"{kind}-{number}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"number": number, **table}, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path.relative_to(ROOT)}")


def commit() -> dict:
    """Name the commit that was measured, and whether the tree differed from it."""
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    changed = subprocess.run(
        [*git, "status", "--porcelain", "server"], capture_output=True, text=True, check=True
    ).stdout
    return {"commit": name, "changed": bool(changed.strip())}


def line(row: dict, last: dict | None) -> str:
    """Return a row as text: each figure, its difference to the plain run (* where sure), and to the last table."""
    before = next((old["figures"] for old in (last or {}).get("rows", ()) if old["case"] == row["case"]), {})
    cells = []
    for name in SHOWN:
        if name in row["figures"]:
            cell = f"{name} {row['figures'][name][0]:.1f}"
            if name in row.get("versus_plain", {}):
                delta, low, high = row["versus_plain"][name]
                cell += f" ({delta:+.1f}{'*' if low > 0 or high < 0 else ''})"
            if name in before and not np.isclose(before[name][0], row["figures"][name][0], atol=0.05):
                cell += f" [{row['figures'][name][0] - before[name][0]:+.1f}]"
            cells.append(cell)
    return f"{row['case']:32s} {'  '.join(cells)}  {row['p50_ms']:.0f}/{row['p95_ms']:.0f} ms"


if __name__ == "__main__":
    raise SystemExit(main())
