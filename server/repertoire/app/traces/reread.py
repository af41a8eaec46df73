"""Reads kept traces again, once, when the rules for the signatures of errors, or for flags, have changed."""

from __future__ import annotations

from dataclasses import replace

from repertoire.app.clock import now
from repertoire.app.traces.fields import flags_of, signatures_of
from repertoire.domain.trace import SIGNATURES_VERSION
from repertoire.store.database import Store
from repertoire.trust.scan import RULES_VERSION


def reread_traces(store: Store) -> None:
    """Give each trace the signatures and flags of the present rules; where all have them, none is read."""
    version = f"{SIGNATURES_VERSION}.{RULES_VERSION}"
    if store.traces.is_read_with(version):
        return
    traces = store.traces.all()
    read = [replace(trace, signatures=signatures_of(trace.context), flags=flags_of(trace)) for trace in traces]
    changed = [now_read for before, now_read in zip(traces, read, strict=True) if now_read != before]
    store.traces.read_again(changed, version, now=now())
