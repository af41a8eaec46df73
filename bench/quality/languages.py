#!/usr/bin/env python3
"""Put tasks in other languages to a real home, and tell how far they get what their English original gets.

    languages.py HOME SENTENCES.jsonl RESULT.json [--everyday PROMPTS.jsonl] [--split SPLIT] [--without languages]

SENTENCES has an object a line: `lang, text, en`, or `en` and a text for each language. By language RESULT tells how
often the English first is the first, or among the first five; how often the first is one of the English first five; the
same for the first member of the set; how often both have a set or none; mean confidences; hints; and milliseconds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))
sys.path.insert(0, str(Path(__file__).resolve().parent))


from repertoire.app.kernel import Repertoire
from repertoire.app.measure.evaluate import VerbCaller
from repertoire.app.wiring import open_repertoire
from repertoire.retrieval.translation import translate

FIVE = 5


def sentences(path: Path, split: str) -> Iterator[tuple[str, str, str]]:
    """Yield language, text and English original of every sentence."""
    for line in path.read_text(encoding="utf-8").splitlines():
        task = json.loads(line)
        if split and task.get("split") != split:
            continue
        if "lang" in task:
            yield task["lang"], task["text"], task["en"]
        else:
            yield from ((lang, text, task["en"]) for lang, text in task.items() if lang != "en")


class Answers:
    """What a home answers, each text once; exact copies count as one component."""

    def __init__(self, opened: Repertoire, without: frozenset[str]) -> None:
        """`without` are parts of the pipeline that are switched off."""
        self.doors = VerbCaller(opened, without)
        self._kept: dict[str, dict] = {}

    def of(self, text: str) -> dict:
        """Return set, list, confidence and hint for a text."""
        if text not in self._kept:
            self._kept[text] = self.doors.task(text)
        return self._kept[text]


def compared(english: dict, other: dict) -> dict[str, float]:
    """Return how far one answer is the other."""
    first, five = english["search"][:1], english["search"][:FIVE]
    there, here = english["set"], other["set"]
    return {
        "hit@1": float(other["search"][:1] == first),
        "hit@5": float(bool(set(first) & set(other["search"][:FIVE]))),
        "first among the English five": float(bool(set(other["search"][:1]) & set(five))),
        "both a set or none": float(bool(there) == bool(here)),
        "set begins among the English five": float(bool(set(here[:1]) & {*there, *five}) or not (there or here)),
        "confidence": other["confidence"],
        "English confidence": english["confidence"],
        "hint": float(bool(other["hint"])),
        "English hint": float(bool(english["hint"])),
    }


def milliseconds(texts: list[str]) -> dict[str, float]:
    """Return how long reading takes, the dictionaries being there."""
    took = []
    for text in texts:
        translate(text)
        start = perf_counter()
        translate(text)
        took.append(1000.0 * (perf_counter() - start))
    return {"median": round(median(took), 3), "most": round(max(took), 3)}


def main() -> None:
    """Write the result and print it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--everyday", type=Path)
    parser.add_argument("--split", default="")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--worst", action="store_true")
    given = parser.parse_args()
    without = frozenset(given.without)
    tasks = list(sentences(given.sentences, given.split))
    by_language: dict[str, list[dict[str, float]]] = defaultdict(list)
    result: dict[str, Any] = {"sentences": given.sentences.name, "split": given.split, "without": given.without}
    with open_repertoire(given.home, environment={"REPERTOIRE_QUERY_MS": "60000"}, read_only=True) as opened:
        answers = Answers(opened, without)
        for lang, text, english in tasks:
            found = compared(answers.of(english), answers.of(text))
            by_language[lang].append(found)
            if given.worst and not found["first among the English five"]:
                translation = translate(text)
                print(lang, "|", english, "|", text, "|", translation and (translation.text, translation.unknown))
        if given.everyday:
            prompts = [json.loads(line) for line in given.everyday.read_text(encoding="utf-8").splitlines()]
            drawn = [one["text"] for one in prompts if answers.doors.offer(one["text"])]
            result["everyday"] = {"prompts": len(prompts), "draw a hint": drawn}
    rows = {lang: _means(found) for lang, found in sorted(by_language.items())}
    result["languages"] = rows | {"all": _means([one for found in by_language.values() for one in found])}
    result["milliseconds"] = {
        "English": milliseconds(list({english for _, _, english in tasks})),
        "other": milliseconds([text for _, text, _ in tasks]),
    }
    given.result.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for lang, row in result["languages"].items():
        print(lang, *row.values())
    print(result["milliseconds"], result.get("everyday", ""))


def _means(found: list[dict[str, float]]) -> dict[str, float]:
    return {"sentences": len(found)} | {name: round(fmean(one[name] for one in found), 3) for name in found[0]}


if __name__ == "__main__":
    main()
