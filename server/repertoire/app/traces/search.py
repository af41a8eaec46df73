"""Searches traces by error signature, words and vectors of problem and solution, and ranks them with trust and age."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np

from repertoire.app.clock import today
from repertoire.app.traces.fields import keys_of, tags_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.graph import TRACES
from repertoire.domain.text import content_words
from repertoire.domain.trace import ACTIVE, EXPIRED, SUPERSEDED, Trace, Trust
from repertoire.ports import Among, Embedder, Rows, TraceReader, TraceSpace, TraceStore, Vectors
from repertoire.retrieval.arrays import places_among
from repertoire.retrieval.translation import forms_asked, words_asked
from repertoire.traces.ageing import expired, recency, validity
from repertoire.traces.environment import Alignment, align
from repertoire.traces.frames import is_frame
from repertoire.traces.ranking import (
    BESIDE,
    FITS,
    WORDS_OF_ERROR,
    WORDS_OF_QUESTION,
    Evidence,
    confidence,
    contradict,
    fuse,
    rarest_words,
    rarity,
    score_factor,
    without_twins,
)
from repertoire.traces.signature import Signature, signatures_in

_DEEP = 200  # candidates of each list
_POSTINGS, _POSTINGS_OF_ERROR = 5_000, 3_000  # rows that a search by words may find, of the rarest words
_LATELY = 64  # traces without vectors that a search embeds itself; a refresh does more
_LOOKED_AT = 20  # of the best, of which trust and the like are read
_WORDS, _TOLD = 128, 24  # words that are searched for; of these, words that are counted one by one
_READ = 4_000  # characters of an error
_EMBEDDED, _EMBEDDED_ERROR = 400, 240  # characters of a question and of an error: more takes longer and finds no more
_FIELDS = (1.0, 1.0, 1.0)  # weights of title, problem and solution: words are counted over all of a trace
_SAME = {"exact": 1.0, "key": 0.5, "coarse": 0.25}  # what an error's key weighs, shared out among those that show it


@dataclass(frozen=True)
class TraceQuery:
    """A search for traces: question, printed error, tags, environment."""

    query: str
    error: str = ""
    tags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    limit: int = 5
    include_expired: bool = False
    without: frozenset[str] = frozenset()  # parts that are left out: words, vectors, signatures


@dataclass(frozen=True)
class TraceHit:
    """A trace in an answer, with its score, evidence and trust."""

    trace: Trace
    score: float
    evidence: Evidence
    trust: Trust
    alignment: Alignment
    words: tuple[str, ...] = ()  # of the question, that it holds
    error: str = ""  # the error that both show
    alike: bool = False  # the error is only like it: about other names or files
    nameless: bool = False  # nothing but its names tells the error from others
    twins: tuple[str, ...] = ()  # keys of traces that say the same
    alternative: bool = False  # it solves the first one's error in another way
    contradicted_by: tuple[str, ...] = ()  # keys of traces where the same was tried, with the opposite outcome
    overdue: bool = False
    muted: bool = False
    superseded_by: str = ""  # key of its newest version, where the search found that too


@dataclass(frozen=True)
class TraceAnswer:
    """The answer of a search: traces, best first, and whether the first one probably answers the question."""

    hits: tuple[TraceHit, ...]
    fits: bool
    confidence: float
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Question:
    words: tuple[str, ...]
    errors: tuple[Signature, ...]
    day: date
    exception: str  # or code, of the error that was printed; a sentence that speaks of one tells too little

    def has_exception_of(self, trace: Trace) -> bool:
        """Tell whether a trace shows the exception that was printed, with whatever message."""
        return bool(self.exception) and any(said.startswith(f"{self.exception} ") for said in trace.signatures.values())


def search_traces(
    kept: TraceReader,
    wanted: TraceQuery,
    *,
    embedder: Embedder | None = None,
    muted: frozenset[str] = frozenset(),
    day: date | None = None,
) -> TraceAnswer:
    """Return the traces that may solve a problem, best first; if none fits, the answer says so and holds the nearest.

    Trust and age are as of `day`, which is today where none is given.

    Raises:
        InvalidRequest: nothing is asked.
    """
    if not (wanted.query.strip() or wanted.error.strip()):
        message = "nothing is asked; say what goes wrong, or send what the failing command printed as the error"
        raise InvalidRequest(message)
    with ThreadPoolExecutor(1, thread_name_prefix="embed") as beside:  # the model needs no interpreter: half the time
        vectors = beside.submit(_vectors, wanted, embedder)
        question = _question(wanted, day or today())
        allowed = _allowed(kept, wanted)
        words = _by_words(kept, wanted, question, allowed)
        same = {} if "signatures" in wanted.without else _same_error(kept.store, question, allowed)
        spaces, unread = _by_meaning(kept, vectors, allowed, embedder)
    words_weight = WORDS_OF_QUESTION if wanted.query.strip() else WORDS_OF_ERROR
    fused = fuse(words, spaces, {node_id: one.weight for node_id, one in same.items()}, words_weight)
    best = sorted(fused, key=lambda node_id: (-fused[node_id], node_id))[:_LOOKED_AT]
    likeness = {node_id: max(space.get(node_id, 0.0) for space in spaces) for node_id in best} if spaces else {}
    hits = _judged(kept, wanted, question, {node_id: fused[node_id] for node_id in best}, likeness, same)
    hits = [replace(hit, muted=hit.trace.key in muted) for hit in hits]
    sure = confidence_in(hits)
    return TraceAnswer(tuple(hits[: wanted.limit]), sure >= FITS, sure, unread)


def worth_telling(found: TraceAnswer) -> TraceAnswer:
    """Return an answer that fits without the traces that plainly solve something else; another one as it is."""
    if not found.fits:
        return found
    beside = (hit for hit in found.hits[1:] if hit.error or confidence(hit.evidence, 0.0) >= BESIDE)
    return replace(found, hits=(found.hits[0], *beside))


def confidence_in(hits: Sequence[TraceHit]) -> float:
    """Return the probability that the first of some hits answers the question; 0 without hits."""
    if not hits:
        return 0.0
    next_score = next((hit.score for hit in hits[1:] if hit.trace.status != SUPERSEDED), 0.0)
    return confidence(hits[0].evidence, hits[0].score - next_score)


def _question(wanted: TraceQuery, day: date) -> _Question:
    text = "\n".join(part for part in (wanted.query.strip(), wanted.error.strip()[-_READ:]) if part)
    errors = signatures_in(text)
    first = [word for error in errors[:2] for word in content_words(" ".join(error.words))]
    printed = errors and wanted.error.strip() and "signatures" not in wanted.without
    words = tuple(dict.fromkeys((*first, *words_asked(text))))[:_WORDS]
    return _Question(words, errors, day, errors[0].exception if printed else "")


def _vectors(wanted: TraceQuery, embedder: Embedder | None) -> Vectors | None:
    if embedder is None or "vectors" in wanted.without:
        return None
    vectors: Vectors = embedder.embed_passages(_embedded(wanted, embedder.model))
    return vectors


def _embedded(wanted: TraceQuery, model: str) -> list[str]:
    """Return the texts whose vectors are compared: the question, and the beginning of the error without its stack.

    A question in another language is compared in English, and as it is written, as older vectors were made.
    """
    told: list[str] = []
    for line in wanted.error.strip()[-_READ:].splitlines():
        if sum(map(len, told)) >= _EMBEDDED_ERROR:
            break
        if not is_frame(line):
            told.append(line)
    error = "\n".join(told) or wanted.error.strip()
    asked = wanted.query.strip()[:_EMBEDDED]
    return [f"{form}\n{error[:_EMBEDDED_ERROR]}".strip() for form in forms_asked(asked, model)]


def _allowed(kept: TraceReader, wanted: TraceQuery) -> Rows:
    if not wanted.tags:
        return kept.ids(active=not wanted.include_expired)
    statuses = (ACTIVE, EXPIRED, SUPERSEDED) if wanted.include_expired else (ACTIVE,)
    return np.array(kept.store.traces.among(statuses, tags_of(wanted.tags)), dtype=np.int64)


def _by_words(kept: TraceReader, wanted: TraceQuery, question: _Question, allowed: Rows) -> dict[int, float]:
    if "words" in wanted.without:
        return {}
    among = Among(node_ids=allowed.tolist()) if wanted.tags else None
    words = rarest_words(kept.frequencies(question.words), _POSTINGS if wanted.query.strip() else _POSTINGS_OF_ERROR)
    rows = kept.store.graph.match(words, limit=_DEEP, weights=_FIELDS, among=among, view=TRACES)
    kept_ids = _among([node_id for node_id, _ in rows], allowed)
    return {node_id: score for node_id, score in rows if score > 0 and node_id in kept_ids}


def _among(node_ids: Sequence[int], allowed: Rows) -> set[int]:
    """Return those of some rows that are allowed; `allowed` is ascending."""
    asked = np.asarray(node_ids, dtype=np.int64)
    return set(asked[places_among(allowed, asked)[1]].tolist())


def _by_meaning(
    kept: TraceReader, asked: Future[Vectors | None], allowed: Rows, embedder: Embedder | None
) -> tuple[list[dict[int, float]], tuple[str, ...]]:
    """Return the cosines of the nearest traces in each vector space, and notes on traces without vectors."""
    if embedder is None:
        return [], ("no model: found by words and errors alone",)
    vectors = asked.result()
    if vectors is None:
        return [], ()
    spaces = kept.spaces(embedder.model)
    unread = len(kept.ids(active=False)) - min(len(space.ids) for space in spaces)
    if 0 < unread <= _LATELY:
        kept.embed_latest(embedder)
        spaces, unread = kept.spaces(embedder.model), 0
    notes = (f"{unread} traces are known by their words and errors alone until a refresh has read them",)
    return [_nearest(space, vectors, allowed) for space in spaces], notes if unread > 0 else ()


def _nearest(space: TraceSpace, vectors: Vectors, allowed: Rows) -> dict[int, float]:
    """Return the nearest traces with the better cosine of the forms of a question."""
    found: dict[int, float] = {}
    for vector in vectors:
        for node_id, cosine in space.nearest(vector, allowed, _DEEP).items():
            found[node_id] = max(cosine, found.get(node_id, cosine))
    return found


@dataclass(frozen=True)
class _SameError:
    """An error that a question and a trace show: the weight of that evidence, and whether its names are the same."""

    weight: float = 0.0
    error: Signature | None = None
    exact: bool = False

    @property
    def text(self) -> str:
        return f"{self.error.exception} {self.error.template}".strip() if self.error else ""

    def is_alike(self, trace: Trace) -> bool:
        """Tell whether the trace's error is about other names, or other files."""
        return self.error is not None and not (
            self.exact and all(place in trace.context for place in self.error.places)
        )


