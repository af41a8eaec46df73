"""Records a person's feedback on a component: how a use went (the strongest evidence), or that it is unwanted."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.app.lookup import find_components, find_suggested, suggested_last
from repertoire.app.person.mute import COMPONENT
from repertoire.app.usage.lessons import KEPT
from repertoire.domain.component import Component
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.event import DISMISSED, FAILED, OUTCOME, SAYINGS, SELECTED, TAKEN_BACK, UNKNOWN, Event, Moment
from repertoire.domain.text import clean_line
from repertoire.learning.outcomes import standing
from repertoire.store.database import Store
from repertoire.trust.redaction import redact

_NOTE = 200  # the log keeps at most so many characters of a note


@dataclass(frozen=True)
class Feedback:
    """Recorded feedback: the component, the outcome, whether its use was seen, and whether it was said before.

    `silent` tells of a word that was taken back that the component stays muted or dismissed all the same.
    """

    component: Component
    outcome: str
    used: bool
    repeated: bool = False
    silent: bool = False


def give_feedback(store: Store, target: str, outcome: str, *, moment: Moment, note: str = "") -> Feedback:
    """Record the outcome of a component, by id or name, for its latest use, one in the project before others.

    The same outcome, said again before another use, is not recorded again. A dismissed component and its exact copies
    are no longer suggested in the project.

    Raises:
        UnknownComponent: no component has this id or name.
        InvalidRequest: the outcome is not one of the allowed ones.
    """
    if outcome not in SAYINGS:
        message = f"{outcome!r} is no outcome; send one of {', '.join(SAYINGS)}"
        raise InvalidRequest(message)
    component, use = _named_component(store, target, moment, unwanted=outcome == DISMISSED)
    if outcome == DISMISSED:
        return _dismiss(store, component, moment, used=use is not None)
    silent = outcome == UNKNOWN and component.id in store.preferences.silent(project=moment.project)
    if not note.strip() and _was_said(store, component, outcome, moment.project, use):
        return Feedback(component, outcome, used=use is not None, repeated=True, silent=silent)
    data = {"name": clean_line(component.name, 120), "outcome": outcome, "by": "feedback"}
    if note.strip():
        data["note"] = clean_line(redact(note[:KEPT]), _NOTE)
    session, request = (use.session, use.request) if use is not None else (moment.session, "")
    store.events.append([Event(moment.at, OUTCOME, session, moment.project, request, component.id, data)])
    return Feedback(component, outcome, used=use is not None, silent=silent)


def _was_said(store: Store, component: Component, outcome: str, project: str, use: Event | None) -> bool:
    """Tell whether this outcome is what was said last here of the component, and since its latest use."""
    said = next((one for one in store.events.of_node(component.id, kinds=(OUTCOME,)) if one.project == project), None)
    return said is not None and said.data.get("outcome") == outcome and (use is None or said.id > use.id)


def _dismiss(store: Store, component: Component, moment: Moment, *, used: bool) -> Feedback:
    with store.transaction():
        store.preferences.mute(component.id, COMPONENT, project=moment.project, how=DISMISSED, now=moment.at)
        said = {"name": clean_line(component.name, 120)}
        store.events.append([Event(moment.at, DISMISSED, moment.session, moment.project, "", component.id, said)])
    return Feedback(component, DISMISSED, used=used)


def _named_component(store: Store, target: str, moment: Moment, *, unwanted: bool) -> tuple[Component, Event | None]:
    """Return the component that an id or name means, and its latest use: in this session, else in this project.

    Of several of a name it is the one that was suggested last if that is `unwanted`, else the one that was used last,
    or that is installed: no other can have been used.

    Raises:
        UnknownComponent: no component has this id or name.
        InvalidRequest: several different components have this name, and none was used or suggested.
    """
    known = find_components(store, target, project=moment.project)
    last = suggested_last(store, known) if unwanted else None
    found = [entry.component for entry in ([last] if last is not None else known)]
    here = moment.session or None  # a use of no known session is nobody's own
    uses = [
        (event.session == here, event.project == moment.project, event.id, component, event)
        for component in found
        for event in standing(store.events.of_node(component.id, kinds=(SELECTED, FAILED, TAKEN_BACK), limit=50))
    ]
    if not uses:
        installed = {one.content_hash: one for one in found if one.installed}
        if len(installed) == 1 and not unwanted:
            return next(iter(installed.values())), None
        return find_suggested(store, target, project=moment.project)[0].component, None
    *_, component, event = max(uses, key=lambda use: use[:3])
    return component, event
