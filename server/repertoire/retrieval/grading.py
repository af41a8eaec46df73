"""Grades the best components by a learned model, takes off for what speaks against them, and lets the grades order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from repertoire.domain.component import Component
from repertoire.domain.text import split_words
from repertoire.retrieval.arrays import Floats, Rows
from repertoire.retrieval.binding import BINDING
from repertoire.retrieval.direction import DIRECTION
from repertoire.retrieval.fuse import ASKED_TYPE
from repertoire.retrieval.judging import rarities_of
from repertoire.retrieval.know_how import lacks_know_how
from repertoire.retrieval.need import NO_HINT
from repertoire.retrieval.pair_reading import OF_HINT, OF_LIST, OF_SET, graded_again, pair_text
from repertoire.retrieval.plan import PROMPT, RECOMMEND
from repertoire.retrieval.ranking import ComponentRun
from repertoire.retrieval.relevance import RELEVANCE, GradedHead
from repertoire.retrieval.relevance_features import HEAD as GRADED
from repertoire.retrieval.relevance_features import graded_odds, relevance_features
from repertoire.retrieval.similar_requests import SAME_REQUEST_THRESHOLD
from repertoire.retrieval.stack_fit import StackFit, best_at_home, stack_fit

# Taken from both grades of a component that converts into something else than is asked for: what is likely becomes
# unlikely. Too few graded tasks ask for a conversion to fit it.
_CONVERTS_ELSEWHERE = 2.0
# The same of what is of another vendor than the one that is asked for ("add SSO with Okta": Auth0's), where some is.
_RIVAL = 2.0
_SERVES_DATA = 1.0  # half as much of a product's server, where know-how about the product is asked for
# The same of a placeholder: of 29 graded answers that were one, none served, though their texts say how one is written.
_PLACEHOLDER = 4.0
_SHOWING = frozenset({"example", "sample", "template", "dummy", "hello"})
_KINDS = frozenset({"skill", "agent", "subagent", "command", "hook", "server", "plugin", "mcp", "world"})
# Rows that join the head for providing what the project is built with: the specialist of a framework seldom bears a
# word of the task. Of 115 graded prompts in projects 49.6 of 100 sets are good without them, 52.2 with them.
_MOST_AT_HOME = 12
# Added to both grades of a component for the project's own technology, taken from those of one for another language. Of
# 223 graded components at home half served where their grades said a fifth. With .3, .6 and 1 of 229 prompts that want
# something 61, 65 and 65 of 100 get a good set; from .8 on more hints begin with what is of no use.
_AT_HOME, _ELSEWHERE = 0.6, 1.5
_READ_FIRST = 1.5  # by what, in log-odds, components for the project's own technology are read before others


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
    copies = run.snapshot.copies
    model, stored = run.resources.relevance, run.reader.at(copies.first_of_each(head_with_stack(run, GRADED)))
    if model is None or not stored:
        return "nothing to grade"
    rows = np.array([row for row, _ in stored])
    fullest = dict(run.reader.at(copies.fullest[rows]))
    components = [fullest.get(int(copies.fullest[row]), entry).component for row, entry in stored]
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
    if ASKED_TYPE in run.parts:  # grades lie further apart than the sums that they replace
        run.add(ASKED_TYPE, run.parts[ASKED_TYPE] * run.grades_share)
    return f"{len(rows)} graded" + (", for the set alone" if run.grades_share == 0.0 else "")


def head_with_stack(run: ComponentRun, limit: int) -> Rows:
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
    if run.plan.request is not None:
        found += np.array([run.plan.request.handicap(component.type) for component in components])
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
    run.grades = np.stack([run.snapshot.copies.largest(column) for column in run.grades.T], axis=1)
    if run.grades_share > 0.0:
        # the largest, since a copy that is muted, or lies beyond the head, has no grade: it stays behind all others
        odds = run.snapshot.copies.largest(graded_odds(run, rows, grades, run.grades_share))
        run.add(RELEVANCE, odds - run.parts[RELEVANCE] if RELEVANCE in run.parts else odds)
        run.mix_past_requests()  # it moves shares of likelihood, which the grades have changed


def is_placeholder(component: Component) -> bool:
    """Tell whether a component's name says no more than that it is an example of its kind, as `example-skill` does."""
    first, *rest = split_words(component.name) or [""]
    return first in _SHOWING and bool(rest) and _KINDS.issuperset(rest)
