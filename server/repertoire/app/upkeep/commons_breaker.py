"""The circuit breaker between a home and its commons: after syncs that failed, refreshes ask ever more rarely."""

from __future__ import annotations

from datetime import datetime

from repertoire.app.commons.membership import Membership
from repertoire.app.upkeep.refresh_attempts import RefreshAttempt, must_wait

CLOSED, OPEN, HALF_OPEN = "closed", "open", "half-open"


def state(membership: Membership, at: datetime) -> str:
    """Return the breaker's state: closed after a sync that ended well; open while no refresh asks; then half-open.

    The next refresh after that tries once: it closes the breaker, or opens it for twice as long, up to a day. A clock
    that was set back does not keep it open.
    """
    failed = RefreshAttempt(membership.tried, membership.synced, membership.failures)
    if not failed.failures:
        return CLOSED
    return OPEN if must_wait(failed, at) else HALF_OPEN
