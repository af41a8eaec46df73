"""Takes the exam of a pack: how often the right section is found, beside full text, and what the gate lets through."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from repertoire.app.packs.exam_file import read_exam_file
from repertoire.app.packs.places import EXAM, MANIFEST, RESULTS
from repertoire.app.packs.query import PackQuestion, query_packs
from repertoire.app.packs.shelf import PackShelf
from repertoire.domain.pack import SECTIONS
from repertoire.domain.text import content_words
from repertoire.packs.exam import ExamQuestion
from repertoire.packs.manifest import PackManifest, manifest_json
from repertoire.ports import Embedder

_DEPTH = 50  # passages that are ranked for a question
_PLAIN = (2.0, 1.0, 1.0)  # BM25 weights of the baseline
_FOREIGN = 300  # questions of other packs that are asked


@dataclass(frozen=True)
class RecallFigures:
    """Shares in percent: the right page or section is first, or among the first five."""

    page_first: float
    page_in_5: float
    section_first: float
    section_in_5: float


@dataclass(frozen=True)
class PackScore:
    """What an exam showed: recall beside plain full text, own questions lost, and foreign ones refused (None: none)."""

    questions: int
    search: RecallFigures
    words: RecallFigures
    lost: float
    foreign: int
    refused: float | None
    unknown: tuple[str, ...] = ()  # citations of the exam that are no section of the pack


def exam_of(shelf: PackShelf, name: str) -> tuple[ExamQuestion, ...]:
    """Return the exam that a pack carries; empty if it carries none.

    Raises:
        PackRefused: there is no such pack, or its exam is not the one that was built, or is invalid.
    """
    place = shelf.file(name, EXAM)
    return read_exam_file(place) if place is not None else ()


def take_exam(
    shelf: PackShelf,
    name: str,
    questions: Sequence[ExamQuestion],
    *,
    embedder: Embedder | None,
    gate: float,
) -> PackScore:
    """Ask a pack the questions of an exam, and the questions of the other packs' exams as foreign ones.

    Raises:
        PackRefused: there is no such pack, or it cannot be opened.
    """
    pack = shelf.open(name, embedder.model if embedder is not None else "")
    with pack.store.guarded():
        sections = [
            (article.path, f"{article.path}#{section.anchor}" if section.anchor else article.path)
            for article in pack.store.articles()
            for section in article.sections
        ]
    known = {citation for _, citation in sections}
    places = dict(zip((int(one) for one in pack.index.node_ids), (one for _, one in sections), strict=True))
    found, words = list[list[str]](), list[list[str]]()
    for question in questions:
        answer = query_packs(shelf, PackQuestion(question.question, (name,), _DEPTH), embedder=embedder, gate=gate)
        found.append([hit.passage.citation for hit in answer.hits])
        asked = content_words(question.question)
        matched = pack.store.graph.match(asked, limit=_DEPTH, weights=_PLAIN, view=SECTIONS)
        words.append([places[node_id] for node_id, _ in matched])

    def covered(text: str) -> bool:  # as among all packs of this home
        answer = query_packs(shelf, PackQuestion(text, limit=1), embedder=embedder, gate=gate)
        return name in answer.covering

    foreign = _foreign(shelf, name)
    return PackScore(
        len(questions),
        _figures(questions, found),
        _figures(questions, words),
        _percent([not covered(question.question) for question in questions]),
        len(foreign),
        _percent([not covered(text) for text in foreign]) if foreign else None,
        tuple(sorted({gold for question in questions for gold in question.gold} - known)),
    )


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
    }
    manifest = shelf.manifest(name)
    kept = [one for one in manifest.scores if one.get("exam") != exam][-20:]
    changed = replace(manifest, scores=(*kept, row))
    folder = shelf.folder(name)
    results = folder / RESULTS
    results.mkdir(parents=True, exist_ok=True)
    (results / f"{day}.json").write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")
    fresh = folder / f"{MANIFEST}.new"
    fresh.write_text(manifest_json(changed), encoding="utf-8", newline="\n")
    fresh.chmod(0o444)
    fresh.replace(folder / MANIFEST)
    return changed


def _foreign(shelf: PackShelf, name: str) -> list[str]:
    """Return questions of the other packs' exams."""
    others = [manifest.name for manifest in shelf.listing().packs if manifest.name != name]
    return [question.question for other in others for question in exam_of(shelf, other)][:_FOREIGN]


def _figures(questions: Sequence[ExamQuestion], answers: Sequence[Sequence[str]]) -> RecallFigures:
    sections = [_rank(found, question.gold) for question, found in zip(questions, answers, strict=True)]
    pages = [
        _rank(list(dict.fromkeys(_page(one) for one in found)), [_page(one) for one in question.gold])
        for question, found in zip(questions, answers, strict=True)
    ]
    return RecallFigures(
        _percent([rank == 1 for rank in pages]),
        _percent([0 < rank <= 5 for rank in pages]),
        _percent([rank == 1 for rank in sections]),
        _percent([0 < rank <= 5 for rank in sections]),
    )


def _rank(found: Sequence[str], gold: Sequence[str]) -> int:
    return next((rank for rank, one in enumerate(found, 1) if one in gold), 0)


def _page(citation: str) -> str:
    return citation.partition("#")[0]


def _percent(shares: Sequence[float]) -> float:
    return round(100 * float(np.mean(shares)), 1)
