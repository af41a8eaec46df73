"""Implements the stages of ranking components before and after grading: each adds a part to every row's log-odds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repertoire.domain.answer import BODY_SPACE, CODE_SPACE
from repertoire.retrieval.binding import BINDING
from repertoire.retrieval.code import CODE, code_odds
from repertoire.retrieval.confidence import chance_share
from repertoire.retrieval.cross_encoder import MOST as MOST_CROSSED
from repertoire.retrieval.cross_encoder import cross_encode
from repertoire.retrieval.direction import DIRECTION
from repertoire.retrieval.exclusion import EXCLUSION
from repertoire.retrieval.fuse import (
    ASKED_TYPE,
    DESCRIPTION,
    GRAPH,
    NAME,
    SIMILARITY,
    conditions,
    features,
    fuse,
    matched_rows,
    shared,
)
from repertoire.retrieval.grading import head_with_stack
from repertoire.retrieval.implied_capabilities import MEANT
from repertoire.retrieval.judging import MAX_RANKED, rarities_of
from repertoire.retrieval.naming import odds_of_named
from repertoire.retrieval.need import without_message
from repertoire.retrieval.patterns import PATTERNS
from repertoire.retrieval.plan import PROMPT, RECOMMEND
from repertoire.retrieval.ranking import ComponentRun
from repertoire.retrieval.rerank import STAGE as RERANK
from repertoire.retrieval.rerank import odds_of, second_look
from repertoire.retrieval.walk import WalkStart, walk

_WANTED = 2.0  # log-odds for a component type that the words ask for
_FOREIGN = -2.0  # log-odds for a component of another client, found only where no component of Claude Code comes near
_CLIENT = "client"
# Changes of a part's weight for a fully brief question ("add dark mode"). It says too little for similarity and
# reranking, which were learned on longer questions; its implied capabilities tell more. Chosen by cross-validation on
# the dev half of graded plain tasks.
_BRIEF_MEANT, _BRIEF_SIMILARITY, _BRIEF_RERANK = 1.5, -0.35, -1.0
# Share that grades have in the order for a task or a prompt: the root of its brevity, and this at least. On 672 prompts
# of 20 words and more the first serves 43 of 100 without grades, 58 at this share, 60 at 1; but the questions of
# cc_native, which repeat a component's words, lose from .6 on (bench/quality/experiments.md). Among single tools
# (ultratool) so large a share costs 11 of 100 right members.
_LEAST_SHARE = 0.4
# Factor on log-odds against a need that were read from words translated one by one, which read like a small remark.
_NEED_OF_TRANSLATED = 0.5
# Taken from the log-odds that a long question needs a component: it tells its topic, as a small edit does. Of 330 long
# prompts that need nothing (bench/quality/long_prompts) 3.9 of 100 get a hint without it and .9 with it; hints that
# serve fall from 44.6 to 44.4 of 100. Not among single tools: there it silences sets that serve (ultratool: 1 of 100).
_NEED_OF_LONG = 2.0
_BOUND = 40  # rows at the head whose product binding and direction are computed


def compare_words(run: ComponentRun) -> str:
    """Score every row by full text."""
    run.words = run.resources.gatherer.words(run.plan, run.snapshot, run.allowed)
    return f"{int((run.words.whole > 0).sum())} hold a word"


def embedded(run: ComponentRun) -> bool:
    """Wait for the question's vectors; return whether there are any."""
    run.embedded = run.embedding()
    return run.embedded is not None


def compare_vectors(run: ComponentRun) -> str:
    """Compute the cosines between the question's vectors and those of every component."""
    run.question = run.embedded
    if run.question is not None:
        run.body, run.description = run.resources.gatherer.vectors(run.question, run.snapshot, run.allowed)
    return f"{len(run.snapshot.spaces[BODY_SPACE].rows)} compared"


def fuse_evidence(run: ComponentRun) -> str:
    """Fuse full-text scores and cosines into one score for each row."""
    asked = conditions(run.plan.words, run.plan.clauses, flatness=run.words.flatness, length=run.snapshot.length)
    found = features(run.words, run.body, run.description, run.snapshot.priors, asked)
    run.evidence = shared(found, run.snapshot.copies)
    _, run.parts = fuse(run.evidence)
    if run.plan.wanted:
        run.parts[ASKED_TYPE] = np.where(np.isin(run.snapshot.column("type"), run.plan.wanted), _WANTED, 0.0)
    run.scores = np.where(run.allowed, sum(run.parts.values()), -np.inf)
    run.found = matched_rows(run.evidence)
    return f"{int(run.allowed.sum())} scored"


