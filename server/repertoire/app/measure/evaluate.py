"""Answers the queries of a labelled set with the verbs that users call, and writes the answers to a file.

The store holds the set's components, or is a home. The scores are computed elsewhere, from the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.clock import now
from repertoire.app.kernel import Repertoire
from repertoire.app.measure.figures import open_run
from repertoire.app.measure.labelled import LabelledSet, fill, read_queries
from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.sources.patterns import renew_patterns
from repertoire.domain.answer import PARTS, REQUEST_SPACE, Query, Task
from repertoire.domain.component import REQUEST
from repertoire.domain.errors import InvalidRequest
from repertoire.retrieval.component_request import job_of
from repertoire.store.requests import Request, Selection

SEARCH, SET, PROMPT, TASK = "search", "set", "prompt", "task"
MODES = (SEARCH, SET, PROMPT, TASK)
_DEPTH = 20  # results that the run holds for each query
_LISTED = 12  # results of a search in the mode "task", beside a set and a hint
_BATCH = 512  # past requests that are embedded at once
_NOBODYS = "/nowhere"  # a project that does not exist, so that no mute or manifest of the current one counts
_FAINT = 0.005  # log-odds below which a part of a score is left out

Report = Callable[[str], None]
Found = list[tuple[str, float]]


@dataclass(frozen=True)
class EvalOptions:
    """The options of an evaluation; `learn` is empty, a split, or `split:N`; `cache` keeps vectors between runs.

    `at_home`: search the components of the home, which is not changed, in place of the set's components.
    """

    set_dir: Path
    run: Path
    split: str = "dev"
    mode: str = SEARCH
    learn: str = ""
    without: frozenset[str] = frozenset()
    scope_repo: bool = False
    cache: Path | None = None
    at_home: bool = False


@dataclass(frozen=True)
class EvalResult:
    """The figures of an evaluation beside its run file; `lacking` counts the degraded answers."""

    queries: int
    rows: int
    documents: int
    documents_per_second: float
    p50_ms: float
    p95_ms: float
    learned: int = 0
    lacking: int = 0
    left_out: tuple[str, ...] = ()  # ids of queries whose labelled answers this home lacks
    missing: tuple[str, ...] = ()  # differences from a user's home


def evaluate(options: EvalOptions, opened: Repertoire, *, report: Report) -> EvalResult:
    """Answer the queries of a split and write the run; without `at_home`, ingest the set's components first.

    Raises:
        InvalidRequest: an option names an unknown set, split, part or mode.
    """
    _check(options)
    labelled, queries = read_queries(options.set_dir, options.split, needs_corpus=not options.at_home)
    start = perf_counter()
    missing = () if options.at_home else fill(opened.store, labelled, opened.embedder, cache=options.cache, tell=report)
    seconds = perf_counter() - start
    learned = _learn(options, labelled, opened)
    documents = len(opened.store.graph.summaries())
    report(f"{documents} documents in {seconds:.1f} s, {learned} requests learned, {len(queries)} queries")
    for line in missing:
        report(f"differs from a user's home: {line}")
    names = _Names.of(labelled, opened) if options.at_home else _Names({})
    asked = [query for query in queries if names.answerable(labelled.gold.get(query["id"], ()))]
    if len(asked) < len(queries):
        report(f"{len(queries) - len(asked)} queries are left out: this home lacks their labelled answers")
    rows, times, lacking = _run(options, VerbCaller(opened, options.without), asked, names)
    return EvalResult(
        queries=len(asked),
        rows=rows,
        documents=documents,
        documents_per_second=0.0 if options.at_home else documents / max(seconds, 1e-9),
        p50_ms=float(np.percentile(times, 50)),
        p95_ms=float(np.percentile(times, 95)),
        learned=learned,
        lacking=lacking,
        left_out=tuple(query["id"] for query in queries if query not in asked),
        missing=missing,
    )


def _check(options: EvalOptions) -> None:
    unknown = sorted(options.without - set(PARTS))
    if unknown:
        message = f"no such part: {', '.join(unknown)}; the parts are {', '.join(PARTS)}"
        raise InvalidRequest(message)
    if options.mode not in MODES:
        message = f"cannot answer as {options.mode!r}; choose {', '.join(MODES)}"
        raise InvalidRequest(message)
    if options.at_home and options.learn:
        message = "learning would change your own home; leave out --learn, or --home-store"
        raise InvalidRequest(message)


@dataclass(frozen=True)
class _Names:
    """Maps a home's component ids to the labelled set's ids, which may lack a prefix."""

    own: Mapping[str, str]  # the set's id by the home's id; empty for an evaluation over the set's components
    known: frozenset[str] = frozenset()

    @classmethod
    def of(cls, labelled: LabelledSet, opened: Repertoire) -> _Names:
        labels = {_plain(one): one for found in labelled.gold.values() for one in found}
        ids = [summary.id for summary in opened.store.graph.summaries()]
        own = {one: labels.get(_plain(one), one) for one in ids}
        return cls(own, frozenset(own.values()))

    def answerable(self, gold: Sequence[str]) -> bool:
        return not gold or not self.own or bool(self.known.intersection(gold))

    def told(self, found: Found) -> Found:
        return [(self.own.get(key, key), score) for key, score in found]


def _plain(key: str) -> str:
    return key.removeprefix("git:").removeprefix("https://").removeprefix("github.com/")


def _learn(options: EvalOptions, labelled: LabelledSet, opened: Repertoire) -> int:
    if not options.learn:
        return 0
    split, _, number = options.learn.partition(":")
    if number and not number.isdigit():
        message = f"--learn {options.learn!r}: give a split, or split:N with a whole number"
        raise InvalidRequest(message)
    past = labelled.split(split)[: int(number) if number else None]
    requests = [
        Request(
            f"{REQUEST}:{query['id']}",
            query["text"],
            selected=tuple(Selection(document) for document in labelled.gold.get(query["id"], ())),
        )
        for query in past
    ]
    store, embedder = opened.store, opened.embedder
    ids = store.requests.record_many(requests, now=now())
    if embedder is not None and past:
        for start in range(0, len(past), _BATCH):
            batch = slice(start, start + _BATCH)
            vectors = embedder.embed_queries([job_of(query["text"]) for query in past[batch]])
            store.vectors.put(REQUEST_SPACE, embedder.query_encoder, [(node_id, "") for node_id in ids[batch]], vectors)
    renew_patterns(store)
    return len(past)


@dataclass
class VerbCaller:
    """Calls the verbs as users do, and counts the degraded answers."""

    opened: Repertoire
    without: frozenset[str]
    lacking: int = 0

    def search(
        self, text: str, repository: str, *, project: str = "", limit: int = _DEPTH
    ) -> tuple[Found, list[Mapping[str, float]]]:
        """Return the results of a search, and the parts of each result's score."""
        query = Query(text, repository=repository, project=project, without=self.without, limit=limit)
        answer = search(self.opened.pipeline, query, muted=self.opened.unfit_for_sets(project or _NOBODYS))
        self.lacking += bool(answer.degraded)
        return [(hit.component.id, hit.score) for hit in answer.hits], [hit.parts for hit in answer.hits]

    def recommend(self, text: str, repository: str, project: str = "") -> tuple[Found, float, list[str]]:
        """Return a recommended set, its confidence, and each member's role."""
        task = Task(text, repository=repository, project=project, without=self.without)
        answer = recommend(self.opened.pipeline, task, muted=self.opened.unfit_for_sets(project or _NOBODYS))
        self.lacking += bool(answer.degraded)
        found = [(item.hit.component.id, item.hit.score) for item in answer.items]
        return found, answer.confidence, [item.role for item in answer.items]

    def task(self, text: str, repository: str = "", project: str = "") -> dict[str, Any]:
        """Return all answers to a task, in the folder of a project: a set with its confidence, a search, and a hint."""
        chosen, sure, roles = self.recommend(text, repository, project)
        listed, parts = self.search(text, repository, project=project, limit=_LISTED)
        return {
            "task": text,
            "set": [key for key, _ in chosen],
            "search": [key for key, _ in listed],
            "confidence": round(sure, 4),
            "hint": [key for key, _ in self.offer(text, project)],
            "parts": [{name: round(odds, 2) for name, odds in one.items() if abs(odds) > _FAINT} for one in parts[:3]],
            "roles": roles,
        }

    def offer(self, text: str, project: str = "") -> Found:
        """Return the components that a hint on a prompt names."""
        limits = HintLimits(
            muted=self.opened.unfit_for_hints(project or _NOBODYS), without=self.without, project=project
        )
        return [(hit.component.id, hit.score) for hit in offer(self.opened.pipeline, text, limits).hits]


