"""The errors of the client of a commons."""

from __future__ import annotations

from repertoire.domain.errors import RepertoireError


class NotJoined(RepertoireError):
    """The home has joined no commons."""


class CommonsError(RepertoireError):
    """The commons cannot be reached, or answered something that cannot be used."""


class CommonsRefused(CommonsError):
    """The commons refused one request; the same request again would be refused again."""


class LimitReached(CommonsError):
    """The commons takes no more of such requests from this key for a while."""


class ScopeMissing(CommonsRefused):
    """The key may not do this; another key of the same member may."""


class KeyRefused(CommonsError):
    """The key is unknown, expired or revoked."""
