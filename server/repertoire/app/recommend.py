"""Answers "what should I use for this task?": the smallest set that fits, why, and how to install it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.domain.answer import Hit, Item, Query, Recommendation, Task
from repertoire.domain.component import DEPENDS_ON, PROVIDES, Component
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.text import content_words
from repertoire.retrieval.assemble import Candidate, Chosen, Limits, assemble
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import RECOMMEND
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.snapshot import Rows

_CONSIDERED = 30  # ranked candidates that may enter a set
_NEAR = 5
_CHARACTERS_A_TOKEN = 4  # of English prose and Markdown
_LISTED = 1536  # characters of a description that Claude Code puts into its listing
_TELLING = 40  # characters from which equal descriptions are no coincidence


@dataclass(frozen=True)
class _Pool:
    """The ranked hits and, by id, everything that they may need."""

    ranked: tuple[Hit, ...]
    needed: dict[str, Hit]
    candidates: dict[str, Candidate]


def recommend(pipeline: Pipeline, task: Task, *, muted: frozenset[str] = frozenset()) -> Recommendation:
    """Recommend the few components that serve a task, with what they need; `muted` ids and sources never are.

    Raises:
        InvalidRequest: the task is empty, or the limits leave no room for anything.
    """
    _check(task)
    ranking = pipeline.rank(_query(task), intent=RECOMMEND, muted=muted)
    pool = _pool(pipeline, ranking, muted)
    near = pool.ranked[:_NEAR]
    if not ranking.fits:
        return Recommendation((), near, confidence=ranking.confidence, report=ranking.report, degraded=ranking.degraded)
    allowed = [hit.component.id for hit in pool.ranked if hit.component.id in pool.candidates]
    assembly = assemble(
        [pool.candidates[key] for key in allowed],
        [candidate for key, candidate in pool.candidates.items() if key in pool.needed],
        Limits(budget=task.budget, size=task.limit),
    )
    items = tuple(_item(chosen, pool) for chosen in assembly.chosen)
    covered = {name for item in items for name in pool.candidates[item.hit.component.id].capabilities}
    return Recommendation(
        items=items,
        near=_runners_up(pool.ranked, items),
        gaps=tuple(name for name in ranking.plan.capabilities if name not in covered),
        install=_install(items),
        warnings=tuple(
            f"{_name(pool, key)} exceeds the budget of {task.budget} tokens" for key in assembly.too_large[:3]
        ),
        confidence=ranking.confidence,
        report=ranking.report,
        degraded=ranking.degraded,
    )


def tokens_of(component: Component) -> int:
    """Estimate what having a component costs every request: its name and description stand in the client's listing."""
    listed = len(component.name) + min(len(component.description), _LISTED)
    return max(1, listed // _CHARACTERS_A_TOKEN)


def _twins(component: Component) -> frozenset[str]:
    """Return what a component shares with those that do the same: type and name, or the very description."""
    described = " ".join(component.description.lower().split())
    same_words = {f"{component.type}={described}"} if len(described) >= _TELLING else set()
    return frozenset({f"{component.type} {component.name.lower()}", *same_words})


def _check(task: Task) -> None:
    if not task.text.strip():
        message = "the task is empty; say what is to be done"
        raise InvalidRequest(message)
    if task.limit < 1 or task.budget < 1:
        message = f"limit {task.limit} and budget {task.budget} leave room for nothing; use 1 or more of both"
        raise InvalidRequest(message)


def _query(task: Task) -> Query:
    return Query(
        task.text,
        types=task.types,
        using=task.using,
        installed=task.installed,
        repository=task.repository,
        project=task.project,
        without=task.without,
    )


def _pool(pipeline: Pipeline, ranking: Ranking, muted: frozenset[str]) -> _Pool:
    head = ranking.rows[:_CONSIDERED]
    needed_rows = _needed(ranking, head)
    hits = {hit.component.id: hit for hit in pipeline.hits(ranking, np.concatenate([head, needed_rows]))}
    ids = [ranking.snapshot.summaries[row].id for row in head.tolist()]
    needed = {
        summary.id: hits[summary.id]
        for row in needed_rows.tolist()
        if (summary := ranking.snapshot.summaries[row]).id in hits
    }
    candidates = {
        key: _candidate(ranking, int(row), hits[key])
        for row in [*head.tolist(), *needed_rows.tolist()]
        if (key := ranking.snapshot.summaries[row].id) in hits
    }
    silenced = {key for key, hit in needed.items() if muted & {key, hit.component.repository}}
    usable = {key: c for key, c in candidates.items() if key not in silenced and not silenced.intersection(c.needs)}
    return _Pool(tuple(hits[key] for key in ids if key in hits), needed, usable)


def _needed(ranking: Ranking, head: Rows) -> Rows:
    """Return the rows of components that the head depends on, directly or through others, without the head."""
    snapshot = ranking.snapshot
    edges = snapshot.edges(DEPENDS_ON)
    waiting = snapshot.positions[head].tolist()
    seen = set(waiting)
    found = []
    while waiting:
        for end in edges.get(waiting.pop(), ()):
            if end not in seen and snapshot.row_at[end] >= 0:
                seen.add(end)
                waiting.append(end)
                found.append(int(snapshot.row_at[end]))
    return np.array(sorted(found), dtype=np.int64)


def _candidate(ranking: Ranking, row: int, hit: Hit) -> Candidate:
    snapshot, component = ranking.snapshot, hit.component
    summary, position = snapshot.summaries[row], int(snapshot.positions[row])
    provided = {snapshot.topology.names[end] for end in snapshot.edges(PROVIDES).get(position, ())}
    needs = tuple(
        snapshot.topology.keys[end]
        for end in snapshot.edges(DEPENDS_ON).get(position, ())
        if snapshot.row_at[end] >= 0 and end != position
    )
    words = set(content_words(f"{component.name} {component.description}"))
    return Candidate(
        key=component.id,
        name=component.name,
        score=hit.score,
        tokens=tokens_of(component),
        twins=_twins(component),
        installed=summary.installed,
        covers=frozenset(words.intersection(ranking.plan.words)),
        capabilities=frozenset(provided.intersection(ranking.plan.capabilities)),
        needs=needs,
    )


def _item(chosen: Chosen, pool: _Pool) -> Item:
    hit = pool.needed.get(chosen.key) or next(hit for hit in pool.ranked if hit.component.id == chosen.key)
    return Item(hit, chosen.role, pool.candidates[chosen.key].tokens)


def _runners_up(ranked: Sequence[Hit], items: Sequence[Item]) -> tuple[Hit, ...]:
    """Return the best that are not in the set and do the same as nothing in it, or before them."""
    seen = {twin for item in items for twin in _twins(item.hit.component)}
    found = []
    for hit in ranked:
        twins = _twins(hit.component)
        if not seen & twins:
            found.append(hit)
        seen |= twins
    return tuple(found[:_NEAR])


def _install(items: Sequence[Item]) -> tuple[str, ...]:
    lines = (line for item in items if not item.hit.component.installed for line in item.hit.component.install)
    return tuple(dict.fromkeys(lines))


def _name(pool: _Pool, key: str) -> str:
    return pool.candidates[key].name
