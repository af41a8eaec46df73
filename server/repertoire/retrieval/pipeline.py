"""Ranks components: plans the question, runs the stages in order, and computes the confidence in the answer."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from repertoire.domain.answer import Hit, Query
from repertoire.domain.component import PLUGIN
from repertoire.ports import Embedder, GraphReader, VectorReader
from repertoire.retrieval import grading, stages
from repertoire.retrieval.arrays import Mask, Rows
from repertoire.retrieval.binding import BINDING
from repertoire.retrieval.code import CODE
from repertoire.retrieval.component_reader import ComponentReader
from repertoire.retrieval.cross_encoder import STAGE as CROSS
from repertoire.retrieval.direction import DIRECTION
from repertoire.retrieval.exclusion import EXCLUSION
from repertoire.retrieval.filters import allowed_rows, silenced_rows
from repertoire.retrieval.fuse import NAME
from repertoire.retrieval.implied_capabilities import MEANT
from repertoire.retrieval.judging import AnswerJudge, rarities_of
from repertoire.retrieval.language import is_unread
from repertoire.retrieval.naming import answered_by_name, named_rows
from repertoire.retrieval.need import NEED
from repertoire.retrieval.pair_reading import PAIRS
from repertoire.retrieval.patterns import PATTERNS, Patterns
from repertoire.retrieval.plan import (
    EXPLAIN,
    PROMPT,
    RECOMMEND,
    Capabilities,
    QueryPlan,
    Stack,
    is_identifier,
    make_plan,
)
from repertoire.retrieval.priors import STACK
from repertoire.retrieval.products import Products
from repertoire.retrieval.ranking import ComponentRun, Ranking
from repertoire.retrieval.relevance import RELEVANCE
from repertoire.retrieval.rerank import STAGE as RERANK
from repertoire.retrieval.resources import Options, Resources
from repertoire.retrieval.snapshot import Snapshot, Snapshots
from repertoire.retrieval.spelling import SPELLING, Spelling, spelt
from repertoire.retrieval.stage import Stage, take_all
from repertoire.retrieval.stage_reports import StageLog
from repertoire.retrieval.taken_names import taken_name
from repertoire.retrieval.translation import Translation, is_multilingual
from repertoire.retrieval.walk import warm as warm_walk
from repertoire.retrieval.why import Reasons, whys

# Each stage has its name, the switch in `Query.without` that turns it off, its function, and its conditions.
STAGES: tuple[Stage[ComponentRun], ...] = (
    Stage("words", "text", stages.compare_words, cheap=True),
    Stage("vectors", "vectors", stages.compare_vectors, on=stages.embedded),
    Stage("fuse", "", stages.fuse_evidence, cheap=True),
    Stage("capabilities", "capabilities", stages.find_near_capabilities, on=stages.is_embedded, cheap=True),
    Stage(MEANT, MEANT, stages.add_implied_capabilities, on=stages.is_embedded, cheap=True),
    Stage(NEED, NEED, stages.judge_need, on=stages.is_embedded, cheap=True),
    Stage("priors", "priors", stages.add_priors, cheap=True),
    Stage(CODE, CODE, stages.add_code_similarity, on=stages.asks_in_code),
    # Cheap, because it takes a millisecond and is the best evidence: a busy machine must not skip it.
    Stage("requests", "learning", stages.add_past_requests, on=stages.is_embedded, cheap=True),
    Stage("ppr", "graph", stages.add_graph_walk, worth=stages.may_take_long),
    Stage(PATTERNS, PATTERNS, stages.add_patterns),
    Stage(BINDING, BINDING, stages.lower_bound_products, on=stages.knows_products, cheap=True),
    Stage(DIRECTION, DIRECTION, stages.lower_other_directions, on=stages.knows_products, cheap=True),
    Stage(RERANK, "rerank", stages.rerank_head, on=stages.head_exists, worth=stages.can_rerank),
    Stage(RELEVANCE, RELEVANCE, grading.grade_head, on=grading.can_grade, cheap=True),
    Stage(PAIRS, PAIRS, grading.read_pairs, on=grading.can_read_pairs, worth=stages.may_take_long),
    Stage(CROSS, "rerank", stages.add_cross_encoder, on=stages.has_cross_encoder, worth=stages.has_head),
    Stage(EXCLUSION, EXCLUSION, stages.lower_excluded, on=stages.rules_out, cheap=True),
    Stage(NAME, "", stages.add_named, on=stages.is_named, cheap=True),
)


class _Rows(NamedTuple):
    """The rows of a snapshot that a question may be answered with, by masks, and those that it names."""

    allowed: Mask
    silenced: Mask
    named: Rows


class Pipeline:
    """Ranks the components of one store for questions, with one embedding model."""

    def __init__(
        self,
        graph: GraphReader,
        vectors: VectorReader,
        *,
        embedder: Embedder | None,
        capabilities: Capabilities | None = None,
        options: Options | None = None,
    ) -> None:
        """Build the stages' resources; without an embedder, answers use words and graph alone and say so."""
        self._graph = graph
        self._capabilities = capabilities
        self._options = options or Options()
        self.pace = self._options.pace
        self._resources = Resources(graph, embedder, self._options)
        model, query_encoder = (embedder.model, embedder.query_encoder) if embedder is not None else ("", "")
        self._snapshots = Snapshots(graph, vectors, model=model, query_encoder=query_encoder)
        self._is_multilingual = is_multilingual(model)
        self._judge = AnswerJudge(graph, query_encoder)
        self.bindings = self._resources.bindings

    @property
    def technologies(self) -> AbstractSet[str]:
        """The names of known products; a capability that is one has the same name."""
        return self._options.products.known.keys()

    def prepare(self) -> None:
        """Load all that the first question needs but the embedding model, which may be loaded beside it."""
        self._load_tables()
        snapshot = self._snapshots.current()
        self._warm(snapshot)
        warm_walk(snapshot)

    def refresh(self) -> None:
        """Reload the snapshot and caches if the store changed, ahead of the next question; not before the first one."""
        if self._snapshots.kept is not None:
            self.prepare()

    def rank(self, query: Query, *, intent: str, muted: frozenset[str] = frozenset(), stale: bool = False) -> Ranking:
        """Rank the components that a query allows, without `muted` ids, sources and repositories.

        With `stale` the last snapshot is used even if the store has changed, for callers that cannot wait.
        """
        stage_log = self.pace.stage_log()
        with stage_log.stage("plan") as detail:
            with stage_log.aside():
                self._load_tables()
                snapshot = self._snapshots.current(stale=stale)
                stack = self._stack(query)
            plan = self._plan(query, intent, stack)
            rows = self._rows(plan, snapshot, muted)
            detail.extend([f"{plan.intent}, {plan.complexity}, {plan.size} needed", f"{len(plan.words)} words"])
            detail.extend(self._note_reading(plan, stage_log))
            detail.append(f"{int(rows.allowed.sum())} of {len(snapshot)} components")
        if len(rows.named) and (is_identifier(plan.name) or plan.intent == EXPLAIN):
            reader = ComponentReader(self._graph, snapshot)
            return answered_by_name(plan, reader, snapshot, rows.named, rows.silenced, stage_log)
        with stage_log.aside():  # reading a new snapshot does not count as this question's time
            self._warm(snapshot)
            if plan.effort.walking and "graph" not in query.without:
                warm_walk(snapshot)
        run = self._new_run(plan, snapshot, rows, stage_log)
        take_all(STAGES, run)
        return self._judge.ranking(run, certain=len(rows.named) > 0)

    def hits(self, ranking: Ranking, rows: Rows) -> list[Hit]:
        """Return the hits at these rows, each with the parts of its score and its reasons."""
        snapshot = ranking.snapshot
        changed, answering = snapshot.changed, ranking.shown
        shown = ranking.reader.at(rows)
        troubles = self._options.troubles([entry.component.id for _, entry in shown])
        rarities = rarities_of(self._graph, ranking.plan, snapshot)
        found = []
        for (row, entry), against in zip(shown, troubles, strict=True):
            reasons = Reasons(
                similarity=float(ranking.likeness[row]),
                path=tuple(ranking.walk.path_to(row)),
                past=ranking.past.of(row),
                named=NAME in ranking.parts and ranking.parts[NAME][row] > 0.0,
                rarities=rarities,
                pattern=ranking.matched.why(row),
            )
            parts = {name: float(part[row]) for name, part in ranking.parts.items()}
            copy = snapshot.summaries[answering[row]].id if answering[row] != row else ""
            taken = "" if copy else taken_name(snapshot, entry.component, ranking.plan.query.project)
            found.append(
                Hit(
                    entry.component,
                    float(ranking.scores[row]),
                    parts,
                    whys(ranking.plan, snapshot, row, entry, reasons),
                    self._options.aged(entry.component.type, str(changed[row])),
                    self._options.demoted(entry.component.id),
                    troubles=(*((taken,) if taken else ()), *against),
                    there_as=copy,
                    unit=snapshot.unit_of(row),
                )
            )
        return found

    def _load_tables(self) -> None:
        """Load what questions are read with: products and capabilities; commands that ask nothing never do."""
        self._options.products.index()
        if self._capabilities is not None:
            self._capabilities("")

    def _warm(self, snapshot: Snapshot) -> None:
        self._resources.read(snapshot)
        self._judge.read(snapshot)

    def _rows(self, plan: QueryPlan, snapshot: Snapshot, muted: frozenset[str]) -> _Rows:
        silenced = silenced_rows(snapshot, muted)
        allowed = allowed_rows(snapshot, plan.query, frozenset()) & ~silenced
        meant = named_rows(self._graph, plan, snapshot)
        named = meant[allowed[meant]]
        if plan.request is not None:
            named = named[np.isin(snapshot.column("type")[named], (*plan.request.types, PLUGIN))]
        if not len(named) and len(plan.name.split()) == 1 and plan.intent not in (RECOMMEND, PROMPT):
            # A tool of a server is ranked by its server alone, but whoever knows its name looks for the tool itself.
            anything = allowed_rows(snapshot, plan.query, frozenset(), inner=True) & ~silenced
            named = meant[anything[meant]]
            if not is_identifier(plan.name):  # a word of plain English too: the tool comes first, and all else after it
                named = named[[snapshot.summaries[row].name == plan.name for row in named.tolist()]]
                allowed[named] = True
        return _Rows(allowed, silenced, named)

    def _note_reading(self, plan: QueryPlan, stage_log: StageLog) -> list[str]:
        """Note what of a question is read in other words, or not at all; return what the report says of it."""
        detail = []
        if plan.request is not None:
            detail.append(f"asks for a {plan.request.type.replace('_', ' ')}")
            if plan.request.of_project:
                stage_log.missing(plan.request.note)
        if plan.translation is not None:
            stage_log.missing(self._without_names(plan.translation).note)
            detail.append(f"read from {plan.translation.language}, {plan.translation.known} words known")
        elif not self._is_multilingual and is_unread(plan.query.text):
            stage_log.missing("the question is in a language that is not read: names of technologies alone count")
        if plan.spelling is not None:
            stage_log.missing(plan.spelling.note)
        if plan.exclusion is not None:
            stage_log.missing(plan.exclusion.note)
        return detail

    def _without_names(self, translation: Translation) -> Translation:
        """Return a translation whose unknown words name no capability: those are meant to stay as they are."""
        names = self._capabilities
        unknown = tuple(word for word in translation.unknown if names is None or not names(word))
        return replace(translation, unknown=unknown)

    def _new_run(self, plan: QueryPlan, snapshot: Snapshot, rows: _Rows, stage_log: StageLog) -> ComponentRun:
        """Return the run of a question before its first stage; its vectors are computed in the background."""
        embedding = self._resources.gatherer.begin(plan, snapshot, stage_log)
        reader = ComponentReader(self._graph, snapshot)
        allowed, silenced, named = rows
        return ComponentRun(plan, reader, snapshot, allowed, silenced, stage_log, self._resources, named, embedding)

    def snapshot(self) -> Snapshot:
        """Return the current snapshot without ranking anything."""
        return self._snapshots.current()

    def combinations(self, snapshot: Snapshot) -> Patterns:
        """Return the known combinations of a snapshot."""
        return self._resources.patterns.of(snapshot)

    def run_before(self, stage: str, query: Query) -> ComponentRun:
        """Return the run of a query before one of its stages, which what is learned for this stage is learned from."""
        snapshot = self._snapshots.current()
        self._warm(snapshot)
        plan = self._plan(query, "", self._stack(query))
        run = self._new_run(plan, snapshot, self._rows(plan, snapshot, frozenset()), StageLog())
        take_all(tuple(takewhile(lambda one: one.name != stage, STAGES)), run)
        return run

    def _plan(self, query: Query, intent: str, stack: Stack | None) -> QueryPlan:
        products = self._options.products
        spelling = self._spelt(query, products)
        if spelling is not None:
            query = replace(query, text=spelling.text)
        plan = make_plan(self._untranslated(query), intent, self._capabilities, stack=stack, products=products)
        return replace(plan, spelling=spelling)

    def _spelt(self, query: Query, products: Products) -> Spelling | None:
        if SPELLING in query.without or self._capabilities is None:
            return None
        return spelt(query.text, products, self._graph, self._capabilities)

    def _stack(self, query: Query) -> Stack | None:
        """Return what the query's project is built with; None outside of any, or where it shall not count."""
        return self._options.stack(query.project) if query.project and STACK not in query.without else None

    def _untranslated(self, query: Query) -> Query:
        """Return the query, without translation if the model is multilingual."""
        return replace(query, without=query.without | {"languages"}) if self._is_multilingual else query
