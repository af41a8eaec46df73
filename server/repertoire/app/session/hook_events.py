"""Makes the events of hooks: prompts, offers, selections, failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from repertoire.app.session.hint import Offer, reason_for
from repertoire.app.usage.lessons import KEPT, AskedPrompt
from repertoire.domain.answer import Hit, Recommendation
from repertoire.domain.component import Component
from repertoire.domain.event import ASKED, CHECKED, CLOSED, CORRECTED, FAILED, HELD, OFFERED, SELECTED, Event, Moment
from repertoire.domain.text import clean_line
from repertoire.learning.arbiter import RARELY_TAKEN
from repertoire.learning.hints import PROMPT
from repertoire.learning.outcomes import BEGINS, NEXT, SET
from repertoire.learning.selections import Mention, choose, names_to_try
from repertoire.learning.session import SessionState
from repertoire.learning.signals import corrects
from repertoire.retrieval.naming import find_by_name, find_started
from repertoire.settings import REDACTED, Settings
from repertoire.store.database import Store
from repertoire.trust.redaction import redact

_NOT_STARTED = "Agent type '"  # how Claude Code begins to say that it has no such agent, or may not start it


def asked(request: AskedPrompt, moment: Moment, settings: Settings) -> Event:
    """Return the event of a request."""
    data = {"prompt": request.text} if settings.store_prompts == REDACTED else {}
    return Event(moment.at, ASKED, moment.session, moment.project, request.key, data=data)


def offered(offer: Offer, moment: Moment, request: str) -> list[Event]:
    """Return an event for each component of an offer, with its rank, reason and confidence."""
    return _offers(offer.hits, moment, request, confidence=offer.confidence, where=PROMPT)


def held(offer: Offer, moment: Moment, request: str) -> list[Event]:
    """Return an event for each component that an offer held back, since such hints are rarely followed."""
    return [held_back(hit, RARELY_TAKEN, moment, request) for hit in offer.held]


def held_back(hit: Hit, why: str, moment: Moment, request: str = "") -> Event:
    """Return the event of a component that was not named at a prompt, and why."""
    name, kind = clean_line(hit.component.name, 80), hit.component.type
    data = {"name": name, "type": kind, "where": PROMPT, "why": why}
    return Event(moment.at, HELD, moment.session, moment.project, request, hit.component.id, data)


def recommended(found: Recommendation, moment: Moment, request: AskedPrompt | None = None) -> list[Event]:
    """Return an event for each member of a recommended set; the first tells the request, and what is next likeliest.

    Without a request, whose text may not be kept, nobody learns for what a member was installed.
    """
    key, hits = request.key if request is not None else "", [item.hit for item in found.items]
    offers = _offers(hits, moment, key, confidence=found.confidence, where=SET)
    if request is None or not offers:
        return offers
    beside = [hit.component.id for hit in found.near]
    return [replace(offers[0], data={**offers[0].data, "prompt": request.text, NEXT: beside}), *offers[1:]]


def _offers(hits: Sequence[Hit], moment: Moment, request: str, *, confidence: float, where: str) -> list[Event]:
    return [
        Event(
            moment.at,
            OFFERED,
            moment.session,
            moment.project,
            request,
            hit.component.id,
            {
                "name": clean_line(hit.component.name, 80),
                "type": hit.component.type,
                "rank": rank,
                "why": clean_line(reason_for(hit.whys), 120),
                "confidence": round(confidence, 3),
                "where": where,
                "installed": hit.component.installed,
            },
        )
        for rank, hit in enumerate(hits, 1)
    ]


def corrected(prompt: str, moment: Moment, session: SessionState) -> tuple[Event, ...]:
    """Return the event of a prompt that corrects Claude's work; none if the session has no offer or use."""
    if not session.seen or not corrects(prompt, answers=session.answers):
        return ()
    return (Event(moment.at, CORRECTED, moment.session, moment.project),)


def signalled(signal: str, moment: Moment, session: SessionState) -> tuple[Event, ...]:
    """Return the event of a passed check or an undone edit, if it is evidence on a component.

    A check is evidence on selected components, or on work without the offered ones; a second check adds nothing.
    """
    if (
        not session.seen
        or not signal
        or (signal == CHECKED and (session.checked or not (session.selected or session.offered)))
    ):
        return ()
    return (Event(moment.at, signal, moment.session, moment.project, session.request),)


def resolve(store: Store, mention: Mention, project: str) -> Component | None:
    """Return the component that a call in a project uses; None if the graph does not hold it."""
    named = [entry for name in names_to_try(mention) for entry in find_by_name(store.graph, name)]
    found = [*named, *find_started(store.graph, mention.text)]
    elsewhere = store.sources.elsewhere(project) if len(found) > 1 else frozenset[str]()
    return choose(mention, [entry.component for entry in found if entry.source not in elsewhere])


def selected(store: Store, mention: Mention | None, moment: Moment, session: SessionState) -> list[Event]:
    """Return the event of the use of a component; no event for our own tools or a second use within one request.

    A use after a failed call is told again, or the component would count as failed. One outside the graph is recorded
    by its name only.
    """
    if mention is None or mention.ours:
        return []
    component = resolve(store, mention, moment.project)
    node, name = component.id if component is not None else "", clean_line(mention.text, 120)
    if (node or name) in session.selected - session.failing:
        return []
    data = {
        "name": name,
        "type": component.type if component is not None else mention.types[0],
        "offered": node in session.suggested,
        **_begins(session),
    }
    return [Event(moment.at, SELECTED, moment.session, moment.project, session.request, node, data)]


def failed(store: Store, mention: Mention | None, moment: Moment, session: SessionState, *, error: str) -> list[Event]:
    """Return the event of a failed call of a component, with its redacted error message; none if it did not begin."""
    if mention is None or mention.ours or error.startswith(_NOT_STARTED):
        return []
    component = resolve(store, mention, moment.project)
    node = component.id if component is not None else ""
    data = {
        "name": clean_line(mention.text, 120),
        "error": clean_line(redact(error[:KEPT]), 200),
        **_begins(session),
    }
    return [Event(moment.at, FAILED, moment.session, moment.project, session.request, node, data)]


def _begins(session: SessionState) -> dict[str, bool]:
    """Return the mark of the first use in a turn without a request: what comes of the turn says nothing of others."""
    return {} if session.request or session.using else {BEGINS: True}


def closed(moment: Moment, session: SessionState, *, asks: bool = False) -> list[Event]:
    """Return the event that ends a turn with a request or a use, with the number of its selected components.

    `asks`: Claude's answer ends with a question, so the next prompt answers it.
    """
    if not (session.request or session.using) and (not session.seen or asks == session.answers):
        return []
    data = {"selected": len(session.selected), **({"asks": True} if asks else {})}
    return [Event(moment.at, CLOSED, moment.session, moment.project, session.request, data=data)]