def is_embedded(run: ComponentRun) -> bool:
    """Tell whether the question's vectors were compared."""
    return run.question is not None


def find_near_capabilities(run: ComponentRun) -> str:
    """Add the capabilities whose centroid is near to the question to the plan."""
    if run.question is not None:
        run.plan = replace(run.plan, near=run.resources.nearest.of(run.snapshot, run.question.adapted))
    return ", ".join(run.plan.near) or "none is near"


def add_implied_capabilities(run: ComponentRun) -> str:
    """Raise components that provide the capabilities which the question implies."""
    text, scorer = run.plan.query.text, run.resources.capability_scorer
    run.implied = scorer.ask(run.snapshot, text, run.question.adapted) if run.question is not None else None
    if run.implied is None:
        return "nothing was learned for this model"
    near = run.evidence.table[DESCRIPTION]
    odds = scorer.odds(run.snapshot, run.head(MAX_RANKED), text, run.implied, near)
    if scorer.knows_most(run.snapshot):
        run.brevity = run.grades_share = run.chance_share = run.plan.brevity
        if not run.snapshot.mostly_tools:  # nothing that was graded is a single tool
            run.chance_share = chance_share(run.brevity)
            if run.plan.intent in (RECOMMEND, PROMPT):
                run.grades_share = max(run.brevity**0.5, _LEAST_SHARE)
    run.add(MEANT, run.snapshot.copies.strongest(odds) * (1.0 + _BRIEF_MEANT * run.brevity))
    run.add(SIMILARITY, run.parts[SIMILARITY] * (_BRIEF_SIMILARITY * run.brevity))
    return ", ".join(run.implied.likeliest(3))


def judge_need(run: ComponentRun) -> str:
    """Compute the log-odds that the question needs a component at all."""
    model = run.resources.need
    if model is None or run.question is None:
        return "nothing was learned for this model"
    text, said = run.plan.query.text, without_message(run.plan.query.text)
    brief = 1.0 if run.snapshot.mostly_tools or said != text else run.plan.brevity
    run.need = model.odds(said, run.question.adapted) - _NEED_OF_LONG * (1.0 - brief)
    if run.plan.translation is not None and run.need < 0.0:
        run.need *= _NEED_OF_TRANSLATED
    return f"log-odds {run.need:.1f}"


def add_priors(run: ComponentRun) -> str:
    """Add the priors, which do not depend on the question's words."""
    if run.snapshot.foreign.any():
        run.add(_CLIENT, np.where(run.snapshot.foreign, _FOREIGN, 0.0))
    names = []
    for name, odds in run.resources.priors.odds(run.snapshot, run.plan):
        run.add(name, odds)
        names.append(name)
    return ", ".join(names) or "none"


def asks_in_code(run: ComponentRun) -> bool:
    """Tell whether the question is code and any component has a code vector."""
    return run.plan.code and run.question is not None and len(run.snapshot.spaces[CODE_SPACE].rows) > 0


def add_code_similarity(run: ComponentRun) -> str:
    """Raise components whose code is similar to a question that is code."""
    space = run.snapshot.spaces[CODE_SPACE]
    if run.question is not None:
        odds = code_odds(space, run.question.asked, run.allowed)
        run.add(CODE, odds, finds=odds > 0.0)
    return f"{len(space.rows)} compared"


def add_past_requests(run: ComponentRun) -> str:
    """Raise components that served similar past requests."""
    if run.question is not None:
        history, copies = run.resources.history.of(run.snapshot), run.snapshot.copies
        asked = history.ask(run.question.adapted)
        wanted = copies.smallest(asked.wanted) if asked.wanted is not None else None
        run.past = asked.among(run.allowed, copies.moved_to_shown(asked.share, run.silenced, run.allowed), wanted)
    run.mix_past_requests()
    return f"{run.past.requests} like this, trust {run.past.trust:.2f}"


def may_take_long(run: ComponentRun) -> bool:
    """Tell whether the effort allows the stages that take longest: personalised PageRank and reading pairs."""
    return run.plan.effort.walking


