"""Searches a project's memory: code, documents and what was noted, by words and by meaning."""

from __future__ import annotations

from dataclasses import dataclass, replace

from repertoire.app.projects.checked import flagged_in
from repertoire.app.projects.knowledge import hints_in, meaning, ranked_entries
from repertoire.app.projects.places import path_in
from repertoire.app.projects.reasons import reasons
from repertoire.app.projects.said import told
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import CODE, DOCS, ENTRIES, FILE, FILES, KNOWLEDGE, Item
from repertoire.domain.project_questions import HYBRID, KEYWORD, VECTOR
from repertoire.ports import Among, Embedder, Rows, Vectors, model_of
from repertoire.projects.freshness import trust
from repertoire.projects.hints import Hints
from repertoire.retrieval.project import BESIDE, PASSAGE, SECOND_CHUNK, WEIGHTS
from repertoire.retrieval.sections import WORDS, SectionRun, rank_sections
from repertoire.retrieval.translation import words_asked
from repertoire.store.project_entries import item_of

_WITHOUT = {HYBRID: frozenset[str](), VECTOR: frozenset(("text",)), KEYWORD: frozenset(("vectors",))}
_A_SOURCE = 20  # results of code, of documents and of what was saved, where all are searched
_QUESTION = 2_000  # characters of a question that are read
_MORE = 5  # times as many are ranked where one kind is asked for: what proved right may lie deeper
_FILE_FIELDS = (2.0, 1.0, 1.0)
_SAID = 2  # of what an entry says, that is shown with it


@dataclass(frozen=True)
class MemoryQuery:
    """A question to a project's memory; without kinds, everything but plain files is searched."""

    query: str
    kinds: tuple[str, ...] = ()
    mode: str = HYBRID
    limit: int = 8
    below: str = ""  # a folder or file
    language: str = ""


@dataclass(frozen=True)
class MemoryHit:
    """Something that may answer a question."""

    item: Item
    score: float
    why: str = ""  # by what it was found: words, meaning, name, links; empty where nothing was asked


@dataclass(frozen=True)
class MemoryAnswer:
    """What a search found, best first; `degraded` says what was missing, and what of it the checks flag."""

    hits: tuple[MemoryHit, ...]
    degraded: tuple[str, ...] = ()


def search_memory(project: OpenProject, wanted: MemoryQuery, *, embedder: Embedder | None) -> MemoryAnswer:
    """Return what answers a question best; the scores of all kinds are brought to one scale.

    Without a question it returns what was saved or changed last; for one that names nothing but a time, that of the
    time.

    Raises:
        InvalidRequest: nothing is asked, of code, documents or files; or of a folder outside of the project.
    """
    wanted = replace(wanted, below=path_in(project.root, wanted.below))
    hints = hints_in(wanted.query[:_QUESTION])
    of_a_time = hints.all_of_it and not {CODE, DOCS, FILE} & {*wanted.kinds}
    if not wanted.query.strip() or of_a_time:
        recent = _recent(project, wanted, hints)
        if recent or not of_a_time:
            return MemoryAnswer(tuple(recent), flagged_in(hit.item for hit in recent))
    embedded: dict[str, Vectors] = {}
    hits = [hit for view in _views(wanted) for hit in _in_view(project, wanted, view, embedder, embedded)]
    if FILE in wanted.kinds:
        hits.extend(_files(project, wanted))
    hits.sort(key=lambda hit: (-hit.score, hit.item.key))
    best = tuple(_with_what_it_says(project, hit) for hit in hits[: wanted.limit])
    suspicious, rest = flagged_in(hit.item for hit in best), project.store.unread_rest()
    return MemoryAnswer(best, (*_degraded(project, wanted, embedder), *([rest] if rest else []), *suspicious))


def _with_what_it_says(project: OpenProject, hit: MemoryHit) -> MemoryHit:
    """Return an entry that was found with what its sentences say of two things."""
    said = told(project.store.said.by(hit.item.key)) if hit.item.kind in ENTRIES else ()
    if not said:
        return hit
    return replace(
        hit, item=replace(hit.item, doc=", ".join([hit.item.doc, *(f"says: {one}" for one in said[:_SAID])]))
    )


