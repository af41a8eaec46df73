"""Renders measurements: the answers to a labelled set, and the precision and recall of the static checks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from repertoire.app.measure.evaluate import EvalResult
from repertoire.app.measure.notes import NoteResult
from repertoire.app.measure.projects import CodeResult
from repertoire.app.measure.sections import SectionResult
from repertoire.app.measure.traces import TraceResult
from repertoire.app.measure.trust_eval import TrustScores
from repertoire.domain.text import clean_line
from repertoire.trust.measure import Score

_LINE = 160
_EXAMPLES = 12


def evaluation_text(result: EvalResult, *, name: str, split: str, run: Path) -> str:
    """Render how many queries were answered, how fast, and where the run file is."""
    speed = f" at {result.documents_per_second:.0f}/s" if result.documents_per_second else ""
    lacking = f"; {result.lacking} answers had to do without something" if result.lacking else ""
    return (
        f"{name} {split}: {result.queries} queries, p50 {result.p50_ms:.1f}, p95 {result.p95_ms:.1f} ms; "
        f"{result.documents} documents{speed}{lacking}; {run}"
    )


def evaluation_data(result: EvalResult) -> dict[str, Any]:
    """Return the measurements as a JSON object."""
    return {
        "queries": result.queries,
        "rows": result.rows,
        "documents": result.documents,
        "documents_per_second": round(result.documents_per_second, 2),
        "p50_ms": round(result.p50_ms, 3),
        "p95_ms": round(result.p95_ms, 3),
        "learned": result.learned,
        "lacking": result.lacking,
        "left_out": list(result.left_out),
        "missing": list(result.missing),
    }


def section_evaluation_text(result: SectionResult, *, name: str, split: str, run: Path) -> str:
    """Render the figures of each way to answer questions to a pack, a line each."""
    lines = [
        f"{system}: page first {one.page_hit_at_1}, R@5 {one.page_recall_at_5}; section first {one.section_hit_at_1}, "
        f"R@5 {one.section_recall_at_5}, R@10 {one.section_recall_at_10}; p50 {one.p50_ms}, p95 {one.p95_ms} ms"
        for system, one in result.systems.items()
    ]
    head = f"{name} {split}: {result.queries} queries, {result.sections} sections; {run}"
    return "\n".join([head, *lines, f"called not covered: {result.refused} %"])


def code_evaluation_text(result: CodeResult, *, name: str, split: str, run: Path) -> str:
    """Render the figures of each way to answer questions about code and documents, a line each."""
    lines = [
        f"{view}, {system}: first {one.hit_at_1}, Hit@5 {one.hit_at_5}, MRR {one.mrr}, R@10 {one.recall_at_10}; "
        f"p50 {one.p50_ms}, p95 {one.p95_ms} ms"
        for view, systems in result.figures.items()
        for system, one in systems.items()
    ]
    return "\n".join([f"{name} {split}: {result.queries} queries, {result.texts} texts; {run}", *lines])


def note_evaluation_text(result: NoteResult, *, name: str, split: str, run: Path) -> str:
    """Render the figures of each way to answer questions from notes, a line each."""
    lines = [
        f"{kind}, {system}: first {one.hit_at_1}, R@5 {one.recall_at_5}, R@10 {one.recall_at_10}; "
        f"p50 {one.p50_ms}, p95 {one.p95_ms} ms"
        for kind, systems in result.figures.items()
        for system, one in systems.items()
    ]
    return "\n".join([f"{name} {split}: {result.queries} queries, {result.notes} notes; {run}", *lines])


def trace_evaluation_text(result: TraceResult, *, name: str, split: str) -> str:
    """Render the figures of each way to search traces, a line each, and how often it is silent."""
    lines = [
        f"{system}: first {one.hit_at_1} ({one.low} to {one.high}), MRR@10 {one.mrr_at_10}, R@5 {one.recall_at_5}; "
        f"p50 {one.p50_ms}, p95 {one.p95_ms} ms"
        for system, one in result.systems.items()
    ]
    silence = f"held back {result.held_back} % of right first answers; {result.false_fits} % fit without the right one"
    return "\n".join([f"{name} {split}: {result.queries} queries", *lines, silence])


def scores_text(scores: Iterable[TrustScores]) -> str:
    """Render precision and recall with counts for each file, and the false and missed findings."""
    lines = []
    for score in scores:
        unknown = f", {score.unknown} about contents that are not known here" if score.unknown else ""
        lines.append(f"{score.file}: {score.cases} cases{unknown}")
        lines += [_score(row) for row in (*score.severities, *score.rules) if row.flagged or row.expected]
        wrong = [case for row in score.severities for case in row.wrong]
        missed = [case for row in score.severities for case in row.missed]
        lines += [f"  wrong: {clean_line(case, _LINE)}" for case in wrong[:_EXAMPLES]]
        lines += [f"  missed: {clean_line(case, _LINE)}" for case in missed[:_EXAMPLES]]
    return "\n".join(lines)


def _score(row: Score) -> str:
    precision = f"{row.precision:.2f}" if row.precision is not None else "-"
    recall = f"{row.recall:.2f}" if row.recall is not None else "-"
    counts = f"({row.right}/{row.flagged})", f"({row.found}/{row.expected})"
    return f"  {row.name:20} precision {precision} {counts[0]:10} recall {recall} {counts[1]}"


def scores_data(scores: Iterable[TrustScores]) -> list[dict[str, Any]]:
    """Return a list of the counts, a JSON object for each file."""
    return [
        {
            "file": score.file,
            "cases": score.cases,
            "unknown": score.unknown,
            "severities": [_score_data(row) for row in score.severities],
            "rules": [_score_data(row) for row in score.rules],
        }
        for score in scores
    ]


def _score_data(row: Score) -> dict[str, Any]:
    return {
        "name": row.name,
        "flagged": row.flagged,
        "right": row.right,
        "expected": row.expected,
        "found": row.found,
        "wrong": list(row.wrong),
        "missed": list(row.missed),
        "precision": row.precision,
        "recall": row.recall,
    }