def add_graph_walk(run: ComponentRun) -> str:
    """Raise components by personalised PageRank from the best rows."""
    plan = run.plan
    start = WalkStart((*plan.capabilities, *plan.near), plan.query.using, run.past, compound=bool(plan.clauses))
    run.walked = walk(run.snapshot, run.candidates(), start)
    score = run.snapshot.copies.strongest(run.walked.score)
    run.add(GRAPH, score, finds=score > 0.0)
    return f"{len(run.walked.seeds)} seeds, {int((run.walked.score > 0).sum())} reached"


def add_patterns(run: ComponentRun) -> str:
    """Raise the members of known combinations that the question is about."""
    run.matched = run.resources.patterns.of(run.snapshot).match(run.plan, run.candidates())
    score = run.snapshot.copies.strongest(run.matched.score)
    run.add(PATTERNS, score, finds=score > 0.0)
    return f"{len(run.matched.first)} met, {int((run.matched.score > 0.0).sum())} members"


def knows_products(run: ComponentRun) -> bool:
    """Tell whether a table of products is configured."""
    return bool(run.resources.options.products.known)


def lower_bound_products(run: ComponentRun) -> str:
    """Lower components at the head that are bound to a product which the question does not name."""
    odds = run.resources.bindings.odds(run.snapshot, run.reader, head_with_stack(run, _BOUND), run.plan)
    run.add(BINDING, odds)
    return f"{int((odds < 0.0).sum())} bound to what nobody named"


def lower_other_directions(run: ComponentRun) -> str:
    """Lower components at the head whose action or conversion opposes that of the question."""
    odds = run.resources.directions.odds(run.snapshot, run.reader, run.head(_BOUND), run.plan.query.text)
    run.add(DIRECTION, odds)
    return f"{int((odds < 0.0).sum())} lead elsewhere"


def head_exists(run: ComponentRun) -> bool:
    """Tell whether all components at the head still exist in the store."""
    rows, stored = run.second_look()
    return len(stored) == len(rows)


def can_rerank(run: ComponentRun) -> bool:
    """Tell whether there is a head to rerank, and reranking has any weight for this question."""
    return len(run.second_look()[0]) > 0 and _trusted(run) > 0.0


def rerank_head(run: ComponentRun) -> str:
    """Rerank the head by where and how its texts hold the question's words."""
    rows, stored = run.second_look()
    odds = np.zeros(len(run.snapshot))
    rarities = rarities_of(run.resources.graph, run.plan, run.snapshot)
    odds[rows] = odds_of(second_look(run.plan.query.text, rarities, [entry.component for entry in stored]))
    run.add(RERANK, run.snapshot.copies.strongest(odds) * _trusted(run))
    return f"{len(rows)} looked at"


def _trusted(run: ComponentRun) -> float:
    return 1.0 + _BRIEF_RERANK * run.brevity


def has_cross_encoder(run: ComponentRun) -> bool:
    """Tell whether a cross-encoder is configured."""
    return run.resources.options.reranker is not None and head_exists(run)


def has_head(run: ComponentRun) -> bool:
    """Tell whether there is a head to rerank."""
    return len(run.second_look()[0]) > 0


def add_cross_encoder(run: ComponentRun) -> str:
    """Rerank the head by the configured cross-encoder."""
    reranker, (rows, stored) = run.resources.options.reranker, run.second_look()
    return "" if reranker is None else cross_encode(run, rows[:MOST_CROSSED], stored[:MOST_CROSSED], reranker)


def rules_out(run: ComponentRun) -> bool:
    """Tell whether the question rules a product out."""
    return run.plan.exclusion is not None


def lower_excluded(run: ComponentRun) -> str:
    """Lower components at the head that are for what the question rules out, whether they were graded or not."""
    rows, against = run.head(_BOUND), np.zeros(len(run.snapshot))
    against[rows] = run.resources.bindings.excluded(run.snapshot, run.reader, rows, run.plan)
    run.add(EXCLUSION, -against)
    return f"{int((against > 0.0).sum())} ruled out"


def is_named(run: ComponentRun) -> bool:
    """Tell whether the question is the id or name of a component."""
    return len(run.named) > 0


def add_named(run: ComponentRun) -> str:
    """Raise the components that are asked for by name above all others."""
    named = np.isin(np.arange(len(run.snapshot)), run.named)
    run.add(NAME, odds_of_named(run.scores, run.named), finds=named)
    return f"{len(run.named)} asked for by name"
