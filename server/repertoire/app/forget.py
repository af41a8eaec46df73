"""Deletes what was recorded, for good: past requests, one project's, or everything."""

from __future__ import annotations

from repertoire.app.patterns import renew_patterns
from repertoire.app.review import renew_learned
from repertoire.app.unwritten import take_in
from repertoire.domain.errors import InvalidRequest
from repertoire.store.database import Store
from repertoire.store.rescue import set_aside

REQUESTS, PROJECT, ALL = "requests", "project", "all"


def forget(store: Store, what: str, *, project: str = "") -> int:
    """Delete and scrub the file; return how many events went.

    Raises:
        InvalidRequest: it is none of the three, or a project is not named.
        StoreBusy: deleted, but another session still holds traces; the message says what to do.
    """
    take_in(store)  # what waits to be recorded is to be forgotten too
    if what == REQUESTS:
        return store.privacy.forget_requests()
    if what == ALL:
        return store.privacy.forget_all()
    if what == PROJECT and project:
        gone = store.privacy.forget_project(project)
        renew_patterns(store)  # from what was asked elsewhere
        renew_learned(store)
        return gone
    message = f"cannot forget {what!r}: it is `requests`, `project` with the project's folder, or `all`"
    raise InvalidRequest(message)


def left_aside(store: Store) -> tuple[str, ...]:
    """Return the damaged databases that were set aside: nothing is deleted from these, whatever is forgotten."""
    return tuple(map(str, set_aside(store.path)))
