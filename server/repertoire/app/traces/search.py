"""Answers "was this solved before?": the same error, words and meaning, of problem and solution apart, then trust."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from repertoire.app.clock import today
from repertoire.app.traces.embed import SPACES, embed_latest
from repertoire.app.traces.telling import keys_of, tags_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.graph import TRACES
from repertoire.domain.text import content_words, split_words
from repertoire.domain.trace import ACTIVE, EXPIRED, ME, SUPERSEDED, Trace, Vote
from repertoire.ports import Among, Embedder
from repertoire.store.database import Store
from repertoire.traces.ageing import expired, recency, validity
from repertoire.traces.environment import Alignment, align
from repertoire.traces.ranking import FITS, Evidence, fuse, without_twins, worth
from repertoire.traces.reputation import Reputation, reputation
from repertoire.traces.signature import Signature, signatures_in
from repertoire.traces.trust import Trust, by_trace, trust

_DEEP = 200  # candidates of each list
_LOOKED_AT = 30  # of the best, of which trust and the like are read
_WORDS, _TOLD = 128, 24  # words that are searched for; of these, words that are counted one by one
_READ = 4_000  # characters of an error
_FIELDS = (1.0, 1.0, 1.0)  # weights of title, problem and solution: words are counted over all of a trace
_SAME = {"exact": 1.0, "key": 0.5, "coarse": 0.25}  # what an error's key weighs, shared out among those that show it


@dataclass(frozen=True)
class Wanted:
    """What somebody looks for, and where."""

    query: str
    error: str = ""
    tags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    limit: int = 5
    include_expired: bool = False
    without: frozenset[str] = frozenset()  # parts that are left out: words, vectors, signatures


@dataclass(frozen=True)
class TraceHit:
    """A trace in an answer, what speaks for it, and how far it is to be trusted."""

    trace: Trace
    score: float
    evidence: Evidence
    trust: Trust
    alignment: Alignment
    words: tuple[str, ...] = ()  # of the question, that it holds
    error: str = ""  # the error that both show
    twins: tuple[str, ...] = ()  # keys of traces that say the same
    alternative: bool = False  # it solves the first one's error in another way
    overdue: bool = False
    muted: bool = False


@dataclass(frozen=True)
class Found:
    """The traces that serve, best first, and whether the first of them fits."""

    hits: tuple[TraceHit, ...]
    fits: bool
    confidence: float
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Question:
    words: tuple[str, ...]
    errors: tuple[Signature, ...]
    text: str


def search_traces(
    store: Store, wanted: Wanted, *, embedder: Embedder | None = None, muted: frozenset[str] = frozenset()
) -> Found:
    """Rank the traces that may solve a problem; where none fits, the answer says so and holds the nearest.

    Raises:
        InvalidRequest: nothing is asked.
    """
    if not (wanted.query.strip() or wanted.error.strip()):
        message = "nothing is asked; say what goes wrong, or send what the failing command printed as the error"
        raise InvalidRequest(message)
    question = _question(wanted)
    allowed = _allowed(store, wanted)
    words = _by_words(store, wanted, question, allowed)
    spaces = _by_meaning(store, wanted, question, allowed, embedder)
    same = {} if "signatures" in wanted.without else _same_error(store, question, allowed)
    fused = fuse(words, spaces, {node_id: weight for node_id, (weight, _) in same.items()})
    likeness = {node_id: max(space.get(node_id, 0.0) for space in spaces) for node_id in fused} if spaces else {}
    best = sorted(fused, key=lambda node_id: (-fused[node_id], node_id))[:_LOOKED_AT]
    hits = _judged(store, wanted, question, {node_id: fused[node_id] for node_id in best}, likeness, same)
    hits = [replace(hit, muted=hit.trace.key in muted) for hit in hits if wanted.include_expired or not hit.overdue]
    confidence = hits[0].evidence.confidence if hits else 0.0
    degraded = () if embedder is not None else ("no model: found by words and errors alone",)
    return Found(tuple(hits[: wanted.limit]), confidence >= FITS, confidence, degraded)


def standing(store: Store, trace: Trace, today_: date) -> Trust:
    """Return how far one trace is to be trusted."""
    votes = store.traces.votes()
    return trust(trace, by_trace(votes).get(trace.key, ()), _reputation(store, votes, today_), today_)


def _question(wanted: Wanted) -> _Question:
    text = "\n".join(part for part in (wanted.query.strip(), wanted.error.strip()[-_READ:]) if part)
    errors = signatures_in(text)
    first = [word for error in errors[:2] for word in content_words(" ".join(error.words))]
    return _Question(tuple(dict.fromkeys((*first, *content_words(text))))[:_WORDS], errors, text)


def _allowed(store: Store, wanted: Wanted) -> frozenset[int]:
    statuses = (ACTIVE, EXPIRED, SUPERSEDED) if wanted.include_expired else (ACTIVE,)
    return frozenset(store.traces.among(statuses, tags_of(wanted.tags)))


def _by_words(store: Store, wanted: Wanted, question: _Question, allowed: frozenset[int]) -> dict[int, float]:
    if "words" in wanted.without:
        return {}
    among = Among(node_ids=tuple(allowed)) if wanted.tags else None
    rows = store.graph.match(question.words, limit=_DEEP, weights=_FIELDS, among=among, view=TRACES)
    return {node_id: score for node_id, score in rows if node_id in allowed and score > 0}


def _by_meaning(
    store: Store, wanted: Wanted, question: _Question, allowed: frozenset[int], embedder: Embedder | None
) -> list[dict[int, float]]:
    """Return how alike the nearest read, by problem and by solution apart."""
    if embedder is None or "vectors" in wanted.without:
        return []
    embed_latest(store, embedder)
    vector = embedder.embed_passages([question.text])[0]
    found = (store.vectors.nearest(space, embedder.model, vector, limit=_DEEP) for space in SPACES)
    return [{node_id: cosine for node_id, cosine in rows if node_id in allowed} for rows in found]


def _same_error(store: Store, question: _Question, allowed: frozenset[int]) -> dict[int, tuple[float, str]]:
    """Map the traces that show an error of the question to what that weighs, and the error."""
    found: dict[int, tuple[float, str]] = {}
    for error in question.errors[:2]:
        keys = keys_of(error)
        showing = store.traces.showing(keys)
        for key in keys:
            for node_id in showing.get(key, ()):
                weight = _SAME[key.split(":")[1]] / math.log2(1 + len(showing[key]))
                if node_id in allowed and weight > found.get(node_id, (0.0, ""))[0]:
                    found[node_id] = (weight, f"{error.exception} {error.template}".strip())
    return found


def _judged(
    store: Store,
    wanted: Wanted,
    question: _Question,
    fused: Mapping[int, float],
    likeness: Mapping[int, float],
    same: Mapping[int, tuple[float, str]],
) -> list[TraceHit]:
    day = today()
    traces = store.traces.by_id(fused)
    votes = store.traces.votes()
    known, weighed = by_trace(votes), _reputation(store, votes, day)
    rare = _rarity(store, question.words[:_TOLD], len(traces))
    words = {node_id: frozenset(split_words(_text(trace))) for node_id, trace in traces.items()}
    hits: dict[int, TraceHit] = {}
    for node_id, trace in traces.items():
        held = tuple(word for word in rare if word in words[node_id])
        weight, error = same.get(node_id, (0.0, ""))
        evidence = Evidence(
            likeness.get(node_id, 0.0),
            sum(rare[word] for word in held) / (sum(rare.values()) or 1.0),
            min(weight, 1.0),
        )
        believed = trust(trace, known.get(trace.key, ()), weighed, day)
        fits = align(trace.environment, wanted.environment)
        told = max(trace.at, believed.last)
        score = fused[node_id] * worth(
            believed,
            recency=recency(trace.tags, told, day),
            validity=validity(trace, day),
            alignment=fits.value,
        )
        telling = tuple(sorted(held, key=lambda word: -rare[word])[:5])
        hits[node_id] = TraceHit(trace, score, evidence, believed, fits, telling, error, overdue=expired(trace, day))
    return _merged(hits, words)


def _merged(hits: Mapping[int, TraceHit], words: dict[int, frozenset[str]]) -> list[TraceHit]:
    """Return the hits, best first, near twins within the better one, other solutions of one error marked."""
    ranked = sorted(hits, key=lambda node_id: (-hits[node_id].score, node_id))
    merged = [
        replace(hits[node_id], twins=tuple(hits[twin].trace.key for twin in twins))
        for node_id, twins in without_twins(ranked, words).items()
    ]
    shown = {key for hit in merged[:1] if hit.error for key in hit.trace.signatures}
    return [*merged[:1], *(replace(hit, alternative=bool(shown & {*hit.trace.signatures})) for hit in merged[1:])]


def _text(trace: Trace) -> str:
    return " ".join((trace.title, *trace.tags, trace.context, trace.solution))


def _rarity(store: Store, words: Sequence[str], least: int) -> dict[str, float]:
    """Map words to how much each tells, by how few traces hold it."""
    counted = store.traces.frequencies(words)
    total = max(sum(store.traces.counts().values()), least, 1)
    return {word: math.log(1 + (total - count + 0.5) / (count + 0.5)) for word, count in counted.items()}


def _reputation(store: Store, votes: Sequence[Vote], day: date) -> Reputation:
    return reputation(votes, store.traces.authorship() if votes else {}, day, trusted=frozenset((ME,)))
