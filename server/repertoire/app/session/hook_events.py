"""Makes the events of hooks: prompts, offers, selections, failures; learns a selection as an edge of its request."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from repertoire.app.session.hint import Offer, reason_for
from repertoire.app.session.request_limit import bound_requests
from repertoire.domain.answer import REQUEST_SPACE, Hit, Recommendation
from repertoire.domain.component import REQUEST, Component
from repertoire.domain.digest import digest_of
from repertoire.domain.event import ASKED, CHECKED, CLOSED, CORRECTED, FAILED, HELD, OFFERED, SELECTED, Event, Moment
from repertoire.domain.text import clean_line
from repertoire.learning.arbiter import RARELY_TAKEN
from repertoire.learning.hints import PROMPT
from repertoire.learning.outcomes import BEGINS, SET
from repertoire.learning.prompts import essential_words, is_needless
from repertoire.learning.selections import Mention, choose, names_to_try
from repertoire.learning.session import SessionState
from repertoire.learning.signals import corrects
from repertoire.ports import Embedder, Vectors
from repertoire.retrieval.naming import find_by_name, find_started
from repertoire.retrieval.translation import in_english
from repertoire.settings import REDACTED, VECTORS, Settings
from repertoire.store.database import Store
from repertoire.trust.redaction import redact

KEPT = 2_000  # the log keeps at most so many characters of a redacted prompt
_NOT_STARTED = "Agent type '"  # how Claude Code begins to say that it has no such agent, or may not start it


@dataclass(frozen=True)
class AskedPrompt:
    """A prompt that asks for something; `text` is redacted, and reaches the disk only if the settings allow it."""

    key: str
    text: str


def open_request(prompt: str, settings: Settings) -> AskedPrompt | None:
    """Return a prompt as a redacted request; None if it asks for nothing.

    Near-identical texts share one key. If the text must not be kept, the key is random: a hash would let others
    guess the text.
    """
    if is_needless(prompt):
        return None
    text = redact(prompt)[:KEPT]
    key = request_key(text) if settings.store_prompts == REDACTED else f"{REQUEST}:{uuid.uuid4().hex}"
    return AskedPrompt(key, text)


def request_key(text: str) -> str:
    """Return the key of a request whose text is kept; near-identical texts share one key."""
    name = digest_of(essential_words(text) or text)[:32]
    return f"{REQUEST}:{name}"


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


def recommended(found: Recommendation, moment: Moment) -> list[Event]:
    """Return an event for each member of a recommended set: an offer without a known request."""
    return _offers([item.hit for item in found.items], moment, "", confidence=found.confidence, where=SET)


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
    node = component.id if component is not None else ""
    if node and node in session.selected - session.failing:
        return []
    data = {
        "name": clean_line(mention.text, 120),
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


@dataclass(frozen=True)
class Lesson:
    """A selection to learn from: the request, the selected component, the request's vector if a model was loaded."""

    request: AskedPrompt
    component: str
    moment: Moment
    vector: Vectors | None = None
    query_encoder: str = ""  # the query encoder that made the vector


def lesson(request: AskedPrompt, node: str, moment: Moment, embedder: Embedder | None) -> Lesson:
    """Return the lesson of a selection, with the request's vector if the model is loaded."""
    if embedder is None or not embedder.loaded:
        return Lesson(request, node, moment)
    vector = embedder.embed_queries([in_english(request.text, embedder.model)])[0]
    return Lesson(request, node, moment, vector, embedder.query_encoder)


def learn(store: Store, lesson: Lesson, settings: Settings) -> None:
    """Store a request with an edge to the selected component, and its text or vector if the settings allow them.

    A request with the same key, or without text the same vector, is the same request. Beyond the settings' limit the
    least useful requests are deleted.
    """
    text = lesson.request.text if settings.store_prompts == REDACTED else ""
    vector = lesson.vector if settings.store_prompts in {REDACTED, VECTORS} else None
    if (not text and vector is None) or not settings.max_requests:
        return
    moment, key = lesson.moment, lesson.request.key
    digest = hashlib.sha256(vector.tobytes()).hexdigest() if vector is not None else ""
    with store.transaction():
        key = (store.requests.key_of_vector(digest, lesson.query_encoder) or key) if digest and not text else key
        known = store.requests.has_text(key)  # the first text stands for all near-identical ones
        said = "" if known else text
        node = store.requests.record(key, text=said, project=moment.project, session=moment.session, now=moment.at)
        store.requests.select(key, lesson.component, evidence=f"session {moment.session}", now=moment.at)
        if vector is not None and not known:
            store.vectors.put(REQUEST_SPACE, lesson.query_encoder, [(node, digest)], vector.reshape(1, -1))
        bound_requests(store, settings, query_encoder=lesson.query_encoder)
