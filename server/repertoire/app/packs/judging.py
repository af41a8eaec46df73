"""Prepares a judged run of a pack step by step in a folder: tasks, then blind pairs, then the figures.

No model is called: somebody else answers and judges, and writes what came of it into the folder.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from repertoire.app.packs.exams import exam_of, record_row
from repertoire.app.packs.places import EXAM
from repertoire.app.packs.query import PackMeans, PackQuestion, query_packs
from repertoire.app.packs.shelf import PackShelf
from repertoire.documentation.judging import BEST, ORDERS, WITH, WITHOUT, Judgement, judged, pairs_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.text import clean_line

ARMS = (WITH, WITHOUT)
_KEY = "key.json"  # which answer had the pack: not for judges
_SHOWN, _PASSAGE = 5, 4_000  # passages of a task, and characters of each
_ANSWER = 20_000  # characters of an answer that are read
_FILE = 50_000_000  # characters of a file that are read


@dataclass(frozen=True)
class JudgedRun:
    """A judged run: its pack and folder, who answers and judges; of the exam one split, or the first questions."""

    name: str
    folder: Path
    answerer: str = ""
    judge: str = ""
    split: str = ""
    most: int = 0


@dataclass(frozen=True)
class JudgeStep:
    """What a step did: files that were written, what is to be done next, and the figures once all is judged."""

    written: tuple[Path, ...]
    advice: str
    judgement: Judgement | None = None


def next_step(shelf: PackShelf, run: JudgedRun, means: PackMeans, *, day: str) -> JudgeStep:
    """Do the step of a judged run that is due.

    Raises:
        PackRefused: there is no such pack, or its exam is invalid.
        InvalidRequest: there is no question, a file has another form, or one judges what it answered.
    """
    if not (run.folder / _KEY).is_file():
        return _tasks(shelf, run, means)
    key = _object(run.folder / _KEY)
    if key.get("pack") != run.name:
        message = f"{run.folder} holds a judged run of pack {key.get('pack')!r}; name another folder"
        raise InvalidRequest(message)
    asked = {str(one): (str(row[0]), str(row[1])) for one, row in key["asked"].items()}
    missing = [run.folder / "answers" / f"{arm}.jsonl" for arm in ARMS]
    missing = [file for file in missing if not file.is_file()]
    if missing:
        return JudgeStep((), _advice_to_answer(run.folder, missing))
    if not (run.folder / "pairs" / f"{ORDERS[0]}.jsonl").is_file():
        return _pairs(run, asked, str(key["secret"]))
    _refuse_changed(run, asked, str(key["secret"]))
    waited = [run.folder / "judged" / f"{order}.jsonl" for order in ORDERS]
    waited = [file for file in waited if not file.is_file()]
    if waited:
        return JudgeStep((), _advice_to_judge(run.folder, waited))
    return _result(shelf, run, asked, str(key["secret"]), day)


def _tasks(shelf: PackShelf, run: JudgedRun, means: PackMeans) -> JudgeStep:
    questions = [one for one in exam_of(shelf, run.name) if not run.split or one.split == run.split]
    questions = questions[: run.most or None]
    if not questions:
        message = f"pack {run.name} carries no exam with such questions; build it with --exam"
        raise InvalidRequest(message)
    tasks: dict[str, list[dict[str, Any]]] = {arm: [] for arm in ARMS}
    for one in questions:
        wanted = PackQuestion(one.question, (run.name,), _SHOWN, held_back=one.question)
        answer = query_packs(shelf, wanted, means)
        passages = [
            {"citation": hit.passage.citation, "text": hit.passage.shown(_PASSAGE)[1]}
            for hit in (answer.hits if answer.covered else ())
        ]
        tasks[WITH].append({"id": one.id, "question": one.question, "passages": passages})
        tasks[WITHOUT].append({"id": one.id, "question": one.question})
    written = [_write(run.folder / "tasks" / f"{arm}.jsonl", rows) for arm, rows in tasks.items()]
    asked = {one.id: (one.question, one.answer) for one in questions}
    key = {"pack": run.name, "secret": secrets.token_hex(16), "asked": asked}
    (run.folder / _KEY).write_text(json.dumps(key, indent=2) + "\n", encoding="utf-8")
    answers = [run.folder / "answers" / f"{arm}.jsonl" for arm in ARMS]
    return JudgeStep(tuple(written), _advice_to_answer(run.folder, answers))


def _pairs(run: JudgedRun, asked: Mapping[str, tuple[str, str]], secret: str) -> JudgeStep:
    written = [_write(file, rows) for file, rows in _paired(run, asked, secret).items()]
    waited = [run.folder / "judged" / f"{order}.jsonl" for order in ORDERS]
    return JudgeStep(tuple(written), _advice_to_judge(run.folder, waited))


def _paired(run: JudgedRun, asked: Mapping[str, tuple[str, str]], secret: str) -> dict[Path, list[dict[str, str]]]:
    """Return the files of blind pairs with their rows, as the present answers make them."""
    answers = {arm: _answers(run.folder / "answers" / f"{arm}.jsonl", asked) for arm in ARMS}
    return {
        run.folder / "pairs" / f"{order}.jsonl": [_shown(asdict(pair)) for pair in pairs]
        for order, pairs in pairs_of(asked, answers, secret).items()
    }


def _refuse_changed(run: JudgedRun, asked: Mapping[str, tuple[str, str]], secret: str) -> None:
    """Refuse to go on if an answer is another than the one that stands in its pair."""
    for file, rows in _paired(run, asked, secret).items():
        if file.is_file() and [*_rows(file)] != rows:
            message = (
                f"{file} holds other answers than {run.folder / 'answers'}: they changed after the pairs were written; "
                f"delete {file.parent} and {run.folder / 'judged'}, and let the new pairs be judged"
            )
            raise InvalidRequest(message)


def _result(shelf: PackShelf, run: JudgedRun, asked: Mapping[str, tuple[str, str]], secret: str, day: str) -> JudgeStep:
    if not run.answerer or not run.judge or run.answerer.strip().lower() == run.judge.strip().lower():
        message = "say who answered and who judged with --answerer and --judge; nobody judges its own answers"
        raise InvalidRequest(message)
    given = {order: _points(run.folder / "judged" / f"{order}.jsonl") for order in ORDERS}
    try:
        judgement = judged(asked, given, secret)
    except KeyError as error:
        message = f"pair {error.args[0]} was not judged in both orders; judge each pair of {run.folder / 'pairs'}"
        raise InvalidRequest(message) from error
    row = {
        "day": day,
        "judged": len(judgement.questions),
        "answerer": clean_line(run.answerer, 100),
        "judge": clean_line(run.judge, 100),
        **{
            name: getattr(judgement, name)
            for name in ("points_with", "points_without", "gain", "low", "high", "position")
        },
    }
    _write(run.folder / "result.jsonl", [{**asdict(one), "gain": one.gain} for one in judgement.questions])
    record_row(shelf, run.name, {"exam": shelf.manifest(run.name).hashes.get(EXAM, ""), **row})
    return JudgeStep((run.folder / "result.jsonl",), "", judgement)


def _answers(file: Path, asked: Mapping[str, object]) -> dict[str, str]:
    rows = {str(row.get("id")): row.get("answer") for row in _rows(file)}
    wrong = [one for one in asked if not isinstance(rows.get(one), str)]
    if wrong:
        message = f'{file} has no answer to {clean_line(wrong[0], 80)}; write {{"id": …, "answer": "…"}} a line'
        raise InvalidRequest(message)
    return {one: str(rows[one])[:_ANSWER] for one in asked}


def _points(file: Path) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for row in _rows(file):
        points = [row.get("A"), row.get("B")]
        if not all(isinstance(one, (int, float)) and not isinstance(one, bool) and 0 <= one <= BEST for one in points):
            message = f'{file}: pair {row.get("id")!r} has no points; write {{"id": …, "A": 0 to 10, "B": 0 to 10}}'
            raise InvalidRequest(clean_line(message, 300))
        found[str(row.get("id"))] = (float(row["A"]), float(row["B"]))
    return found


def _shown(pair: Mapping[str, str]) -> dict[str, str]:
    return {
        "id": pair["id"],
        "question": pair["question"],
        "reference": pair["reference"],
        "A": pair["a"],
        "B": pair["b"],
    }


def _rows(file: Path) -> Iterable[dict[str, Any]]:
    for number, line in enumerate(_read(file).splitlines(), 1):
        if line.strip():
            yield _parsed(line, f"line {number} of {file}")


def _object(file: Path) -> dict[str, Any]:
    return _parsed(_read(file), str(file))


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as stream:
            return stream.read(_FILE)
    except (OSError, UnicodeDecodeError) as error:
        message = f"{file} cannot be read ({error}); write it in UTF-8"
        raise InvalidRequest(message) from error


def _parsed(text: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        message = f"{place} is no JSON object"
        raise InvalidRequest(message)
    return value


def _write(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    return file


def _advice_to_answer(folder: Path, files: Sequence[Path]) -> str:
    return (
        f"Answer each task of {folder / 'tasks'}: those of {WITH}.jsonl with the passages and, where these do not "
        f"answer, from your own knowledge; those of {WITHOUT}.jsonl from your own knowledge alone. Use a session for "
        "each, with the same model and length of answers; name neither passages nor citations in an answer. "
        f'Write {{"id": …, "answer": "…"}} a line to {_names(files)}, then run this command again.'
    )


def _advice_to_judge(folder: Path, files: Sequence[Path]) -> str:
    return (
        f"Let somebody else than the answerer judge each pair of {folder / 'pairs'}, one order a session, without "
        f'seeing {_KEY} or the answers. Write {{"id": …, "A": 0 to 10, "B": 0 to 10}} a line to {_names(files)}, '
        "then run this command again with --answerer and --judge."
    )


def _names(files: Sequence[Path]) -> str:
    return " and ".join(str(file) for file in files)