def _same_error(store: TraceStore, question: _Question, allowed: Rows) -> dict[int, _SameError]:
    """Map the traces with an error of the question to that error."""
    found: dict[int, _SameError] = {}
    for error in question.errors[:2]:
        keys = keys_of(error)
        showing = store.traces.showing(keys)
        for key in keys:
            kept = _among(showing.get(key, ()), allowed)
            for node_id in kept:
                level = key.split(":")[1]
                weight = _SAME[level] / math.log2(1 + len(showing[key]))
                if weight > found.get(node_id, _SameError()).weight:
                    found[node_id] = _SameError(weight, error, level == "exact")
    return found


def _judged(
    kept: TraceReader,
    wanted: TraceQuery,
    question: _Question,
    fused: Mapping[int, float],
    likeness: Mapping[int, float],
    same: Mapping[int, _SameError],
) -> list[TraceHit]:
    day = question.day
    traces = kept.store.traces.by_id(fused)
    votes = kept.votes(day)
    rare = _rarity(kept, question.words[:_TOLD])
    words = kept.store.traces.words(list(traces))
    hits: dict[int, TraceHit] = {}
    for node_id, trace in traces.items():
        if (overdue := expired(trace, day)) and not wanted.include_expired:
            continue
        held = tuple(word for word in rare if word in words[node_id])
        shared = same.get(node_id, _SameError())
        evidence = Evidence(
            likeness.get(node_id, 0.0),
            sum(rare[word] for word in held) / (sum(rare.values()) or 1.0),
            min(shared.weight, 1.0),
            shared.error is None and question.has_exception_of(trace),
        )
        believed = votes.trust(trace, day)
        fits = align(trace.environment, wanted.environment)
        told = max(trace.at, believed.last)
        score = (fused[node_id] + evidence.bonus) * score_factor(
            believed,
            recency=recency(trace.tags, told, day),
            validity=validity(trace, day),
            alignment=fits.value,
        )
        telling = tuple(sorted(held, key=lambda word: -rare[word])[:5])
        hits[node_id] = TraceHit(
            trace,
            score,
            evidence,
            believed,
            fits,
            telling,
            shared.text,
            alike=shared.is_alike(trace),
            nameless=shared.error is not None and shared.error.nameless,
            overdue=overdue,
        )
    return _merged(hits, words, most=wanted.limit + 1)


