"""What ranking hands from stage to stage and hands back: the log-odds of every row, and the parts they add up to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from repertoire.domain.answer import StageReport
from repertoire.ports import StoredComponent
from repertoire.retrieval.arrays import Floats, Mask, Rows, best_rows
from repertoire.retrieval.component_reader import ComponentReader
from repertoire.retrieval.fuse import Features
from repertoire.retrieval.implied_capabilities import Calling
from repertoire.retrieval.lexical import Lexical
from repertoire.retrieval.patterns import Matches
from repertoire.retrieval.plan import SIMPLE, QueryPlan
from repertoire.retrieval.resources import Resources
from repertoire.retrieval.similar_requests import RequestEvidence
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.stage_reports import StageLog
from repertoire.retrieval.vector import Question, Semantic
from repertoire.retrieval.walk import Walk

_CLEAR = 3.0  # log-odds between first and second: so far ahead, the first was right 9 times in 10 (cc_native, train)
_SPREAD = 4.0  # log-odds by which a score falls to a third of the best


@dataclass(frozen=True)
class Ranking:
    """Components in order, and all that was learned on the way; `rows` are positions in the snapshot's summaries.

    `scores` are 1 for the best and fall with the log-odds, which are the sum of the `parts`.
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
    confidence: float
    fits: bool
    report: tuple[StageReport, ...]
    degraded: tuple[str, ...]
    matched: Matches = field(default_factory=Matches.silent)  # known combinations: what goes with what
    subject: float = 0.0  # log-odds that the question is about what components are for; 0 where nothing tells
    need: float = 0.0  # log-odds that it asks for what a component may serve at all; 0 where nothing tells
    vague: float = 0.0  # log-odds that it says too little for any set; 0 where nothing tells
    beyond: float = 0.0  # how far those lie below the odds of nearly all that lies here: 0 or less
    question: Question | None = None
    calling: Calling | None = None  # what it calls for, said or not
    chance: float | None = None  # that the first serves a plain task; None where too little is known here to tell

    @property
    def answering(self) -> Rows:
        """The rows without those that are there already as an installed copy, unless one repository was asked about."""
        if self.plan.query.repository:
            return self.rows
        return self.rows[~self.snapshot.copies.spare[self.rows]]

    def odds(self, rows: Rows) -> Floats:
        """Return the log-odds of rows against the best."""
        return np.asarray(_SPREAD * np.log(self.scores[rows]))


@dataclass
class Run:
    """One question on its way through the stages: each adds its part to the log-odds of every row.

    A row is in the answer once something found it; what is not allowed stays at minus infinity whatever is added.
    """

    plan: QueryPlan
    reader: ComponentReader
    snapshot: Snapshot
    allowed: Mask
    stage_log: StageLog
    resources: Resources
    named: Rows  # asked for by name
    embedding: Callable[[], Question | None]  # waits for the vectors of the question
    embedded: Question | None = None
    question: Question | None = None  # its vectors, where there was time to compare them
    words: Lexical = field(init=False)
    body: Semantic = field(init=False)
    description: Semantic = field(init=False)
    evidence: Features = field(init=False)
    scores: Floats = field(init=False)
    parts: dict[str, Floats] = field(default_factory=dict)
    found: Mask = field(init=False)
    looked: tuple[Rows, list[StoredComponent]] | None = None  # the head as the second look met it
    calling: Calling | None = None
    brevity: float = 0.0  # how short the question is, where it is known here what it calls for
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
        """The parts that are switched off."""
        return self.plan.query.without

    @property
    def effort(self) -> str:
        """How much work the question is given, in words."""
        return f"{self.plan.query.mode}, {self.plan.complexity}"

    def add(self, part: str, odds: Floats, *, finds: Mask | None = None) -> None:
        """Add a part to every row's log-odds; rows that it `finds` are in the answer whatever else speaks for them."""
        self.parts[part] = self.parts[part] + odds if part in self.parts else odds
        self.scores = self.scores + odds
        if finds is not None:
            self.found = self.found | finds

    def candidates(self) -> Floats:
        """Return the log-odds of the rows that something found; minus infinity for the others."""
        return np.where(self.found, self.scores, -np.inf)

    def head(self, limit: int, *, without: Mask | None = None) -> Rows:
        """Return the best rows so far."""
        found = self.candidates()
        return best_rows(found if without is None else np.where(without, -np.inf, found), limit)

    def second_look(self) -> tuple[Rows, list[StoredComponent]]:
        """Return the head that is worth a second look, as the first that asks meets it, with its components."""
        if self.looked is None:
            rows = self._worth_a_look()
            self.looked = rows, [entry for _, entry in self.reader.at(rows)]
        return self.looked

    def _worth_a_look(self) -> Rows:
        """Return the head, or nothing where a simple question has a clear first answer."""
        effort, head = self.plan.effort, self.head(max(self.plan.effort.reranked, 2))
        if self.plan.complexity == SIMPLE and not effort.thorough and len(head) > 1:
            lead = float(self.scores[head[0]] - self.scores[head[1]])
            if lead >= _CLEAR * (1.0 + self.brevity):  # a brief question is led more clearly, right or wrong
                return head[:0]
        return head[: effort.reranked]

    def ranking(self, rows: Rows, *, confidence: float, fits: bool) -> Ranking:
        """Return the ranking that the stages have made."""
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
            confidence=confidence,
            fits=fits,
            report=self.stage_log.reports,
            degraded=self.stage_log.degraded,
            matched=self.matched,
            question=self.question,
            calling=self.calling,
        )


def _relative(scores: Floats, rows: Rows) -> Floats:
    """Return scores from 0 to 1, 1 for the best: how much less likely than it a row is."""
    best = float(scores[rows[0]]) if len(rows) else 0.0
    return np.asarray(np.exp(np.minimum(scores - best, 0.0) / _SPREAD))