def _run(
    options: EvalOptions, caller: VerbCaller, queries: Sequence[Mapping[str, Any]], names: _Names
) -> tuple[int, list[float], int]:
    written, times = 0, [0.0]
    if queries:
        # The first answer builds the snapshot; without it the times are those of a running server.
        list(_run_lines(options, caller, queries[0], names))
        caller.lacking, times = 0, []
    with open_run(options.run) as file:
        for query in queries:
            start = perf_counter()
            lines = list(_run_lines(options, caller, query, names))
            times.append(1000.0 * (perf_counter() - start))
            file.writelines(f"{line}\n" for line in lines)
            written += len(lines)
    return written, times, caller.lacking


def _run_lines(options: EvalOptions, caller: VerbCaller, query: Mapping[str, Any], names: _Names) -> Iterator[str]:
    """Yield the lines of the run for one query."""
    text, repository = query["text"], query.get("repo", "") if options.scope_repo else ""
    if options.mode == TASK:
        project = str(options.set_dir / query["project"]) if query.get("project") else ""
        yield json.dumps(caller.task(text, repository, project))
        return
    if options.mode == SET:
        found = caller.recommend(text, repository)[0]
    elif options.mode == PROMPT:
        found = caller.offer(text)
    else:
        found = caller.search(text, repository)[0]
    for rank, (document, score) in enumerate(names.told(found), 1):
        yield f"{query['id']}\t{document}\t{rank}\t{score:.6f}"
