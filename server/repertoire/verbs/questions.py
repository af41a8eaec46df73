"""Defines the verbs that search for components and recommend a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.session.hook_events import recommended
from repertoire.app.session.unmet_needs import gap_events
from repertoire.app.usage.lessons import open_request
from repertoire.domain.answer import Answer, Query, Recommendation, Task
from repertoire.domain.event import Event
from repertoire.rendering.answers import answer_text, recommendation_text
from repertoire.rendering.data import answer_data, recommendation_data
from repertoire.settings import REDACTED
from repertoire.verbs.verb import Context, Verb


def _search(context: Context, query: Query) -> Answer:
    asked = replace(query, project=context.project)
    repertoire, elsewhere = context.repertoire, context.repertoire.store.sources.elsewhere(context.project)
    return search(repertoire.pipeline, asked, muted=context.muted, refused=context.refused, elsewhere=elsewhere)


def _recommend(context: Context, task: Task) -> Recommendation:
    asked = replace(task, project=context.project)
    refused, environment = context.refused, context.environment
    return recommend(context.repertoire.pipeline, asked, muted=context.unfit, refused=refused, environment=environment)


def _kept(context: Context, task: Task, found: Recommendation) -> Sequence[Event]:
    settings = context.repertoire.settings
    gaps = gap_events(replace(task, project=context.project), found, settings)
    request = open_request(task.text, settings) if settings.store_prompts == REDACTED else None
    return (*gaps, *recommended(found, context.moment, request))


SEARCH = Verb(_search, answer_text, answer_data)
RECOMMEND = Verb(_recommend, recommendation_text, recommendation_data, events=_kept)