def _recent(project: OpenProject, wanted: MemoryQuery, hints: Hints) -> list[MemoryHit]:
    kinds = [kind for kind in ENTRIES if not wanted.kinds or kind in wanted.kinds]
    if not kinds:
        message = "nothing is asked; send words, a name, or a question"
        raise InvalidRequest(message)
    asked = (
        one
        for one in project.store.entries.all(kinds)
        if hints.covers(one) and hints.category in ("", one.data.get("category"))
    )
    newest = sorted(asked, key=lambda one: (one.changed, one.key), reverse=True)
    return [MemoryHit(item_of(entry), 0.0) for entry in newest[: wanted.limit]]


def _views(wanted: MemoryQuery) -> list[str]:
    if not wanted.kinds:  # what was saved lies in no folder, and is of no language
        return [CODE, DOCS] if wanted.below or wanted.language else [CODE, DOCS, KNOWLEDGE]
    views = [view for view in (CODE, DOCS) if view in wanted.kinds]
    return [*views, KNOWLEDGE] if {*wanted.kinds} & {*ENTRIES} else views


def _in_view(
    project: OpenProject, wanted: MemoryQuery, view: str, embedder: Embedder | None, embedded: dict[str, Vectors]
) -> list[MemoryHit]:
    index = project.index(view, model_of(embedder))
    beside = _beside(view, "" if embedder is None else wanted.mode)
    question = wanted.query[:_QUESTION]
    narrowed = bool(wanted.below or wanted.language)
    run = SectionRun(
        question,
        project.store.graph,
        index,
        embedder,
        weights=WEIGHTS[view],
        without=_WITHOUT[wanted.mode],
        second_chunk=SECOND_CHUNK[view],
        embedded=embedded,
        meaning=meaning(project, question, len(index)) if view == KNOWLEDGE else "",
        only=_asked_of(project, wanted, view) if narrowed and view != KNOWLEDGE else None,
    )
    depth = wanted.limit * _MORE if narrowed or wanted.kinds else min(wanted.limit, _A_SOURCE)
    if view == KNOWLEDGE:
        kinds = [kind for kind in ENTRIES if not wanted.kinds or kind in wanted.kinds]
        told = ranked_entries(project, run, kinds)
        shown = [
            (project.store.items.node_id(item.key) or 0, item, score)
            for item, score in (told[: wanted.limit] if wanted.kinds else told[:_A_SOURCE])
        ]
        why = reasons(run, [node for node, _, _ in shown])
        return [MemoryHit(item, beside * score, why[node]) for node, item, score in shown]
    ranked = rank_sections(run, limit=depth)
    nodes = [one.node_id for one in ranked]
    items, proved = project.store.items.by_id(nodes), project.store.credits.of(nodes)
    why = reasons(run, nodes)
    return [
        MemoryHit(
            items[one.node_id],
            beside * one.score * trust(1.0 + proved.get(one.node_id, 0.0)),
            why[one.node_id],
        )
        for one in ranked
        if one.node_id in items
    ]


def _beside(view: str, mode: str) -> float:
    """Return what a view's scores are multiplied with to stand beside those of other views."""
    weights = WEIGHTS[view]
    if mode == HYBRID:
        return BESIDE[view]
    return 1.0 if mode == VECTOR else 1.0 / (weights[WORDS] + weights.get(PASSAGE, 0.0))


def _asked_of(project: OpenProject, wanted: MemoryQuery, view: str) -> Rows:
    """Return the nodes that are asked: of a large project, a folder's best are not among the best of all."""
    return project.store.items.within(view, below=wanted.below, language=wanted.language)


def _files(project: OpenProject, wanted: MemoryQuery) -> list[MemoryHit]:
    """Return the files whose path holds the words of a question."""
    words = words_asked(wanted.query[:_QUESTION])
    among = Among(node_ids=_asked_of(project, wanted, FILES).tolist()) if wanted.below or wanted.language else None
    found = project.store.graph.match(words, limit=wanted.limit, weights=_FILE_FIELDS, among=among, view=FILES)
    items = project.store.items.by_id(node_id for node_id, _ in found)
    best = found[0][1] if found else 1.0
    return [MemoryHit(items[node_id], score / (best or 1.0), "name") for node_id, score in found if node_id in items]


def _degraded(project: OpenProject, wanted: MemoryQuery, embedder: Embedder | None) -> tuple[str, ...]:
    if wanted.mode == KEYWORD:
        return ()
    if embedder is None:
        return ("no model: found by words alone",)
    if not project.store.indexed_at():
        return ("the project was not read yet: `repertoire project index` reads it",)
    missing, total = project.missing_vectors(embedder.model)
    if missing:
        return (
            f"{missing:,} of {total:,} texts are found by words alone until `repertoire project index` embeds them",
        )
    return ()
