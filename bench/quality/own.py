#!/usr/bin/env python3
"""Tell how far a person's own skills are found among a home's components: `own.py HOME SKILLS.jsonl [--json RESULT]`.

SKILLS has an object a line: `lang, name, description, body, question`, and the same `en` in English. A copy of HOME for
each language gets the skills of that language, as they were written, and another one their English forms, as
`~/.claude/skills`. Of 100 questions it tells how often the skill made for it leads the list, is in the first ten, leads
the set, or is in the hint.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

import yaml  # noqa: E402
from opening import UNHURRIED  # noqa: E402
from run import commit  # noqa: E402

from repertoire.app.measure.evaluate import VerbCaller  # noqa: E402
from repertoire.app.sources.embed import embed_pending  # noqa: E402
from repertoire.app.sources.ingest import ingest  # noqa: E402
from repertoire.app.wiring import open_repertoire  # noqa: E402

SHOWN = ("first", "in the first ten", "leads the set", "in the hint")
OWN = "user:"  # what ids of a person's own components begin with


def main() -> int:
    """Print a row for each language, and two for all: as written, and in English."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("skills", type=Path)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.skills.read_text(encoding="utf-8").splitlines()]
    by_language, found = defaultdict(list), {}
    for row in rows:
        by_language[row["lang"]].append(row)
    for form in ("as written", "in English"):
        told = []
        for lang, skills in by_language.items():
            asked = [row if form == "as written" else row["en"] for row in skills]
            found[f"{lang}, {form}"] = list(answers(given.home, asked))
            told += found[f"{lang}, {form}"]
            print(line(f"{lang}, {form}", found[f"{lang}, {form}"]), flush=True)
        found[f"all, {form}"] = told
        print(line(f"all, {form}", told), flush=True)
    if given.json:
        figures = {name: dict(zip(SHOWN, means(told), strict=True)) for name, told in found.items()}
        given.json.write_text(json.dumps({**commit(), "figures": figures}, indent=1) + "\n", encoding="utf-8")
    return 0


def answers(home: Path, skills: Sequence[dict]) -> Iterator[tuple[bool, ...]]:
    """Yield for each skill where the home, with these skills, names it when its question is asked."""
    with tempfile.TemporaryDirectory(prefix="repertoire-own-") as place:
        copy, person = Path(place) / "home", Path(place) / "person"
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("sources", "*.lock"))
        for skill in skills:
            folder = person / ".claude" / "skills" / skill["name"]
            folder.mkdir(parents=True)
            head = yaml.safe_dump({"name": skill["name"], "description": skill["description"]}, allow_unicode=True)
            (folder / "SKILL.md").write_text(f"---\n{head}---\n{skill['body']}\n", encoding="utf-8")
        os.environ["HOME"] = str(person)
        with open_repertoire(copy, environment={"REPERTOIRE_QUERY_MS": str(UNHURRIED)}) as opened:
            ingest(opened.store, copy, "installed", settings=opened.settings)
            embed_pending(opened.store, opened.embedder)
            doors = VerbCaller(opened, frozenset())
            for skill in skills:
                yield places(doors.task(skill["question"]), f"skills/{skill['name']}/SKILL.md")


def places(answer: dict, path: str) -> tuple[bool, ...]:
    """Return whether an answer names a person's own component with this path, at each place that SHOWN lists."""
    listed, members, hint = (list(answer[part] or ()) for part in ("search", "set", "hint"))
    held = (listed[:1], listed[:10], members[:1], hint)
    return tuple(any(key.startswith(OWN) and key.endswith(path) for key in keys) for keys in held)


def means(told: Sequence[tuple[bool, ...]]) -> list[float]:
    """Return the share of true values at each place, in per cent."""
    return [round(100.0 * sum(column) / len(told), 1) for column in zip(*told, strict=True)]


def line(name: str, told: Sequence[tuple[bool, ...]]) -> str:
    """Return a row of figures as text."""
    return f"{name:18s} of {len(told):2d}: " + ", ".join(
        f"{shown} {figure:.0f}" for shown, figure in zip(SHOWN, means(told), strict=True)
    )


if __name__ == "__main__":
    raise SystemExit(main())
