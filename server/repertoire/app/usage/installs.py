"""Records installations, which no hook reports, as selections, and learns them for what was asked then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from repertoire.app.clock import now
from repertoire.app.usage.lessons import AskedPrompt, Lesson, learn
from repertoire.domain.component import Component
from repertoire.domain.event import OFFERED, SELECTED, TAKEN_BACK, Event, Moment
from repertoire.installing.journal import DONE, UNDONE, Journal, JournalEntry
from repertoire.learning.outcomes import INSTALLED, NEXT, moment
from repertoire.settings import Settings
from repertoire.store.database import Store

_FOLLOWS = timedelta(days=14)  # an installation within this time after an offer is attributed to it
_LOOKED_AT = 2_000  # newest offers and selections that are considered


def note_installs(store: Store, settings: Settings) -> int:
    """Record a selection for each installation since the last call, and withdraw those that were undone.

    Of what `repertoire install` installed, the named components are selected, and not what came along with them. Of
    what was installed in another way, nobody knows what was meant: each component that was offered before is. What was
    offered for a request, or shown beside a set for it, is learned for that request.
    """
    journal = Journal(store.path.parent).entries()
    named = [event for entry in journal for key in entry.ids for event in _journalled(store, entry, key)]
    found = [_selection(now(), offer) for offer in _installed_offers(store, journal)]
    store.events.append([*named, *found])
    for event in (*named, *found):
        if event.kind == SELECTED:
            _learn(store, event, settings)
        elif event.request:
            store.requests.withdraw(event.request, event.node)
    return sum(event.kind == SELECTED for event in [*named, *found])


def _learn(store: Store, selection: Event, settings: Settings) -> None:
    """Learn a selection for its request, of which the log holds the text if the settings allow it."""
    text = store.events.prompt_of(selection.request) if selection.request else ""
    if text:
        where = Moment(selection.at, selection.session, selection.project)
        learn(store, Lesson(AskedPrompt(selection.request, text), selection.node, where), settings)


def _journalled(store: Store, entry: JournalEntry, key: str) -> Iterator[Event]:
    """Yield what the log lacks of an installation that named a component: its selection, or that it was undone."""
    known = store.events.of_node(key, kinds=(SELECTED, TAKEN_BACK))
    noted = {event.at: event for event in known if event.data.get("how") == INSTALLED}
    if entry.state == DONE and _recent(entry.at) and max(noted, default="") < entry.at:
        offers = (event for event in store.events.of_node(key, kinds=(OFFERED,)) if _followed(event))
        yield _selection(entry.at, next(offers, None) or _beside_a_set(store, entry, key))
    withdrawn = any(event.data.get(INSTALLED) == entry.at for event in known if event.kind == TAKEN_BACK)
    if entry.state == UNDONE and entry.at in noted and not withdrawn:
        request = noted[entry.at].request
        yield Event(now(), TAKEN_BACK, "", entry.project, request, key, {INSTALLED: entry.at})


def _beside_a_set(store: Store, entry: JournalEntry, key: str) -> Event:
    """Return what stands for the offer of a component that no set held: the request of the newest set beside it."""
    sets = store.events.recent(kinds=(OFFERED,), limit=_LOOKED_AT)
    beside = (event for event in sets if key in event.data.get(NEXT, ()) and _recent(event.at))
    request = next((event.request for event in beside), "")
    return Event(entry.at, OFFERED, "", entry.project, request, key)


def _installed_offers(store: Store, journal: Sequence[JournalEntry]) -> Iterator[Event]:
    """Yield the newest offer of each component that was installed since, by other means than `install`, once."""
    offers: dict[str, Event] = {}
    noted: set[str] = set()
    for event in store.events.latest((OFFERED, SELECTED, TAKEN_BACK), limit=_LOOKED_AT):
        if event.kind == OFFERED and _followed(event):
            offers[event.node] = event
        elif event.data.get("how") == INSTALLED:
            noted.add(event.node)
        elif event.kind == TAKEN_BACK:
            noted.discard(event.node)
    named = {key for entry in journal if entry.state != UNDONE for key in entry.ids}
    units = {_unit(entry.component) for key in named if (entry := store.graph.by_key(key)) is not None}
    for node, offer in offers.items():
        entry = store.graph.by_key(node)
        came_along = entry is not None and entry.component.plugin and _unit(entry.component) in units
        if node not in noted | named and not came_along and _installed(store, offer):
            yield offer


def _followed(offer: Event) -> bool:
    """Tell whether an installation now would follow from an offer."""
    return offer.data.get(INSTALLED) is False and _recent(offer.at)


def _recent(at: str) -> bool:
    return moment(now()) - moment(at) <= _FOLLOWS


def _unit(component: Component) -> tuple[str, str, str]:
    return component.plugin, component.marketplace, component.repository


def _selection(at: str, offer: Event) -> Event:
    data = {"name": offer.data.get("name", ""), "offered": bool(offer.id), "how": INSTALLED}
    return Event(
        at,
        SELECTED,
        "",
        offer.project,
        offer.request,
        offer.node,
        {**data, **({"offer": offer.id} if offer.id else {})},
    )


def _installed(store: Store, offer: Event) -> bool:
    """Return whether an offered component, or a copy with its name, type and plugin, is installed."""
    name, kind = str(offer.data.get("name", "")), offer.data.get("type")
    offered = store.graph.by_key(offer.node)
    for entry in store.graph.by_name(name):
        component = entry.component
        same_plugin = offered is None or component.plugin == offered.component.plugin
        if component.installed and component.type == kind and same_plugin:
            return True
    return False
