"""Takes the exam of a pack: how often the right section is found, beside full text, and what the gate lets through."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repertoire.app.packs.exam_file import read_exam_file
from repertoire.app.packs.places import EXAM, MANIFEST, RESULTS
from repertoire.app.packs.query import PackMeans, PackQuestion, bounded_gate, query_packs
from repertoire.app.packs.shelf import OpenPack, PackShelf
from repertoire.boot.private_file import set_mode
from repertoire.documentation.exam import TEST, ExamQuestion, unknown_gold
from repertoire.documentation.manifest import PackManifest, manifest_json
from repertoire.documentation.nuggets import Nuggets
from repertoire.domain.errors import InvalidRequest, PackRefused
from repertoire.domain.pack import SECTIONS, cited, parts_of
from repertoire.domain.pack_stages import BASELINE, PROFILES
from repertoire.domain.text import content_words
from repertoire.ports import model_of
from repertoire.retrieval.pack_ranking import same_text

_DEPTH = 50  # passages that are ranked for a question
_PLAIN = (2.0, 1.0, 1.0)  # BM25 weights of the baseline
_FOREIGN = 300  # questions of other packs that are asked
_SHOWN = 5  # passages that a reader sees
_LEAST_TO_CALIBRATE, _LOST_AT_GATE = 20, 3  # questions that tell the gate of a pack, and the percent that may fail it


@dataclass(frozen=True)
class RecallFigures:
    """Shares in percent: the right page or section is first, or among the first five."""

    page_first: float
    page_in_5: float
    section_first: float
    section_in_5: float


@dataclass(frozen=True)
class PackScore:
    """What an exam showed: recall beside plain full text, own questions lost, and foreign ones refused (None: none).

    `gate` is the cosine that all but a few of the questions reach, those of the split `test` left out; `nuggets` is
    how much of the reference answers the first passages say, `words_nuggets` those of full text (None: no such answer).
    """

    questions: int
    search: RecallFigures
    words: RecallFigures
    lost: float
    foreign: int
    refused: float | None
    unknown: tuple[str, ...] = ()  # citations of the exam that are no section of the pack
    gate: float | None = None
    nuggets: float | None = None
    words_nuggets: float | None = None
    stages: tuple[str, ...] = ()


def exam_of(shelf: PackShelf, name: str) -> tuple[ExamQuestion, ...]:
    """Return the exam that a pack carries; empty if it carries none.

    Raises:
        PackRefused: there is no such pack, or its exam is not the one that was built, or is invalid.
    """
    place = shelf.file(name, EXAM)
    return read_exam_file(place, place=f"the exam of pack {name}") if place is not None else ()


def take_exam(
    shelf: PackShelf,
    name: str,
    questions: Sequence[ExamQuestion],
    means: PackMeans,
    *,
    split: str = "",
) -> PackScore:
    """Ask a pack the questions of an exam, or of one split; the questions of the other packs' exams are foreign ones.

    No question is answered with its own example. Sections with the same text are one answer.

    Raises:
        PackRefused: there is no such pack, or it cannot be opened.
    """
    asked = [one for one in questions if not split or one.split == split]
    if not asked:
        message = f"the exam of pack {name} has no question of the split {split!r}; it has {_splits(questions)}"
        raise InvalidRequest(message)
    key = _Key.of(shelf, name, means)
    gate = _calibrated(shelf, name, questions, means)
    if gate is not None:
        means = replace(means, gates={**means.gates, name: bounded_gate(gate, means.gate)})
    found, words, answered = list[list[str]](), list[list[str]](), list[tuple[float, float]]()
    for question in asked:
        wanted = PackQuestion(question.question, (name,), _DEPTH, held_back=question.question)
        hits = query_packs(shelf, wanted, means).hits
        found.append([hit.passage.citation for hit in hits])
        words.append(key.by_words(question.question))
        if question.answer:
            texts = ([hit.passage.text for hit in hits], [key.text[one] for one in words[-1]])
            search, plain = (key.nuggets.coverage(question.answer, one[:_SHOWN]) for one in texts)
            answered.append((search, plain))

    def covered(text: str) -> bool:  # as among all packs of this home
        answer = query_packs(shelf, PackQuestion(text, limit=1), means)
        return name in answer.covering

    foreign = _foreign(shelf, name)
    return PackScore(
        len(asked),
        _figures(asked, found, key),
        _figures(asked, words, key),
        _percent([not covered(question.question) for question in asked]),
        len(foreign),
        _percent([not covered(text) for text in foreign]) if foreign else None,
        unknown_gold(asked, key.text),
        gate,
        _percent([one for one, _ in answered]) if answered else None,
        _percent([one for _, one in answered]) if answered else None,
        tuple(sorted(means.stages)),
    )


@dataclass(frozen=True)
class _Key:
    """What answers are compared with: the sections of a pack by citation, and which of them say the same."""

    pack: OpenPack
    text: dict[str, str]
    same: dict[str, str]  # the first citation with the same text, by citation
    places: dict[int, str]  # citations by node id
    nuggets: Nuggets

    @classmethod
    def of(cls, shelf: PackShelf, name: str, means: PackMeans) -> _Key:
        pack = shelf.open(name, model_of(means.embedder))
        with pack.store.guarded():
            text = {
                cited(article.path, section.anchor): section.text
                for article in pack.store.articles()
                for section in article.sections
            }
            ids = pack.store.sections_by_citation()
        first: dict[str, str] = {}
        same = {citation: first.setdefault(same_text(one), citation) for citation, one in text.items()}
        return cls(pack, text, same, {one: citation for citation, one in ids.items()}, Nuggets(text.values()))

    def by_words(self, question: str) -> list[str]:
        """Return the citations that plain full text finds."""
        with self.pack.store.guarded():
            asked = content_words(question)
            matched = self.pack.store.graph.match(asked, limit=_DEPTH, weights=_PLAIN, view=SECTIONS)
        return [self.places[node_id] for node_id, _ in matched]


def _calibrated(shelf: PackShelf, name: str, questions: Sequence[ExamQuestion], means: PackMeans) -> float | None:
    """Return the cosine that all but a few of the questions reach; None for too few questions, or without vectors."""
    chosen = [one for one in questions if one.split != TEST]
    if len(chosen) < _LEAST_TO_CALIBRATE or means.embedder is None:
        return None
    plain = replace(means, stages=PROFILES[BASELINE])
    nearest = [query_packs(shelf, PackQuestion(one.question, (name,), 1), plain).confidence for one in chosen]
    return round(float(np.percentile(nearest, _LOST_AT_GATE)), 3)


def _splits(questions: Sequence[ExamQuestion]) -> str:
    return ", ".join(sorted({one.split or "none" for one in questions}))


def record_score(shelf: PackShelf, name: str, score: PackScore, *, exam: str, model: str, day: str) -> PackManifest:
    """Write a score into the manifest of a pack and beside its exam; the database stays as it is.

    Raises:
        PackRefused: there is no such pack.
    """
    row = {
        "day": day,
        "exam": exam,
        "questions": score.questions,
        "model": model,
        "page_in_5": score.search.page_in_5,
        "section_in_5": score.search.section_in_5,
        "words_page_in_5": score.words.page_in_5,
        "words_section_in_5": score.words.section_in_5,
        "lost": score.lost,
        "foreign": score.foreign,
        "refused": score.refused,
        **({"gate": score.gate} if score.gate is not None else {}),
    }
    return record_row(shelf, name, row)


def record_row(shelf: PackShelf, name: str, row: Mapping[str, Any]) -> PackManifest:
    """Write what an exam or a judged run showed into the manifest, in place of an older row of its sort and exam.

    Raises:
        PackRefused: there is no such pack.
    """
    manifest, sort = shelf.manifest(name), "judged" in row
    kept = [one for one in manifest.scores if (one.get("exam"), "judged" in one) != (row["exam"], sort)][-20:]
    changed = replace(manifest, scores=(*kept, row))
    folder = shelf.folder(name)
    results = folder / RESULTS
    results.mkdir(parents=True, exist_ok=True)
    file = results / f"{row['day']}{'-judged' if sort else ''}.json"
    file.write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")
    fresh = folder / f"{MANIFEST}.new"
    fresh.write_text(manifest_json(changed), encoding="utf-8", newline="\n")
    set_mode(fresh, 0o444)
    fresh.replace(folder / MANIFEST)
    return changed


def _foreign(shelf: PackShelf, name: str) -> list[str]:
    """Return questions of the other packs' exams, without those that cannot be read."""
    asked = list[str]()
    for other in (manifest.name for manifest in shelf.listing().packs if manifest.name != name):
        with suppress(PackRefused):  # one broken exam must not keep the other packs from being examined and updated
            asked += [question.question for question in exam_of(shelf, other)]
    return asked[:_FOREIGN]


