"""Reads the file of a pack's exam within its limits."""

from __future__ import annotations

from pathlib import Path

from repertoire.documentation.exam import EXAM_BYTES, ExamQuestion, read_exam
from repertoire.domain.errors import PackRefused


def read_exam_file(path: Path, *, place: str = "") -> tuple[ExamQuestion, ...]:
    """Return the questions in a file; `place` names it in errors, by default as its path.

    Raises:
        PackRefused: the file cannot be read, or is no exam.
    """
    place = place or f"the exam {path}"
    try:
        with path.open("rb") as file:
            text = file.read(EXAM_BYTES + 1).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{place} cannot be read ({error}); write one JSON object a line, in UTF-8"
        raise PackRefused(message) from error
    if len(text) > EXAM_BYTES:
        message = f"{place} is larger than {EXAM_BYTES:,} bytes; split it"
        raise PackRefused(message)
    return read_exam(text, place=place)
