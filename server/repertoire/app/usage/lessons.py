"""Learns a selection as an edge of the request that it was made for."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from repertoire.app.usage.request_limit import bound_requests
from repertoire.domain.answer import REQUEST_SPACE
from repertoire.domain.component import REQUEST
from repertoire.domain.digest import digest_of
from repertoire.domain.event import ASKED, SELECTED, Event, Moment
from repertoire.learning.corrections import only_corrects
from repertoire.learning.pasted import without_images
from repertoire.learning.prompts import carries_on, essential_words, is_needless
from repertoire.ports import Embedder, Vectors
from repertoire.retrieval.component_request import job_of
from repertoire.retrieval.translation import in_english, translate
from repertoire.settings import REDACTED, VECTORS, Settings
from repertoire.store.database import Store
from repertoire.trust.redaction import redact

_SEARCHED = 500  # prompts of a session among which a selection's request is looked for
KEPT = 2_000  # the log keeps at most so many characters of a redacted prompt


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
    if is_needless(prompt) or _is_needless_abroad(prompt):
        return None
    text = redact(without_images(prompt))[:KEPT]
    key = request_key(text) if settings.store_prompts == REDACTED else f"{REQUEST}:{uuid.uuid4().hex}"
    return AskedPrompt(key, text)


def _is_needless_abroad(prompt: str) -> bool:
    """Tell whether the English of a prompt in another language, of which each word is known, is needless."""
    translation = translate(prompt)
    return translation is not None and not translation.unknown and is_needless(translation.text)


def continues(prompt: str, last: AskedPrompt | None, *, answers: bool = False) -> bool:
    """Tell whether a prompt goes on with the last request: it begins no work of its own, or briefly corrects this."""
    return carries_on(prompt) or (last is not None and only_corrects(prompt, answers=answers))


def request_key(text: str) -> str:
    """Return the key of a request whose text is kept; near-identical texts share one key."""
    name = digest_of(essential_words(text) or text)[:32]
    return f"{REQUEST}:{name}"


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
    vector = embedder.embed_queries([in_english(job_of(request.text), embedder.model)])[0]
    return Lesson(request, node, moment, vector, embedder.query_encoder)


def learn_missed(
    store: Store, events: Sequence[Event], heard: Sequence[Event], settings: Settings, *, before: str = ""
) -> None:
    """Learn selections of the log that no request has: their session ended while another process held the lock.

    Only requests whose text is in the log can be learned; the next refresh computes their vectors. `before`: only
    earlier selections, since a process learns its own ones itself, but all of `heard`: whoever heard of these first had
    not looked them up.
    """
    selected = [
        event
        for event in (*(one for one in events if not before or one.at < before), *heard)
        if event.kind == SELECTED and event.node and event.request and event.session
    ]
    linked = {(node, link.other) for node in {event.node for event in selected} for link in store.graph.links(node)}
    said = {
        (session, one.request): str(one.data.get("prompt", ""))
        for session in {event.session for event in selected}
        for one in store.events.recent(kinds=(ASKED,), session=session, limit=_SEARCHED)
    }
    for event in selected:
        text = said.get((event.session, event.request), "")
        if text and (event.node, event.request) not in linked:
            moment = Moment(event.at, event.session, event.project)
            learn(store, Lesson(AskedPrompt(event.request, text), event.node, moment), settings)


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
        evidence = f"session {moment.session}" if moment.session else "an installation"
        store.requests.select(key, lesson.component, evidence=evidence, now=moment.at)
        if vector is not None and not known:
            store.vectors.put(REQUEST_SPACE, lesson.query_encoder, [(node, digest)], vector.reshape(1, -1))
        bound_requests(store, settings, query_encoder=lesson.query_encoder)
