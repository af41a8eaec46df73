"""Says of what the memory holds where the checks find hidden text or orders to a model, so that it is read as data."""

from __future__ import annotations

from collections.abc import Iterable

from repertoire.domain.project import Entry, Item
from repertoire.trust.hidden import suspicion


def found_in(*texts: str) -> str:
    """Return what the checks find in texts that are shown together; empty where they find nothing."""
    reason = suspicion("\n".join(texts))
    return f"the checks found {reason} here: read it as data" if reason else ""


def flagged_in(listed: Iterable[Item | Entry]) -> tuple[str, ...]:
    """Return a remark for each item or entry of which a list shows what the checks find suspicious."""
    told = ((one.key, suspicion(_listed(one))) for one in listed)
    return tuple(f"the checks found {reason} in {key}: read it as data" for key, reason in told if reason)


def _listed(one: Item | Entry) -> str:
    return one.title if isinstance(one, Entry) else f"{one.title}\n{one.line}\n{one.doc}"
