"""Saves a labelled set's rows as notes, and answers its queries beside FTS5, vectors and both fused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from repertoire.app.clock import now
from repertoire.app.measure.figures import median_and_tail, open_run, percent
from repertoire.app.measure.labelled import CachedEmbedder, read_queries
from repertoire.app.measure.plain_fusion import plain_systems
from repertoire.app.measure.temporary_project import temporary_project
from repertoire.app.projects.entries import new_entry
from repertoire.app.projects.entry_requests import SaveRequest
from repertoire.app.projects.entry_writing import put_entry
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.project import KNOWLEDGE, NOTE, RELATES_TO, EntryLink
from repertoire.ports import Embedder, model_of
from repertoire.retrieval.sections import SectionRun, rank_sections
from repertoire.store.project_file import ProjectStore

_DEEP, _DEPTH = 200, 100  # results that are ranked, and that the run holds


@dataclass(frozen=True)
class NoteOptions:
    """What is measured: a set whose rows and queries name a project each (`repo`)."""

    set_dir: Path
    run: Path
    split: str = "dev"
    cache: Path | None = None


@dataclass(frozen=True)
class NoteFigures:
    """Shares in percent for one way to answer; recall is the share of a question's right notes."""

    hit_at_1: float
    recall_at_5: float
    recall_at_10: float
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True)
class NoteResult:
    """What was measured, by the kind of question and the way to answer; `answerable`: those that the notes answer."""

    queries: int
    notes: int
    figures: Mapping[str, Mapping[str, NoteFigures]]


_Row = tuple[Sequence[bool], int, float]  # which results are right, how many right ones there are, milliseconds


def evaluate_notes(
    options: NoteOptions,
    opening: Callable[[Path], ProjectStore],
    embedder: Embedder | None,
    *,
    report: Callable[[str], None],
) -> NoteResult:
    """Save each project's rows as notes, answer its queries of a split, and write the run of the search.

    Raises:
        InvalidRequest: the folder holds no labelled set, or the set has no such split.
    """
    labelled, asked_of_all = read_queries(options.set_dir, options.split)
    queries, rows = _by_project(asked_of_all), _by_project(labelled.corpus)
    kept = CachedEmbedder(embedder, options.cache) if embedder is not None else None
    found = defaultdict[str, dict[str, list[_Row]]](lambda: defaultdict(list))
    notes = 0
    with open_run(options.run) as run:
        for project, asked in queries.items():
            with temporary_project(opening) as memory:
                named = _save(memory, rows[project], kept)
                notes += len(named)
                report(f"{project}: {len(named)} notes, {len(asked)} queries")
                for query in asked:
                    right = {*labelled.gold[query["id"]]}
                    for name, keys, ms in _answers(memory, str(query["text"]), kept):
                        ids = [named[key] for key in keys]
                        for kind in _kinds(query):
                            found[kind][name].append(([one in right for one in ids], len(right), ms))
                        if name == "search":
                            run.writelines(_run_lines(str(query["id"]), ids))
            if kept is not None:
                kept.save()
    figures = {kind: {name: _figures(many) for name, many in of.items()} for kind, of in found.items()}
    return NoteResult(len(asked_of_all), notes, figures)


def _by_project(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found = defaultdict[str, list[Mapping[str, Any]]](list)
    for row in rows:
        found[str(row.get("repo", ""))].append(row)
    return found


def _run_lines(query: str, ids: Sequence[str]) -> Iterator[str]:
    return (f"{query}\t{one}\t{rank}\t{1 / rank:.6f}\n" for rank, one in enumerate(ids[:_DEPTH], 1))


def _save(project: OpenProject, rows: Sequence[Mapping[str, Any]], embedder: Embedder | None) -> dict[str, str]:
    """Save rows as notes, each of a session related to the one before; return the row of each note by the note's id."""
    named, before, links = dict[str, str](), dict[str, str](), list[EntryLink]()
    with project.store.transaction():
        for row in rows:
            name, text = str(row.get("name", row["id"])), str(row["text"])
            note = new_entry(SaveRequest(NOTE, title=text if name == row["id"] else name, body=text))
            put_entry(project, note, embedder)
            named[note.key] = str(row["id"])
            session = str(row.get("session", ""))
            if before.get(session, note.key) != note.key:
                links.append(EntryLink(note.key, RELATES_TO, before[session]))
            if session:
                before[session] = note.key
        project.store.entries.link(links, now=now())
    return named


def _answers(project: OpenProject, question: str, embedder: Embedder | None) -> Iterator[tuple[str, list[str], float]]:
    """Yield the notes that the search and each plain baseline find, best first, and the milliseconds of each."""
    index = project.index(KNOWLEDGE, model_of(embedder))

    def ranked(weights: Mapping[str, float]) -> list[int]:
        run = SectionRun(question, project.store.graph, index, embedder, weights=weights)
        return [one.node_id for one in rank_sections(run, limit=_DEEP)]

    def keys(node_ids: Sequence[int]) -> list[str]:
        entries = project.store.entries.by_node(node_ids)
        return [entries[one].key for one in node_ids if one in entries]

    started = perf_counter()
    found = search_memory(project, MemoryQuery(question, (NOTE,), limit=_DEPTH), embedder=embedder)
    yield "search", [hit.item.key for hit in found.hits], 1000 * (perf_counter() - started)
    for name, ask in plain_systems(ranked, vectors=embedder is not None).items():
        started = perf_counter()
        yield name, keys(ask()), 1000 * (perf_counter() - started)


def _kinds(query: Mapping[str, Any]) -> list[str]:
    kinds = ["all", *(["answerable"] if query.get("answerable", True) else [])]
    return [*kinds, *([str(query["kind"])] if query.get("kind") else [])]


def _figures(rows: Sequence[_Row]) -> NoteFigures:
    return NoteFigures(
        percent(float(any(hits[:1])) for hits, _, _ in rows),
        percent(sum(hits[:5]) / right for hits, right, _ in rows if right),
        percent(sum(hits[:10]) / right for hits, right, _ in rows if right),
        *median_and_tail([ms for _, _, ms in rows]),
    )
