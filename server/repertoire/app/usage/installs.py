"""Records an installation that follows an offer as a selection, which no hook reports."""

from __future__ import annotations

from datetime import timedelta

from repertoire.app.clock import now
from repertoire.domain.event import OFFERED, SELECTED, Event
from repertoire.learning.outcomes import moment
from repertoire.store.database import Store

INSTALLED = "installed"
_FOLLOWS = timedelta(days=14)  # an installation within this time after an offer is attributed to it
_LOOKED_AT = 2_000  # newest offers and selections that are considered


def note_installs(store: Store) -> int:
    """Record a selection for each offered component that was installed since, once for an offer; return how many."""
    at = now()
    events = store.events.latest((OFFERED, SELECTED), limit=_LOOKED_AT)
    noted = {event.node for event in events if event.data.get("how") == INSTALLED}
    offers = {
        event.node: event
        for event in events
        if event.kind == OFFERED and event.data.get(INSTALLED) is False and event.node not in noted
    }
    recent = [event for event in offers.values() if moment(at) - moment(event.at) <= _FOLLOWS]
    found = [event for event in recent if _installed(store, event)]
    store.events.append(
        [
            Event(
                at,
                SELECTED,
                "",
                event.project,
                event.request,
                event.node,
                {"name": event.data.get("name", ""), "offered": True, "how": INSTALLED, "offer": event.id},
            )
            for event in found
        ]
    )
    return len(found)


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
