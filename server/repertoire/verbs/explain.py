"""Defines the verb that explains one component."""

from __future__ import annotations

from dataclasses import replace

from repertoire.app.ask.explain import ExplainRequest, Explanation, explain
from repertoire.app.kernel import ageing_of
from repertoire.rendering.explanations import explanation_data, explanation_text
from repertoire.verbs.verb import Context, Verb


def _explain(context: Context, asked: ExplainRequest) -> Explanation:
    repertoire = context.repertoire
    whole = replace(
        asked,
        project=context.project,
        environment=context.environment,
        home=repertoire.home,
        ageing=ageing_of(repertoire.settings),
    )
    return explain(
        repertoire.store,
        repertoire.pipeline,
        whole,
        muted=context.muted,
        unfit=context.unfit,
        usage=repertoire.use.usage,
    )


EXPLAIN = Verb(_explain, explanation_text, explanation_data)
