"""Implements the stages of ranking components: each adds a part to every row's log-odds and returns a report line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from repertoire.domain.answer import BODY_SPACE, CODE_SPACE
from repertoire.domain.component import Component
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.binding import BINDING
from repertoire.retrieval.code import CODE, code_odds
from repertoire.retrieval.confidence import chance_share
from repertoire.retrieval.cross_encoder import MOST as MOST_CROSSED
from repertoire.retrieval.cross_encoder import cross_encode
from repertoire.retrieval.direction import DIRECTION
from repertoire.retrieval.exclusion import EXCLUSION
from repertoire.retrieval.fuse import (
    DESCRIPTION,
    GRAPH,
    NAME,
    PAST,
    SIMILARITY,
    conditions,
    features,
    fuse,
    matched_rows,
)
from repertoire.retrieval.implied_capabilities import MEANT
from repertoire.retrieval.judging import MAX_RANKED, rarities_of
from repertoire.retrieval.know_how import lacks_know_how
from repertoire.retrieval.naming import odds_of_named
from repertoire.retrieval.need import NO_HINT, without_message
from repertoire.retrieval.pair_reading import OF_HINT, OF_LIST, OF_SET, graded_again, pair_text
from repertoire.retrieval.patterns import PATTERNS
from repertoire.retrieval.placeholders import is_placeholder
from repertoire.retrieval.plan import PROMPT, RECOMMEND
from repertoire.retrieval.ranking import ComponentRun
from repertoire.retrieval.relevance import RELEVANCE, GradedHead
from repertoire.retrieval.relevance_features import HEAD as GRADED
from repertoire.retrieval.relevance_features import graded_odds, relevance_features
from repertoire.retrieval.rerank import STAGE as RERANK
from repertoire.retrieval.rerank import odds_of, second_look
from repertoire.retrieval.similar_requests import SAME_REQUEST_THRESHOLD, with_past_requests
from repertoire.retrieval.stack_fit import StackFit, best_at_home, stack_fit
from repertoire.retrieval.walk import WalkStart, walk

_WANTED = 2.0  # log-odds for a component type that the words ask for
_FOREIGN = -2.0  # log-odds for a component of another client, found only where no component of Claude Code comes near
_CLIENT, _ASKED_TYPE = "client", "type"
# Changes of a part's weight for a fully brief question ("add dark mode"). It says too little for similarity and
# reranking, which were learned on longer questions; its implied capabilities tell more. Chosen by cross-validation on
# the dev half of graded plain tasks.
_BRIEF_MEANT, _BRIEF_SIMILARITY, _BRIEF_RERANK = 1.5, -0.35, -1.0
# Share that grades have in the order for a task or a prompt: the root of its brevity, and this at least. On 672 prompts
# of 20 words and more the first serves 43 of 100 without grades, 58 at this share, 60 at 1; but the questions of
# cc_native, which repeat a component's words, lose from .6 on (bench/quality/README.md). Among single tools (ultratool)
# so large a share costs 11 of 100 right members.
_LEAST_SHARE = 0.4
# Taken from both grades of a component that converts into something else than is asked for: what is likely becomes
# unlikely. Too few graded tasks ask for a conversion to fit it.
_CONVERTS_ELSEWHERE = 2.0
# The same of what is of another vendor than the one that is asked for ("add SSO with Okta": Auth0's), where some is.
_RIVAL = 2.0
_SERVES_DATA = 1.0  # half as much of a product's server, where know-how about the product is asked for
# The same of a placeholder: of 29 graded answers that were one, none served, though their texts say how one is written.
_PLACEHOLDER = 4.0
# Taken from the log-odds that a long question needs a component: it tells its topic, as a small edit does. Of 330 long
# prompts that need nothing (bench/quality/long_prompts) 3.9 of 100 get a hint without it and .9 with it; hints that
# serve fall from 44.6 to 44.4 of 100. Not among single tools: there it silences sets that serve (ultratool: 1 of 100).
_NEED_OF_LONG = 2.0
_BOUND = 40  # rows at the head whose product binding and direction are computed
# Rows that join the head for providing what the project is built with: the specialist of a framework seldom bears a
# word of the task. Of 115 graded prompts in projects 49.6 of 100 sets are good without them, 52.2 with them.
_MOST_AT_HOME = 12
# Added to both grades of a component for the project's own technology, taken from those of one for another language. Of
# 223 graded components at home half served where their grades said a fifth. With .3, .6 and 1 of 229 prompts that want
# something 61, 65 and 65 of 100 get a good set; from .8 on more hints begin with what is of no use.
_AT_HOME, _ELSEWHERE = 0.6, 1.5
_READ_FIRST = 1.5  # by what, in log-odds, components for the project's own technology are read before others


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
    run.evidence = features(run.words, run.body, run.description, run.snapshot.priors, asked)
    _, run.parts = fuse(run.evidence)
    if run.plan.wanted:
        run.parts[_ASKED_TYPE] = np.where(np.isin(run.snapshot.column("type"), run.plan.wanted), _WANTED, 0.0)
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
        run.past = asked.among(run.allowed, copies.moved_to_installed(asked.share, run.allowed), wanted)
    _mix_past_requests(run)
    return f"{run.past.requests} like this, trust {run.past.trust:.2f}"


def _mix_past_requests(run: ComponentRun) -> None:
    """Add what past requests say, in place of what they said about earlier scores."""
    if run.past.speaks and np.isfinite(run.scores).any():
        if PAST in run.parts:
            run.scores = run.scores - run.parts.pop(PAST)
        known = np.isfinite(run.scores)
        moved = with_past_requests(run.scores, run.past)
        odds = np.where(known, moved - np.where(known, run.scores, 0.0), 0.0)
        run.add(PAST, odds, finds=run.past.share > 0.0)


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
    odds = run.resources.bindings.odds(run.snapshot, run.reader, _head_with_stack(run, _BOUND), run.plan)
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


def can_grade(run: ComponentRun) -> bool:
    """Tell whether a relevance model was learned for these vectors, and most components' capabilities are known.

    Nothing is graded for a prompt that draws no hint: it surely needs no component, and none served the like before.
    """
    hopeless = run.plan.intent == PROMPT and run.need < NO_HINT and run.past.trust < SAME_REQUEST_THRESHOLD
    if run.resources.relevance is None or run.implied is None or hopeless:
        return False
    for_set = run.plan.intent == RECOMMEND and run.resources.capability_scorer.knows_most(run.snapshot)
    return run.grades_share > 0.0 or for_set


def grade_head(run: ComponentRun) -> str:
    """Grade the head by all evidence so far, and let the grades replace that evidence."""
    model, stored = run.resources.relevance, run.reader.at(_head_with_stack(run, GRADED))
    if model is None or not stored:
        return "nothing to grade"
    rows, components = np.array([row for row, _ in stored]), [entry.component for _, entry in stored]
    rarities = rarities_of(run.resources.graph, run.plan, run.snapshot)
    features_of_head = relevance_features(run, rows, components, rarities)
    grades, fit = model.grades(features_of_head), stack_fit_of(run, rows)
    run.graded = GradedHead(
        rows,
        features_of_head,
        grades,
        list(zip(fit.questions(run.plan.query.text), map(pair_text, components), strict=True)),
        _handicaps(run, rows, components) + _ELSEWHERE * fit.elsewhere - _AT_HOME * fit.at_home,
        _READ_FIRST * fit.at_home.astype(np.float64),
    )
    _take_grades(run, run.graded, grades)
    if _ASKED_TYPE in run.parts:  # grades lie further apart than the sums that they replace
        run.add(_ASKED_TYPE, run.parts[_ASKED_TYPE] * run.grades_share)
    return f"{len(rows)} graded" + (", for the set alone" if run.grades_share == 0.0 else "")


def _head_with_stack(run: ComponentRun, limit: int) -> Rows:
    """Return the head, and the best rows beyond it that are for the project's own technologies."""
    rows, products = run.head(limit), run.resources.options.products
    if not run.plan.stack.uses:
        return rows
    beyond = best_at_home(products, run.snapshot, run.plan, run.scores, without=rows, limit=_MOST_AT_HOME)
    return np.concatenate([rows, beyond])


