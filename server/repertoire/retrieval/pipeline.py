"""Runs the stages in order: plan, words, vectors, fuse, requests, ppr, patterns, gate; every stage leaves a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from repertoire.domain.answer import CODE_SPACE, Hit, Query
from repertoire.domain.experience import Experiences
from repertoire.domain.product import Product
from repertoire.ports import Embedder, GraphReader, Reranker, VectorReader
from repertoire.retrieval.binding import BINDING, Bindings
from repertoire.retrieval.code import CODE, code_odds
from repertoire.retrieval.component_reader import ComponentReader
from repertoire.retrieval.cross_encoder import MOST as MOST_CROSSED
from repertoire.retrieval.cross_encoder import cross_encode
from repertoire.retrieval.direction import DIRECTION, Directions
from repertoire.retrieval.filters import allowed_rows
from repertoire.retrieval.foreign import reads_any
from repertoire.retrieval.fuse import DESCRIPTION, GRAPH, KIND, NAME, PAST, SIMILARITY, Features, fuse, spoken_for
from repertoire.retrieval.gather import Gatherer
from repertoire.retrieval.implied_capabilities import MEANT, Called, meant_for
from repertoire.retrieval.judging import MAX_RANKED, AnswerJudge, rarities_of
from repertoire.retrieval.naming import answered_by_name, named_rows, odds_of_named
from repertoire.retrieval.nearest import NearestCapabilities
from repertoire.retrieval.patterns import PATTERNS, KeptPatterns, Patterns
from repertoire.retrieval.plan import EXPLAIN, Capabilities, QueryPlan, Stack, is_identifier, make_plan
from repertoire.retrieval.priors import Prior, Priors
from repertoire.retrieval.products import Products
from repertoire.retrieval.ranking import Ranking, Run
from repertoire.retrieval.rerank import STAGE as RERANK
from repertoire.retrieval.rerank import odds_of, second_look
from repertoire.retrieval.similar_requests import RequestHistory, with_past
from repertoire.retrieval.snapshot import Floats, Mask, Rows, Snapshot, Snapshots
from repertoire.retrieval.stage_reports import StageLog, TimeLimit
from repertoire.retrieval.walk import WalkStart, walk
from repertoire.retrieval.walk import warm as warm_walk
from repertoire.retrieval.why import Reasons, whys

_WANTED = 2.0  # log-odds for a type that the words ask for
_FOREIGN = -2.0  # log-odds for what another client reads: found where nothing of Claude Code's comes near
_CLIENT = "client"
# A brief question ("add dark mode") says too little for likeness and for a second look at texts, both learned from long
# ones; what it calls for tells more. Shares of a part, chosen on the dev half of graded plain tasks, by folds.
_BRIEF_MEANT, _BRIEF_SIMILARITY, _BRIEF_RERANK = 1.5, -0.35, -1.0
_BOUND = 40  # rows at the head of which it counts what they are bound to


def _no_stack(_project: str) -> Stack:
    return Stack()


def _ageless(_kind: str, _changed: str) -> str:
    return ""


def _harmless(_key: str) -> str:
    return ""


def _sound(keys: Sequence[str]) -> Sequence[tuple[str, ...]]:
    return [()] * len(keys)


@dataclass(frozen=True)
class Options:
    """What else a pipeline answers with: its time, a project's stack, a cross-encoder, priors, what is said of hits."""

    pace: TimeLimit = field(default_factory=TimeLimit)
    stack: Callable[[str], Stack] = _no_stack
    reranker: Reranker | None = None
    priors: tuple[Prior, ...] = ()
    experiences: Callable[[], Experiences] = dict  # what past requests accepted and refused
    aged: Callable[[str, str], str] = _ageless  # says when a stale component was last changed
    demoted: Callable[[str], str] = _harmless  # says of what does harm on what evidence it stands lower
    troubles: Callable[[Sequence[str]], Sequence[tuple[str, ...]]] = _sound  # says of each what speaks against it
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the words by which each capability goes
    products: Mapping[str, Product] = field(default_factory=dict)  # what components may be bound to


