"""Defines the state of a question during ranking (`ComponentRun`) and its result (`Ranking`), with scores in parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from repertoire.domain.answer import StageReport
from repertoire.ports import StoredComponent
from repertoire.retrieval.arrays import Floats, Mask, Rows, best_rows
from repertoire.retrieval.component_reader import ComponentReader
from repertoire.retrieval.fuse import PAST, Features
from repertoire.retrieval.implied_capabilities import ImpliedCapabilities
from repertoire.retrieval.lexical import Lexical
from repertoire.retrieval.patterns import Matches
from repertoire.retrieval.plan import SIMPLE, QueryPlan
from repertoire.retrieval.relevance import GradedHead
from repertoire.retrieval.resources import Resources
from repertoire.retrieval.similar_requests import RequestEvidence, with_past_requests
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.stage_reports import StageLog
from repertoire.retrieval.vector import Question, Semantic
from repertoire.retrieval.walk import Walk

_CLEAR = 3.0  # lead in log-odds with which the first row was right 9 times in 10 (cc_native, train)
_SPREAD = 4.0  # distance in log-odds from the best at which a score is 1/e


@dataclass(frozen=True)
class Ranking:
    """Ranked rows of a snapshot, with scores, evidence and confidence.

    `scores` are 1 for the best row and fall with the log-odds, which are the sum of the `parts`.
    """

    plan: QueryPlan
    reader: ComponentReader
    snapshot: Snapshot
    rows: Rows
    scores: Floats
    parts: Mapping[str, Floats]
    likeness: Floats
    nearness: Floats
    walk: Walk
    past: RequestEvidence
    silenced: Mask  # the rows that no answer may hold
    confidence: float
    unaided: float  # the confidence without what past requests say
    fits: bool
    report: tuple[StageReport, ...]
    degraded: tuple[str, ...]
    matched: Matches = field(default_factory=Matches.silent)  # the known combinations that match
    subject: float = 0.0  # log-odds that the question is about software work; 0 without a model
    need: float = 0.0  # log-odds that a component may serve the question, less what a long one needs; 0 without a model
    vague: float = 0.0  # log-odds that the question is too vague for any set; 0 without a model
    beyond: float = 0.0  # `subject` minus the odds of nearly all stored components, if lower: 0 or less
    question: Question | None = None
    implied: ImpliedCapabilities | None = None  # the capabilities that the question implies
    grades: Floats | None = None  # by row, the log-odds that it serves and that it helps, where the head was graded
    chance: float | None = None  # that the first component serves a plain task; None if it cannot be estimated

    @property
    def answering(self) -> Rows:
        """The rows without those whose installed copy may stand for them; all if a repository is asked for."""
        if self.plan.query.repository:
            return self.rows
        return np.asarray(self.rows[self.shown[self.rows] == self.rows])

    @cached_property
    def shown(self) -> Rows:
        """What is shown in place of each row: its installed copy, unless no answer may hold that."""
        return self.snapshot.copies.shown(self.silenced)

    def chances(self, row: int) -> tuple[float, float]:
        """Return the chance that a component serves, and that it serves or helps; zeros without grades."""
        if self.grades is None:
            return 0.0, 0.0
        serves, helps = (1.0 / (1.0 + np.exp(-self.grades[row]))).tolist()
        return serves, max(serves, helps)

    def odds(self, rows: Rows) -> Floats:
        """Return the log-odds of rows relative to the best row."""
        return np.asarray(_SPREAD * np.log(self.scores[rows]))


@dataclass
class ComponentRun:
    """The state of one question: each stage adds its part to the log-odds of every row.

    A row is in the answer once a stage found it; a row that is not allowed stays at minus infinity.
    """

    plan: QueryPlan
    reader: ComponentReader
    snapshot: Snapshot
    allowed: Mask
    silenced: Mask  # of the rows that are not allowed, those that no answer may hold whatever is asked
    stage_log: StageLog
    resources: Resources
    named: Rows  # rows that were asked for by name
    embedding: Callable[[], Question | None]  # waits for the question's vectors
    embedded: Question | None = None
    question: Question | None = None  # the question's vectors, if there was time to compare them
    words: Lexical = field(init=False)
    body: Semantic = field(init=False)
    description: Semantic = field(init=False)
    evidence: Features = field(init=False)
    scores: Floats = field(init=False)
    parts: dict[str, Floats] = field(default_factory=dict)
    found: Mask = field(init=False)
    looked: tuple[Rows, list[StoredComponent]] | None = None  # the head when reranking began, and its components
    implied: ImpliedCapabilities | None = None  # the capabilities that the question implies
    need: float = 0.0  # log-odds that the question needs a component at all; 0 if nothing tells
    brevity: float = 0.0  # the plan's brevity, if the capabilities of most components are known; else 0
    grades_share: float = 0.0  # how far grades order the head in place of the evidence before them, 0 to 1
    chance_share: float = 0.0  # how far the chance by the first's grade stands in for the confidence, 0 to 1
    grades: Floats | None = None  # by row, the log-odds that it serves and that it helps, where the head was graded
    graded: GradedHead | None = None  # the rows of `grades` that were graded
    past: RequestEvidence = field(init=False)
    walked: Walk = field(init=False)
    matched: Matches = field(init=False)

    def __post_init__(self) -> None:
        size = len(self.snapshot)
        self.words, self.body, self.description = Lexical.silent(size), Semantic.silent(size), Semantic.silent(size)
        self.past = RequestEvidence.silent(size)
        self.walked = Walk.nowhere(self.snapshot)
        self.matched = Matches.silent(size)

    @property
    def without(self) -> frozenset[str]:
        """The names of the parts that the query switches off."""
        return self.plan.query.without

    @property
    def effort(self) -> str:
        """The query's mode and complexity, for the stage report."""
        return f"{self.plan.query.mode}, {self.plan.complexity}"

    def add(self, part: str, odds: Floats, *, finds: Mask | None = None) -> None:
        """Add a part to every row's log-odds; the mask `finds` adds rows to the answer."""
        self.parts[part] = self.parts[part] + odds if part in self.parts else odds
        self.scores = self.scores + odds
        if finds is not None:
            self.found = self.found | finds

    def mix_past_requests(self) -> None:
        """Add what past requests say, in place of what they said about earlier scores."""
        if self.past.speaks and np.isfinite(self.scores).any():
            if PAST in self.parts:
                self.scores = self.scores - self.parts.pop(PAST)
            known = np.isfinite(self.scores)
            moved = with_past_requests(self.scores, self.past)
            odds = np.where(known, moved - np.where(known, self.scores, 0.0), 0.0)
            self.add(PAST, odds, finds=self.past.share > 0.0)

    def candidates(self) -> Floats:
        """Return the log-odds of the rows that a stage found; minus infinity for all others."""
        return np.where(self.found, self.scores, -np.inf)

    def head(self, limit: int, *, without: Mask | None = None) -> Rows:
        """Return the best rows so far, without the masked ones."""
        found = self.candidates()
        return best_rows(found if without is None else np.where(without, -np.inf, found), limit)

    def second_look(self) -> tuple[Rows, list[StoredComponent]]:
        """Return the head to rerank and its components, fixed at the first call."""
        if self.looked is None:
            rows = self._worth_a_look()
            self.looked = rows, [entry for _, entry in self.reader.at(rows)]
        return self.looked

    def _worth_a_look(self) -> Rows:
        """Return the head to rerank; empty if a simple question has a clear first answer."""
        effort, head = self.plan.effort, self.head(max(self.plan.effort.reranked, 2))
        if self.plan.complexity == SIMPLE and not effort.thorough and len(head) > 1:
            lead = float(self.scores[head[0]] - self.scores[head[1]])
            if lead >= _CLEAR * (1.0 + self.brevity):  # leads are larger for brief questions, whether right or wrong
                return head[:0]
        return head[: effort.reranked]

    def ranking(self, rows: Rows, *, confidence: float, unaided: float, fits: bool) -> Ranking:
        """Return these rows as the ranking, with the state that the stages left."""
        return Ranking(
            self.plan,
            self.reader,
            self.snapshot,
            rows,
            _relative(self.scores, rows),
            self.parts,
            self.evidence.likeness,
            self.evidence.nearness,
            self.walked,
            self.past,
            self.silenced,
            confidence=confidence,
            unaided=unaided,
            fits=fits,
            report=self.stage_log.reports,
            degraded=self.stage_log.degraded,
            matched=self.matched,
            question=self.question,
            implied=self.implied,
            grades=self.grades,
        )


def _relative(scores: Floats, rows: Rows) -> Floats:
    """Return log-odds as scores from 0 to 1, with 1 for the best row."""
    best = float(scores[rows[0]]) if len(rows) else 0.0
    return np.asarray(np.exp(np.minimum(scores - best, 0.0) / _SPREAD))
