"""Ends a ranking: cuts its head, computes its confidence, and whether the question is too vague."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

from repertoire.domain.text import content_words
from repertoire.ports import GraphReader
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.confidence import (
    SURE_THRESHOLD,
    ConfidenceFeatures,
    WordFeatures,
    chance,
    confidence,
    fits,
    interpolate,
    words_confidence,
)
from repertoire.retrieval.lexical import MAX_TERMS
from repertoire.retrieval.matched_words import coverage, rarity
from repertoire.retrieval.need import NeedModel
from repertoire.retrieval.plan import PROMPT, RECOMMEND, QueryPlan
from repertoire.retrieval.ranking import ComponentRun, Ranking
from repertoire.retrieval.rerank import second_look
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.subject import SubjectScale, subject_model_for
from repertoire.retrieval.vague import vagueness_model_for

MAX_RANKED = 200
_PLACES = 4  # of rerank.FEATURES that tell where words are held: name, of the name, description, first sentence
_JUDGED = 3  # hits whose text the confidence is computed from


def rarities_of(graph: GraphReader, plan: QueryPlan, snapshot: Snapshot) -> dict[str, float]:
    """Return the inverse document frequency of each word of a question."""
    return rarity(graph.document_frequency(plan.words[:MAX_TERMS]), len(snapshot))


class AnswerJudge:
    """Computes the confidence in answers over one store, with models that were learned for one query encoder."""

    def __init__(self, graph: GraphReader, query_encoder: str) -> None:
        self._graph, self._query_encoder = graph, query_encoder
        self._subject = subject_model_for(query_encoder)
        self._scope = SubjectScale(self._subject)

    @cached_property
    def _vague(self) -> NeedModel | None:
        return vagueness_model_for(self._query_encoder)

    def read(self, snapshot: Snapshot) -> None:
        """Refresh what is cached for a snapshot, if it changed."""
        _ = self._vague  # loaded here, outside of what counts as a question's time
        self._scope.read(snapshot)

    def ranking(self, run: ComponentRun, *, certain: bool) -> Ranking:
        """Return the head of the answer with its confidence; `certain` if the component was asked for by name."""
        leads, among = run.snapshot.pointers, int(run.allowed.sum())
        rows = run.head(MAX_RANKED, without=None if certain else leads)
        understood = 1.0 if certain else self._understood(run.plan)
        with run.stage_log.stage("gate") as detail:
            own = 1.0 if certain else self._own_confidence(run, rows)
            sure = run.past.supporting(understood * own)
            if leads.any() and not _fits(run, sure, among):
                # pointers are shown only where no component fits whose text was read
                beyond = run.head(MAX_RANKED)
                surest = self._own_confidence(run, beyond)
                surer = run.past.supporting(understood * surest)
                rows, own, sure = (beyond, surest, surer) if _fits(run, surer, among) else (rows, own, sure)
            detail.append(f"confidence {sure:.2f}")
        rows = run.snapshot.copies.grouped_behind_installed(rows, run.silenced)
        unaided = understood * own
        ranking = run.ranking(rows, confidence=sure, unaided=unaided, fits=_fits(run, sure, among))
        if not certain and _ungraded(run):
            ranking = replace(ranking, chance=sure)
        elif not certain and ranking.grades is not None and len(ranking.answering) and run.chance_share > 0.0:
            served = chance(float(ranking.grades[ranking.answering[0], 0]))
            unaided = understood * interpolate(own, served, run.chance_share)
            ranking = replace(ranking, chance=run.past.supporting(unaided), unaided=unaided)
        if self._subject is None or run.question is None:
            return ranking
        subject = self._subject.odds(run.question.adapted)
        text, adapted, without = run.plan.query.text, run.question.adapted, run.plan.query.without
        asked = self._vague if "vague" not in without and not certain else None
        vague = asked.odds(text, adapted) if asked is not None else 0.0
        return replace(
            ranking, subject=subject, need=run.need, vague=vague, beyond=self._scope.beyond(run.snapshot, subject)
        )

    def _own_confidence(self, run: ComponentRun, rows: Rows) -> float:
        """Return the confidence in these rows by what they and the question hold."""
        if _ungraded(run):
            found = self.word_evidence(run, rows)
            return words_confidence(found, implied=run.implied is not None) if found else 0.0
        judged = self.evidence(run, rows, run.evidence.nearness)
        return confidence(judged, vectors=run.question is not None) if judged else 0.0

    def evidence(self, asked: ComponentRun | Ranking, rows: Rows, nearness: Floats) -> ConfidenceFeatures | None:
        """Return the features of the confidence, from an answer's first hits; None where there are none."""
        head = rows[:_JUDGED]
        rarities = rarities_of(self._graph, asked.plan, asked.snapshot)
        held = [coverage(rarities, entry.component) for _, entry in asked.reader.at(head)]
        return ConfidenceFeatures(float(nearness[head].max()), held[0], max(held)) if held else None

    def word_evidence(self, asked: ComponentRun | Ranking, rows: Rows) -> WordFeatures | None:
        """Return what words alone tell of an answer; None where there are no hits."""
        components = [entry.component for _, entry in asked.reader.at(rows[:1])]
        rarities = rarities_of(self._graph, asked.plan, asked.snapshot)
        if not components or not rarities:
            return None
        held = coverage(rarities, components[0])
        rarity = sum(rarities.values()) / len(rarities) / math.log(len(asked.snapshot) + 1)
        places = second_look(asked.plan.query.text, rarities, components)[0]
        return WordFeatures(held, asked.plan.length * held, rarity * held, *map(float, places[:_PLACES]))

    def _understood(self, plan: QueryPlan) -> float:
        """Return the share of a question's words that are translated or stand in any component; 1 for English."""
        if plan.translation is None or not plan.translation.unknown:
            return 1.0
        lost = {word: content_words(word) for word in plan.translation.unknown}
        held = self._graph.document_frequency([part for parts in lost.values() for part in parts])
        unknown = sum(not any(held[part] for part in parts) for parts in lost.values())
        return 1.0 - unknown / (plan.translation.known + len(lost))


def _ungraded(run: ComponentRun) -> bool:
    """Tell whether grades would tell how sure an answer is, and there are none: no vectors, no time, another model."""
    if run.snapshot.mostly_tools:  # nothing that was graded is a single tool
        return False
    wanted = run.plan.intent in (RECOMMEND, PROMPT) or run.plan.brevity > 0.0
    return run.question is None or (wanted and run.grades is None)


def _fits(run: ComponentRun, sure: float, among: int) -> bool:
    return sure >= SURE_THRESHOLD if _ungraded(run) else fits(sure, among=among)