class Pipeline:
    """Answers questions from one store with one model."""

    def __init__(
        self,
        graph: GraphReader,
        vectors: VectorReader,
        *,
        embedder: Embedder | None,
        capabilities: Capabilities | None = None,
        options: Options | None = None,
    ) -> None:
        """Without an embedder answers come from words and graph, and say so."""
        self._graph = graph
        self._capabilities = capabilities
        self._gatherer = Gatherer(graph, embedder)
        self._options = options or Options()
        self._priors = Priors(self._options.priors)
        self._nearest = NearestCapabilities()
        model, reading = (embedder.model, embedder.reading) if embedder is not None else ("", "")
        self._snapshots = Snapshots(graph, vectors, model=model, reading=reading)
        self._reads_any = reads_any(model)
        self._called = Called(meant_for(reading), self._options.synonyms)
        self._judge = AnswerJudge(graph, self._called, reading)
        products = Products(self._options.products)
        self.bindings, self._directions = Bindings(products, self._options.synonyms), Directions(products)
        self._history: tuple[Snapshot, RequestHistory] | None = None
        self._patterns = KeptPatterns()

    def refresh(self) -> None:
        """Read what moved since the last question, so that the next one need not; nothing before there was one."""
        if self._snapshots.kept is None:
            return
        snapshot = self._snapshots.current()
        self._read(snapshot)
        warm_walk(snapshot)

    def rank(self, query: Query, *, intent: str, muted: frozenset[str] = frozenset(), stale: bool = False) -> Ranking:
        """Rank the components that a query may be answered with; `muted` are ids and sources that never are.

        `stale`: whoever cannot wait is content with what was last read, should the store have moved on.
        """
        stage_log = self._options.pace.stage_log()
        with stage_log.stage("plan") as detail:
            with stage_log.aside():
                snapshot = self._snapshots.current(stale=stale)
                stack = self._options.stack(query.project) if query.project else None
            plan = make_plan(self._readable(query), intent, self._capabilities, stack=stack)
            allowed = allowed_rows(snapshot, query, muted)
            named = named_rows(self._graph, plan, snapshot, allowed)
            detail += [f"{plan.intent}, {plan.complexity}, {plan.size} needed", f"{len(plan.words)} words"]
            if plan.reading is not None:
                stage_log.missing(plan.reading.note)
                detail.append(f"read from {plan.reading.language}, {plan.reading.known} words known")
            detail.append(f"{int(allowed.sum())} of {len(snapshot)} components")
        if len(named) and (is_identifier(plan.name) or plan.intent == EXPLAIN):
            return answered_by_name(plan, ComponentReader(self._graph, snapshot), snapshot, named, stage_log)
        with stage_log.aside():  # what is read once and kept is no question's own time
            self._read(snapshot)
            if plan.effort.walking and "graph" not in query.without:
                warm_walk(snapshot)
        run = self._fused(plan, snapshot, allowed, stage_log)
        self._name_the_near(run)
        self._mean(run)
        self._favour(run)
        _compare_code(run)
        self._ask_the_past(run)
        _walk(run)
        self._match(run)
        self._bind(run)
        self._direct(run)
        self._look_again(run)
        if len(named):
            run.add(NAME, odds_of_named(run.scores, named), finds=np.isin(np.arange(len(snapshot)), named))
        return self._judge.ranking(run, certain=len(named) > 0)

    def hits(self, ranking: Ranking, rows: Rows) -> list[Hit]:
        """Return the hits at these rows, each with the parts of its score and why it is there."""
        snapshot = ranking.snapshot
        changed, answering = snapshot.changed, snapshot.copies.answering
        shown = ranking.reader.at(rows)
        troubles = self._options.troubles([entry.component.id for _, entry in shown])
        found = []
        for (row, entry), against in zip(shown, troubles, strict=True):
            reasons = Reasons(
                similarity=float(ranking.likeness[row]),
                path=tuple(ranking.walk.path_to(row)),
                past=float(ranking.past.share[row]) * ranking.past.trust,
                named=NAME in ranking.parts and ranking.parts[NAME][row] > 0.0,
                pattern=ranking.matched.why(row),
            )
            parts = {name: float(part[row]) for name, part in ranking.parts.items()}
            found.append(
                Hit(
                    entry.component,
                    float(ranking.scores[row]),
                    parts,
                    whys(ranking.plan, snapshot, row, entry, reasons),
                    self._options.aged(entry.component.type, str(changed[row])),
                    self._options.demoted(entry.component.id),
                    troubles=against,
                    there_as=snapshot.summaries[answering[row]].id if answering[row] != row else "",
                    unit=snapshot.units.of(row),
                )
            )
        return found

    def _read(self, snapshot: Snapshot) -> None:
        """Work out what every question needs of a snapshot, where it is another one."""
        snapshot.warm()
        self._history_of(snapshot)
        self._patterns.of(snapshot)
        self._priors.read(snapshot)
        self._nearest.read(snapshot)
        self._judge.read(snapshot)
        self._called.read(snapshot)
        self.bindings.read(snapshot)

    def snapshot(self) -> Snapshot:
        """Return the graph as it is now, where nothing is to be ranked."""
        return self._snapshots.current()

    def combinations(self, snapshot: Snapshot) -> Patterns:
        """Return the known combinations of a snapshot."""
        return self._patterns.of(snapshot)

    def evidence(self, query: Query) -> tuple[Snapshot, Features]:
        """Return what is weighed for a query, for learning the weights."""
        snapshot = self._snapshots.current()
        plan = make_plan(query, "", self._capabilities)
        allowed = allowed_rows(snapshot, query, frozenset())
        return snapshot, self._gatherer.gather(plan, snapshot, allowed, StageLog())[0]

    def look(self, query: Query, *, limit: int) -> tuple[list[str], Floats, Floats]:
        """Return the ids of an answer's head, their odds, and what a second look at them sees, for learning RERANK."""
        ranking = self.rank(query, intent="")
        rows = ranking.rows[:limit]
        components = [entry.component for _, entry in ranking.reader.at(rows)]
        features = second_look(
            ranking.plan.query.text, rarities_of(self._graph, ranking.plan, ranking.snapshot), components
        )
        return [component.id for component in components], ranking.odds(rows), features

    def judge(self, query: Query) -> tuple[float, float, float]:
        """Return what the confidence in an answer is made of, for learning how much each counts."""
        ranking = self.rank(query, intent="")
        judged = self._judge.evidence(ranking, ranking.rows, ranking.nearness)
        return (judged.nearness, judged.first, judged.best) if judged else (0.0, 0.0, 0.0)

    def _readable(self, query: Query) -> Query:
        """Return a query that stays in its language where the model reads that better than it is read word by word."""
        return replace(query, without=query.without | {"languages"}) if self._reads_any else query

    def _fused(self, plan: QueryPlan, snapshot: Snapshot, allowed: Mask, stage_log: StageLog) -> Run:
        evidence, question = self._gatherer.gather(plan, snapshot, allowed, stage_log)
        with stage_log.stage("fuse") as detail:
            _, parts = fuse(evidence)
            parts[KIND] = parts[KIND] + _WANTED * np.isin(snapshot.column("type"), plan.wanted)
            scores = np.where(allowed, sum(parts.values()), -np.inf)
            detail.append(f"{int(allowed.sum())} scored")
        reader = ComponentReader(self._graph, snapshot)
        return Run(plan, reader, snapshot, allowed, stage_log, question, evidence, scores, parts, spoken_for(evidence))

    def _name_the_near(self, run: Run) -> None:
        if run.question is not None and "capabilities" not in run.plan.query.without:
            with run.stage_log.stage("capabilities") as detail:
                run.plan = replace(run.plan, near=self._nearest.of(run.snapshot, run.question.adapted))
                detail.append(", ".join(run.plan.near) or "none is near")

    def _mean(self, run: Run) -> None:
        if run.question is None or not run.may(MEANT, MEANT, cheap=True):
            return
        with run.stage_log.stage(MEANT) as detail:
            text = run.plan.query.text
            run.calling = self._called.ask(run.snapshot, text, run.question.adapted)
            if run.calling is None:
                detail.append("nothing was learned for this model")
                return
            near = run.evidence.table[DESCRIPTION]
            odds = self._called.odds(run.snapshot, run.head(MAX_RANKED), text, run.calling, near)
            run.brevity = run.plan.brevity if self._called.known(run.snapshot) else 0.0
            run.add(MEANT, run.snapshot.copies.shared(odds) * (1.0 + _BRIEF_MEANT * run.brevity))
            run.add(SIMILARITY, run.parts[SIMILARITY] * (_BRIEF_SIMILARITY * run.brevity))
            detail.append(", ".join(run.calling.likeliest(3)))

    def _favour(self, run: Run) -> None:
        if not run.may("priors", "priors", cheap=True):
            return
        with run.stage_log.stage("priors") as detail:
            if run.snapshot.foreign.any():
                run.add(_CLIENT, np.where(run.snapshot.foreign, _FOREIGN, 0.0))
            for name, odds in self._priors.odds(run.snapshot, run.plan):
                run.add(name, odds)
                detail.append(name)
            detail[:] = detail or ["none"]

    def _ask_the_past(self, run: Run) -> None:
        # A millisecond, and the best evidence there is: a busy machine must not forget what it learned.
        if run.question is None or not run.may("requests", "learning", cheap=True):
            return
        with run.stage_log.stage("requests") as detail:
            history, copies = self._history_of(run.snapshot), run.snapshot.copies
            asked = history.ask(run.question.adapted)
            wanted = copies.least(asked.wanted) if asked.wanted is not None else None
            run.past = replace(asked, share=copies.answered(asked.share, run.allowed), wanted=wanted)
            detail.append(f"{run.past.requests} like this, trust {run.past.trust:.2f}")
            if run.past.speaks and np.isfinite(run.scores).any():
                known = np.isfinite(run.scores)
                heard = with_past(run.scores, run.past)
                odds = np.where(known, heard - np.where(known, run.scores, 0.0), 0.0)
                run.add(PAST, odds, finds=run.past.share > 0.0)

    def _match(self, run: Run) -> None:
        if not run.may("patterns", PATTERNS):
            return
        with run.stage_log.stage("patterns") as detail:
            run.matched = self._patterns.of(run.snapshot).match(run.plan, run.candidates())
            score = run.snapshot.copies.shared(run.matched.score)
            run.add(PATTERNS, score, finds=score > 0.0)
            detail.append(f"{len(run.matched.first)} met, {int((run.matched.score > 0.0).sum())} members")

    def _bind(self, run: Run) -> None:
        if not self._options.products or not run.may(BINDING, BINDING, cheap=True):
            return
        with run.stage_log.stage(BINDING) as detail:
            odds = self.bindings.odds(run.snapshot, run.reader, run.head(_BOUND), run.plan)
            run.add(BINDING, odds)
            detail.append(f"{int((odds < 0.0).sum())} bound to what nobody named")

    def _direct(self, run: Run) -> None:
        if not self._options.products or not run.may(DIRECTION, DIRECTION, cheap=True):
            return
        with run.stage_log.stage(DIRECTION) as detail:
            odds = self._directions.odds(run.snapshot, run.reader, run.head(_BOUND), run.plan.query.text)
            run.add(DIRECTION, odds)
            detail.append(f"{int((odds < 0.0).sum())} lead elsewhere")

    def _look_again(self, run: Run) -> None:
        rows = run.second_look()
        stored = [entry for _, entry in run.reader.at(rows)]
        if len(stored) < len(rows):  # one was removed meanwhile: the next question reads the graph anew
            return
        trusted = 1.0 + _BRIEF_RERANK * run.brevity
        if run.may(RERANK, "rerank", worth=len(rows) > 0 and trusted > 0.0):
            with run.stage_log.stage(RERANK) as detail:
                odds = np.zeros(len(run.snapshot))
                rarities = rarities_of(self._graph, run.plan, run.snapshot)
                odds[rows] = odds_of(second_look(run.plan.query.text, rarities, [entry.component for entry in stored]))
                run.add(RERANK, run.snapshot.copies.shared(odds) * trusted)
                detail.append(f"{len(rows)} looked at")
        if self._options.reranker is not None:
            cross_encode(run, rows[:MOST_CROSSED], stored[:MOST_CROSSED], self._options.reranker)

    def _history_of(self, snapshot: Snapshot) -> RequestHistory:
        if self._history is None or self._history[0] is not snapshot:
            self._history = snapshot, RequestHistory(snapshot, self._options.experiences())
        return self._history[1]


def _compare_code(run: Run) -> None:
    """Rank a snippet or an API's name by the code of components, where they hold any."""
    space = run.snapshot.spaces[CODE_SPACE]
    if run.plan.code and run.question is not None and len(space.rows) and run.may(CODE, CODE):
        with run.stage_log.stage(CODE) as detail:
            odds = code_odds(space, run.question.asked, run.allowed)
            run.add(CODE, odds, finds=odds > 0.0)
            detail.append(f"{len(space.rows)} compared")


def _walk(run: Run) -> None:
    if not run.may("ppr", "graph", worth=run.plan.effort.walking):
        return
    with run.stage_log.stage("ppr") as detail:
        plan = run.plan
        start = WalkStart((*plan.capabilities, *plan.near), plan.query.using, run.past, compound=bool(plan.clauses))
        run.walked = walk(run.snapshot, run.candidates(), start)
        score = run.snapshot.copies.shared(run.walked.score)
        run.add(GRAPH, score, finds=score > 0.0)
        detail.append(f"{len(run.walked.seeds)} seeds, {int((run.walked.score > 0).sum())} reached")