def _figures(questions: Sequence[ExamQuestion], answers: Sequence[Sequence[str]], key: _Key) -> RecallFigures:
    sections = [
        rank_of_first([key.same[one] for one in found], [key.same.get(gold, gold) for gold in question.gold])
        for question, found in zip(questions, answers, strict=True)
    ]
    pages = [
        rank_of_first(list(dict.fromkeys(_page(one) for one in found)), _pages(question, key))
        for question, found in zip(questions, answers, strict=True)
    ]
    return RecallFigures(
        _percent([rank == 1 for rank in pages]),
        _percent([0 < rank <= 5 for rank in pages]),
        _percent([rank == 1 for rank in sections]),
        _percent([0 < rank <= 5 for rank in sections]),
    )


def rank_of_first(found: Sequence[str], right: Collection[str]) -> int:
    """Return the rank of the first right answer; 0 if there is none."""
    return next((rank for rank, one in enumerate(found, 1) if one in right), 0)


def _pages(question: ExamQuestion, key: _Key) -> set[str]:
    """Return the pages that hold an answer, or the same text as one."""
    gold = {key.same.get(one, one) for one in question.gold}
    return {_page(one) for one in question.gold} | {_page(one) for one, first in key.same.items() if first in gold}


def _page(citation: str) -> str:
    return parts_of(citation)[0]


def _percent(shares: Sequence[float]) -> float:
    return round(100 * float(np.mean(shares)), 1)
