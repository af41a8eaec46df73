"""Defines the verb that explains one component, or one trace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from repertoire.app.ask.explain import ExplainRequest, Explanation, explain
from repertoire.app.kernel import ageing_of
from repertoire.app.traces.show import ShownTrace, show, solved_with
from repertoire.domain.trace import TRACE
from repertoire.rendering.explanations import explanation_data, explanation_text
from repertoire.rendering.traces import trace_data, trace_text
from repertoire.verbs.verb import Context, Verb


def _explain(context: Context, asked: ExplainRequest) -> Explanation | ShownTrace:
    repertoire = context.repertoire
    if asked.component.strip().startswith(f"{TRACE}:"):
        return show(repertoire.traces, asked.component)
    whole = replace(
        asked,
        project=context.project,
        environment=context.environment,
        home=repertoire.home,
        ageing=ageing_of(repertoire.settings),
        refused=context.refused,
    )
    told = explain(
        repertoire.store,
        repertoire.pipeline,
        whole,
        muted=context.muted,
        unfit=context.unfit,
        usage=repertoire.use.renewed(),
    )

    component = told.stored.component
    keys = {
        component.id,
        component.name,
        *(key for copies in repertoire.store.graph.copies([component.id]) for key in copies),
    }
    return replace(told, traces=solved_with(repertoire.traces, keys, muted=context.muted))


def _text(told: Explanation | ShownTrace) -> str:
    return trace_text(told) if isinstance(told, ShownTrace) else explanation_text(told)


def _data(told: Explanation | ShownTrace) -> dict[str, Any]:
    return trace_data(told) if isinstance(told, ShownTrace) else explanation_data(told)


EXPLAIN = Verb(_explain, _text, _data)
