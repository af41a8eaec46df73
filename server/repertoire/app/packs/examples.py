"""Reads the questions of a pack's exam as examples: where a question is nearly one of them, its sections count."""

from __future__ import annotations

import numpy as np

from repertoire.app.packs.exam_file import read_exam_file
from repertoire.app.packs.places import EXAM
from repertoire.app.packs.shelf import OpenPack, PackShelf
from repertoire.documentation.exam import TEST
from repertoire.ports import Embedder
from repertoire.retrieval.pack_ranking import Examples
from repertoire.retrieval.translation import embed_in_english

_MOST = 300  # questions of an exam that are embedded, once for each opened pack


def examples_of(shelf: PackShelf, pack: OpenPack, embedder: Embedder | None, *, held_back: str = "") -> Examples | None:
    """Return the examples of a pack without a question that is held back; None without an exam or a model.

    Raises:
        PackRefused: the exam is not the one that was built, or is invalid.
    """
    if embedder is None:
        return None
    if embedder.model not in pack.examples:
        pack.examples[embedder.model] = _read(shelf, pack, embedder)
    questions, examples = pack.examples[embedder.model]
    if not questions:
        return None
    if not held_back:
        return examples
    kept = [place for place, question in enumerate(questions) if question != held_back]
    return Examples(examples.vectors[kept], [examples.answers[place] for place in kept]) if kept else None


def _read(shelf: PackShelf, pack: OpenPack, embedder: Embedder) -> tuple[list[str], Examples]:
    place = shelf.file(pack.manifest.name, EXAM)
    exam = [one for one in read_exam_file(place) if one.split != TEST][:_MOST] if place is not None else []
    if not exam:
        return [], Examples(np.zeros((0, 0), dtype=np.float32), [])
    ids = pack.store.sections_by_citation()
    answers = [[ids[gold] for gold in one.gold if gold in ids] for one in exam]
    vectors = embed_in_english(embedder, (one.question for one in exam))
    return [one.question for one in exam], Examples(np.asarray(vectors, dtype=np.float32), answers)