def _merged(hits: Mapping[int, TraceHit], words: dict[int, frozenset[str]], *, most: int) -> list[TraceHit]:
    """Return the best hits: near copies are merged, contradictions and other solutions of one error marked."""
    ranked, newest = _newest_first(hits)
    traces = {node_id: hits[node_id].trace for node_id in ranked}
    merged = [
        replace(
            hits[node_id],
            superseded_by=newest.get(traces[node_id].key, ""),
            twins=tuple(traces[twin].key for twin in twins),
            contradicted_by=tuple(one.key for one in traces.values() if contradict(traces[node_id], one)),
        )
        for node_id, twins in without_twins(ranked, words, traces, most=most).items()
    ]
    shown = {key for hit in merged[:1] if hit.error for key in hit.trace.signatures}
    return [*merged[:1], *(replace(hit, alternative=bool(shown & {*hit.trace.signatures})) for hit in merged[1:])]


def _newest_first(hits: Mapping[int, TraceHit]) -> tuple[list[int], dict[str, str]]:
    """Return hits, best first, a version with the score of an earlier one before it; and the newest of each older."""
    scores, newest = {node_id: hit.score for node_id, hit in hits.items()}, dict[str, str]()
    known = {hit.trace.key: node_id for node_id, hit in hits.items()}
    for node_id in sorted(hits, key=lambda node_id: hits[node_id].trace.version):
        trace = hits[node_id].trace
        if trace.supersedes in known:
            scores[node_id] = max(scores[node_id], scores[known[trace.supersedes]])
            older = [key for key, newer in newest.items() if newer == trace.supersedes]
            newest.update(dict.fromkeys((trace.supersedes, *older), trace.key))
    return sorted(hits, key=lambda node_id: (-scores[node_id], -hits[node_id].trace.version, node_id)), newest


def _rarity(kept: TraceReader, words: Sequence[str]) -> dict[str, float]:
    """Map words to their inverse document frequency among traces."""
    total = len(kept.ids(active=False))
    return {word: rarity(count, total) for word, count in kept.frequencies(words).items()}
