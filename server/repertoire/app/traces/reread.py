"""Reads the errors of kept traces again, once, when the rules by which an error gets its signature have changed."""

from __future__ import annotations

from dataclasses import replace

from repertoire.app.clock import now
from repertoire.app.traces.fields import signatures_of
from repertoire.domain.trace import SIGNATURES_VERSION
from repertoire.store.database import Store


def reread_errors(store: Store) -> None:
    """Give each trace the signatures of the present rules; where all have them, none is read."""
    if store.traces.is_signed_with(SIGNATURES_VERSION):
        return
    read = ((trace, signatures_of(trace.context)) for trace in store.traces.all())
    changed = [replace(trace, signatures=found) for trace, found in read if found != trace.signatures]
    store.traces.sign_again(changed, SIGNATURES_VERSION, now=now())
