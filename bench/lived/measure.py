"""Measures a home that was lived in beside the same home without a past: `measure.py HOME [--write] [--keep FOLDER]`.

HOME is a ready home with the repositories of the plain tasks of REPERTOIRE_BENCH_DATA; it is copied, and not changed.
For a third of the tasks what is recommended is installed, then used, failed, muted or left; half a year of other work
lies around it. `--keep` makes both machines in a folder that stays, to be asked by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
HERE = Path(__file__).resolve().parent
QUALITY = HERE.parent / "quality"
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "server"), str(QUALITY)]

from comparing import (  # noqa: E402
    Again,
    Hints,
    Originals,
    Readings,
    Row,
    as_answers,
    drawn,
    graded_rows,
    hidden,
    intruders,
    read_all,
    strangers,
    worse,
)
from doors import Tally, opened  # noqa: E402
from graded import HELPS, SERVES, TASKS, UNKNOWN, Graded, plain  # noqa: E402
from life import BARE, PROJECTS, Life  # noqa: E402
from opening import labelled_sets  # noqa: E402
from past import KEPT, MUTED, PREFERRED, ROLES, STARTED, Past, Wish, lived  # noqa: E402
from run import commit, keep  # noqa: E402
from terminal import run_all  # noqa: E402

SET, SPLIT = "plain_tasks", "dev"
SEED, EVERY, COPIED, IDLE, IN_TERMINAL = 46, 3, 5, 100, 6
OWN_WORDS = (  # what the projects' own components serve
    "deploy the shop",
    "write the release notes",
    "review my change of the network",
    "show what terraform would change",
)
VAGUE = ("make it better", "help me with the backend", "xyzzy")  # unsure answers, and empty ones


def main() -> int:
    """Build both machines, ask them, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--keep", type=Path, help="make the machines in this folder, which stays; it must not exist")
    parser.add_argument("--write", action="store_true", help="keep the figures in bench/results")
    given = parser.parse_args()
    data, measured = labelled_sets(parser), commit()
    if given.keep:
        given.keep.mkdir(parents=True)
    with (
        nullcontext(str(given.keep)) if given.keep else tempfile.TemporaryDirectory(prefix="repertoire-lived-") as place
    ):
        told = _measured(Path(place).resolve(), given.home, data)
    if given.write:
        keep("lived", {**measured, "seed": SEED, **told})
    return bool(told["failures"])


