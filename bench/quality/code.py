"""Measures what comparing code with code brings: `python bench/quality/code.py HOME`, a home with embedded components.

`code.tsv` holds snippets and the name of the one component among public ones that they can only belong to; those that
the home does not hold are left out.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

from judge import interval  # noqa: E402

from repertoire.app.wiring import open_repertoire  # noqa: E402
from repertoire.domain.answer import Query  # noqa: E402
from repertoire.retrieval.code import CODE  # noqa: E402
from repertoire.retrieval.plan import SEARCH  # noqa: E402
from repertoire.retrieval.ranking import Ranking  # noqa: E402

QUESTIONS = Path(__file__).with_suffix(".tsv")


def main() -> int:
    """Print the places of the right components, with code compared and without."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    rows = [line.split("\t") for line in QUESTIONS.read_text(encoding="utf-8").splitlines()[1:]]
    with open_repertoire(parser.parse_args().home) as repertoire:
        rankings = [(repertoire.pipeline.rank(Query(text), intent=SEARCH), name) for text, name in rows]
    known = [(ranking, name) for ranking, name in rankings if name in ranking.snapshot.column("name")]
    places = np.array([[place(ranking, name, parts) for parts in ((), (CODE,))] for ranking, name in known])
    for (_, name), (apart, plain) in zip(known, places, strict=True):
        print(f"{name:28s} place {apart:3.0f} with code, {plain:3.0f} without")
    for label, column in (("with code", 0), ("without", 1)):
        hit, five, mean = (interval(100.0 * values[:, column]) for values in (places == 1, places <= 5, 1 / places))
        print(f"{label:10s} n {len(known)}  Hit@1 {hit}  Hit@5 {five}  MRR {mean}")
    return 0


def place(ranking: Ranking, name: str, without: tuple[str, ...]) -> float:
    """Return the place of a component, the given parts of the score left out; infinite where it is not there."""
    scores = sum(part for key, part in ranking.parts.items() if key not in without)
    order = ranking.rows[np.argsort(-scores[ranking.rows], kind="stable")]
    found = np.flatnonzero(ranking.snapshot.column("name")[order] == name)
    return float(found[0] + 1) if len(found) else np.inf


if __name__ == "__main__":
    raise SystemExit(main())
