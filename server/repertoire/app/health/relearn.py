"""Makes past requests anew from the log, as far as it reaches: the same as was learned when it happened."""

from __future__ import annotations

from collections.abc import Container, Iterator

from repertoire.app.session.record import AskedPrompt, Lesson, learn
from repertoire.app.usage.installs import INSTALLED
from repertoire.domain.event import ASKED, SELECTED, Event, Moment
from repertoire.ports import Embedder
from repertoire.retrieval.foreign import in_english
from repertoire.settings import Settings
from repertoire.store.database import Store

_READ = 1_000  # events at once


def relearn(store: Store, settings: Settings, *, but: Container[str] = (), embedder: Embedder | None = None) -> int:
    """Learn from every selection in the log whose prompt was kept, but for some requests; return how many there were.

    Without an embedder requests get their vectors later, as everything does that has none.
    """
    found = 0
    with store.transaction():
        for request, event in _selections(store):
            if request.key in but:
                continue
            moment = Moment(event.at, event.session, event.project)
            lesson = Lesson(request, event.node, moment)
            if embedder is not None:
                vector = embedder.embed_queries([in_english(request.text, embedder.model)])[0]
                lesson = Lesson(request, event.node, moment, vector, embedder.reading)
            learn(store, lesson, settings)
            found += 1
    return found


def _selections(store: Store) -> Iterator[tuple[AskedPrompt, Event]]:
    asked: dict[tuple[str, str], str] = {}  # one request may be asked in other words in another session
    last = 0
    while events := store.events.since(last, limit=_READ):
        last = events[-1].id
        for event in events:
            if event.kind == ASKED:
                asked[event.session, event.request] = str(event.data.get("prompt", ""))
            elif event.kind == SELECTED and event.node and event.data.get("how") != INSTALLED:
                text = asked.get((event.session, event.request), "")
                if text:
                    yield AskedPrompt(event.request, text), event