def _measured(place: Path, home: Path, data: Path) -> dict[str, Any]:
    graded = Graded.read(data / SET, SPLIT, QUALITY / "further_grades.tsv")
    everyday = [
        line for line in (data / "everyday" / "prompts.txt").read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    touched = sorted((task for task in graded.tasks if task["wants"]), key=lambda task: task["id"])[::EVERY]
    others = other_words(touched)
    tally = Tally()
    texts = [*(task["text"] for task in graded.tasks), *others.values(), *VAGUE]
    before, after = (Life.begun(place / name, home, owned=owned) for name, owned in (("fresh", False), ("lived", True)))
    with opened(before, BARE, tally) as doors:
        fresh, quiet = read_all(doors, texts), {text: doors.hint(text) for text in everyday}
        fresh_answers = as_answers(fresh, plain)
    print("asked the home without a past", flush=True)
    untouched = [task for task in graded.tasks if task not in touched]
    with opened(after, BARE, tally) as doors:
        past = lived(after, doors, wishes(touched, graded, fresh), to_copy(untouched, fresh), idle())
    print(f"lived: {past.sessions} sessions, {len(past.owned)} installed, {len(past.refused)} refused", flush=True)
    with opened(after, BARE, tally) as doors:
        now, original, drawing = read_all(doors, texts), Originals(doors), {text: doors.hint(text) for text in everyday}
        answers = as_answers(now, original)
    again = Again(past, others, fresh, now, original)
    muted = [one.wish.text for one in past.owned if one.wish.role == MUTED]
    parts = {
        "others' tasks": untouched,
        "tasks with a past but muted ones": [task for task in touched if task["text"] not in muted],
    }
    rows, eye = _compared(graded, parts, (fresh_answers, answers), (quiet, drawing))
    rows += again.rows()
    eye["what should lead, and what should not"] = again.lost()
    eye["intruders"] = intruders(past.owned, replace(graded, tasks=untouched), fresh_answers, answers)
    rows.append(
        Row(
            "others' tasks and doors at which something with a past intrudes",
            3 * len(untouched),
            0.0,
            len(eye["intruders"]),
        )
    )
    more, seen = _in_projects((before, after), past, [task["text"] for task in touched], original, tally)
    rows += more
    eye |= seen
    with opened(after, "web", tally) as doors:
        run_all(doors, [*list(fresh)[:IN_TERMINAL], *VAGUE], [one.installed for one in past.owned[:IN_TERMINAL]])
    rows.append(
        Row("answers that failed or did not fit their schema", sum(tally.answered.values()), 0.0, len(tally.failures))
    )
    eye["refused to install"] = past.refused
    eye["uses that the home did not know"] = past.unknown
    _print(rows, tally, eye)
    return {
        "rows": [asdict(row) for row in rows],
        "doors": dict(sorted(tally.answered.items())),
        "failures": tally.failures,
        "past": _told(past),
        "to read by eye": eye,
    }


def _compared(
    graded: Graded, parts: Mapping[str, Sequence[Mapping]], answers: Sequence[Mapping], hints: Sequence[Hints]
) -> tuple[list[Row], dict[str, Any]]:
    """Compare the tasks without a past of their own, those with one, and everyday prompts."""
    rows, eye = [], {}
    for name, tasks in parts.items():
        part = replace(graded, tasks=tasks)
        rows += graded_rows(name, part, *answers)
        eye[f"worse: {name}"] = worse(part, *answers)
    rows.append(drawn("everyday prompts that draw a hint", *hints))
    eye["everyday prompts that newly draw a hint"] = [
        {"prompt": text, "hint": named} for text, named in hints[1].items() if named and not hints[0][text]
    ]
    return rows, eye


def _in_projects(
    lives: Sequence[Life], past: Past, texts: Sequence[str], original: Originals, tally: Tally
) -> tuple[list[Row], dict[str, Any]]:
    """Ask from every project: what another one owns must not be named, and must not hide what it is a copy of."""
    before, after = lives
    foreign, lost = [], []
    for project in PROJECTS:
        asked = [*past.copied, *texts[::EVERY], *OWN_WORDS]
        with opened(before, project, tally) as doors:
            fresh = read_all(doors, past.copied)
        with opened(after, project, tally) as doors:
            now = read_all(doors, asked)
        foreign += strangers(now, after.project(project))
        lost += [f"{project}: {line}" for line in hidden(past.copied, fresh, now, original)] if project != "web" else []
    count = (len(PROJECTS) - 1) * len(past.copied)
    rows = [
        Row("another project's own, named", len(PROJECTS), 0.0, len(foreign)),
        Row("first answers that a copy elsewhere hides, or lets seem installed", count, 0.0, len(lost)),
    ]
    return rows, {"another project's own": foreign, "hidden by a copy elsewhere": lost}


def other_words(touched: Sequence[Mapping]) -> dict[str, str]:
    """Return the other words for the requests of tasks."""
    lines = (HERE / "other_words.tsv").read_text(encoding="utf-8").splitlines()
    known = dict(line.split("\t") for line in lines)
    return {task["text"]: known[task["id"]] for task in touched if task["id"] in known}


def wishes(touched: Sequence[Mapping], graded: Graded, fresh: Readings) -> list[Wish]:
    """Return what becomes of what is recommended for each task, roles in turn."""
    found = []
    for number, task in enumerate(touched):
        role, reading = ROLES[number % len(ROLES)], fresh[task["text"]]
        grades, first = graded.grades.get(task["id"], {}), reading.named("set")[:1]
        least = HELPS if role == PREFERRED else SERVES
        further = [one for one in reading.found if grades.get(plain(one["id"]), UNKNOWN) >= least]
        items = [one for one in (*reading.items, *further) if role == KEPT or one["type"] in STARTED]
        if role == PREFERRED:
            items = [one for one in further if one["type"] in STARTED and one["id"] not in first]
        ids = dict.fromkeys(one["id"] for one in items)
        found.append(Wish(task["text"], role, tuple(ids), alone=bool(number % 2)))
    return found


def to_copy(untouched: Sequence[Mapping], fresh: Readings) -> dict[str, str]:
    """Return what a project is given a copy of: the first answers to some tasks without a past."""
    firsts = {
        task["text"]: fresh[task["text"]].items[0]
        for task in untouched
        if task["wants"] and fresh[task["text"]].items and fresh[task["text"]].items[0]["type"] in STARTED[:3]
    }
    chosen = random.Random(SEED).sample(sorted(firsts), COPIED)
    return {text: firsts[text]["id"] for text in chosen}


def idle() -> list[str]:
    """Return the prompts after which nothing is used: everyday ones, and tasks whose hints are ignored."""
    dice = random.Random(SEED)
    tasks = [json.loads(line)["text"] for line in TASKS.read_text(encoding="utf-8").splitlines()]
    small = (QUALITY / "plain_requests" / "everyday.txt").read_text(encoding="utf-8").splitlines()
    return [*dice.sample(tasks, IDLE // 2), *dice.sample(small, IDLE // 2)]


def _told(past: Past) -> dict[str, Any]:
    owned = [
        {"task": one.wish.text, "role": one.wish.role, "original": one.original, "installed": one.installed}
        for one in past.owned
    ]
    return {
        "sessions": past.sessions,
        "owned": owned,
        "refused": past.refused,
        "copied": past.copied,
        "unknown": past.unknown,
    }


def _print(rows: Sequence[Row], tally: Tally, eye: Mapping[str, Any]) -> None:
    print(f"{'':64s} {'n':>4s} {'fresh':>7s} {'lived':>7s}")
    for row in rows:
        print(row.line())
    print("doors:", ", ".join(f"{door} {count}" for door, count in sorted(Counter(tally.answered).items())))
    for failure in tally.failures:
        print("FAILED:", failure)
    for name, found in eye.items():
        print(f"\n{name}: {len(found)}")
        for one in found:
            print("  ", one if isinstance(one, str) else json.dumps(one, ensure_ascii=False))


if __name__ == "__main__":
    raise SystemExit(main())
