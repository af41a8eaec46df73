"""Questions and answers: what a door asks the app, and what it renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repertoire.domain.component import Component

# parts of the pipeline that `repertoire eval --without` can switch off
PARTS = ("text", "vectors", "graph", "patterns", "capabilities", "learning", "rerank")

# vector spaces; one vec0 table for each of them and each model
BODY_SPACE, DESCRIPTION_SPACE, CODE_SPACE, REQUEST_SPACE = "body", "description", "code", "request"


@dataclass(frozen=True)
class Query:
    """What is asked, and within what."""

    text: str
    types: tuple[str, ...] = ()  # empty: all
    using: tuple[str, ...] = ()  # ids or names of components already in use
    installed: bool | None = None  # None: installed and available
    limit: int = 10
    repository: str = ""  # answer from one repository alone
    project: str = ""
    without: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Task:
    """What a set is recommended for, and what it may cost. `budget` counts tokens of the components' whole text."""

    text: str
    budget: int = 2000
    limit: int = 3
    types: tuple[str, ...] = ()
    using: tuple[str, ...] = ()
    installed: bool | None = None
    repository: str = ""
    project: str = ""
    without: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Why:
    """One reason for a hit. `kind`: name, words, similarity, path, pattern, request, capability, profile."""

    kind: str
    text: str


@dataclass(frozen=True)
class Hit:
    """A component in an answer, with the parts of its score."""

    component: Component
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    whys: tuple[Why, ...] = ()


@dataclass(frozen=True)
class StageReport:
    """What one stage did: milliseconds, and counts or why it was skipped."""

    stage: str
    ms: float
    detail: str


@dataclass(frozen=True)
class Answer:
    """A ranked list. `fits` is False where nothing is good enough: the hits are then the nearest misses."""

    hits: tuple[Hit, ...]
    fits: bool
    confidence: float  # 0..1: how sure it is that the first hits serve the query
    report: tuple[StageReport, ...] = ()
    degraded: tuple[str, ...] = ()  # what was missing: no model, vectors still to come


@dataclass(frozen=True)
class Item:
    """A component in a recommended set, with the part it plays."""

    hit: Hit
    role: str  # the capabilities it covers, or whose requirement it is
    tokens: int


@dataclass(frozen=True)
class Recommendation:
    """The smallest set that fits a task. Empty items: nothing fits, `near` are the nearest misses."""

    items: tuple[Item, ...]
    near: tuple[Hit, ...] = ()
    gaps: tuple[str, ...] = ()  # needed capabilities that nothing in the set covers
    install: tuple[str, ...] = ()  # exact lines, in order, each once
    warnings: tuple[str, ...] = ()
    confidence: float = 0.0
    report: tuple[StageReport, ...] = ()
    degraded: tuple[str, ...] = ()