def stack_fit_of(run: ComponentRun, rows: Rows) -> StackFit:
    """Return how the components at these rows fit the stack of the run's project."""
    bound = run.resources.bindings.of(run.reader, rows)
    return stack_fit(run.resources.options.products, run.snapshot, rows, bound, run.plan)


def _handicaps(run: ComponentRun, rows: Rows, components: Sequence[Component]) -> Floats:
    found = np.array([_PLACEHOLDER * is_placeholder(component) for component in components])
    if BINDING not in run.without:
        found += _RIVAL * run.resources.bindings.rivals(run.snapshot, run.reader, rows, run.plan)[rows]
    found += run.resources.bindings.excluded(run.snapshot, run.reader, rows, run.plan)
    text = run.plan.query.text
    if DIRECTION not in run.without:
        elsewhere = run.resources.directions.converts_elsewhere(run.snapshot, run.reader, rows, text)
        found += _CONVERTS_ELSEWHERE * elsewhere[rows]
    return found + _SERVES_DATA * lacks_know_how(text, components, rows, run.snapshot, run.resources.options.products)


def can_read_pairs(run: ComponentRun) -> bool:
    """Tell whether the head was graded, and the model reads pairs."""
    return run.graded is not None and run.resources.pair_relevance is not None


def read_pairs(run: ComponentRun) -> str:
    """Read the best graded components together with the question, and grade them again."""
    head, model, reader = run.graded, run.resources.pair_relevance, run.resources.options.pair_reader
    if head is None or model is None or reader is None:
        return "nothing to read"
    bounds = {RECOMMEND: OF_SET, PROMPT: OF_HINT}.get(run.plan.intent, OF_LIST)
    grades, read = graded_again(head, reader, model, bounds)
    _take_grades(run, head, grades)
    return f"{read} read"


def _take_grades(run: ComponentRun, head: GradedHead, grades: Floats) -> None:
    """Keep the grades of the head, and let them order it as far as they may, in place of grades before them."""
    rows, grades = head.rows, grades - head.handicaps[:, np.newaxis]
    run.grades = np.tile(grades.min(axis=0), (len(run.snapshot), 1))
    run.grades[rows] = grades
    if run.grades_share > 0.0:
        odds = run.snapshot.copies.strongest(graded_odds(run, rows, grades, run.grades_share))
        run.add(RELEVANCE, odds - run.parts[RELEVANCE] if RELEVANCE in run.parts else odds)
        _mix_past_requests(run)  # it moves shares of likelihood, which the grades have changed


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
