"""Records installations, which no hook reports, as selections, and learns them for what was asked then."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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
_LEARNED = "learned"  # marks a selection that became an edge of its request, which an undo takes back
_LOOKED_AT = 2_000  # newest offers and selections that are considered


def note_installs(store: Store, settings: Settings) -> int:
    """Record a selection for each installation since the last call, and withdraw those that were undone.

    Of what `repertoire install` installed, the named components are selected, and not what came along with them. Of
    what was installed in another way, nobody knows what was meant: each component that was offered before is. What was
    offered for a request, or shown beside a set for it, is learned for that request. Nothing is recorded twice, also
    if the log was deleted in between.
    """
    journal = Journal(store.path.parent).entries()
    with store.transaction():  # a refresh may look at the same moment
        noted = store.events.noted_installs()
        named = [event for entry in journal for key in entry.ids for event in _journalled(store, entry, key, noted)]
        found = [_selection(store, now(), offer) for offer in _installed_offers(store, journal)]
        store.events.append([*named, *found])
        store.events.note_installs([_name(entry) for entry in journal if entry.state in (DONE, UNDONE)])
        for event in (*named, *found):
            _take_lesson(store, event, settings)
    return sum(event.kind == SELECTED for event in [*named, *found])


def _take_lesson(store: Store, event: Event, settings: Settings) -> None:
    """Learn a selection for its request, or unlearn one that was taken back."""
    if not event.data.get(_LEARNED):
        return
    if event.kind == TAKEN_BACK:
        store.requests.withdraw(event.request, event.node)
        return
    asked = AskedPrompt(event.request, store.events.prompt_of(event.request))
    learn(store, Lesson(asked, event.node, Moment(event.at, event.session, event.project)), settings)


def _name(entry: JournalEntry) -> str:
    return f"{entry.name} {entry.at}"  # the numbers begin anew where somebody deletes the journal


def _journalled(store: Store, entry: JournalEntry, key: str, noted: Collection[str]) -> Iterator[Event]:
    """Yield what the log lacks of an installation that named a component: its selection, or that it was undone."""
    known = store.events.of_node(key, kinds=(SELECTED, TAKEN_BACK))
    selections = {event.at: event for event in known if event.data.get("how") == INSTALLED}
    is_new = _name(entry) not in noted and max(selections, default="") < entry.at
    if entry.state == DONE and _recent(entry.at) and is_new:
        offers = (event for event in store.events.of_node(key, kinds=(OFFERED,)) if _followed(event))
        yield _selection(store, entry.at, next(offers, None) or _beside_a_set(store, entry, key))
    withdrawn = any(event.data.get(INSTALLED) == entry.at for event in known if event.kind == TAKEN_BACK)
    if entry.state == UNDONE and entry.at in selections and not withdrawn:
        selection = selections[entry.at]
        told = {INSTALLED: entry.at, **({_LEARNED: True} if selection.data.get(_LEARNED) else {})}
        yield Event(now(), TAKEN_BACK, "", entry.project, selection.request, key, told)


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
        elif event.kind == TAKEN_BACK:
            noted.discard(event.node)
        elif event.data.get("how") == INSTALLED:
            noted.add(event.node)
        else:
            offers.pop(event.node, None)  # that use is what followed from it
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


def _selection(store: Store, at: str, offer: Event) -> Event:
    """Return the selection that follows from an offer; it is learned if the log holds the text of the request."""
    known = store.graph.by_key(offer.node)
    told = offer.data or ({"name": known.component.name, "type": known.component.type} if known is not None else {})
    named = {part: told[part] for part in ("name", "type") if part in told}
    data = {**named, "offered": bool(offer.id), "how": INSTALLED}
    if offer.id:
        data["offer"] = offer.id
    if offer.request and store.events.prompt_of(offer.request):
        data[_LEARNED] = True
    return Event(at, SELECTED, "", offer.project, offer.request, offer.node, data)


def _installed(store: Store, offer: Event) -> bool:
    """Tell whether an offered component, or one of its name, type and plugin, is installed where it was offered."""
    name, kind = str(offer.data.get("name", "")), offer.data.get("type")
    offered, elsewhere = store.graph.by_key(offer.node), store.sources.elsewhere(offer.project)
    for entry in store.graph.by_name(name):
        component = entry.component
        same_plugin = offered is None or component.plugin == offered.component.plugin
        if component.installed and component.type == kind and same_plugin and entry.source not in elsewhere:
            return True
    return False
