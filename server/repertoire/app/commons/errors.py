"""The errors of the client of a commons, and of who starts its server without a database."""

from __future__ import annotations

from repertoire.domain.errors import RepertoireError


class NotJoined(RepertoireError):
    """The home has joined no commons."""


class NoDatabase(RepertoireError):
    """The server of a commons is to start, and no variable names its PostgreSQL."""

    def __init__(self) -> None:
        super().__init__("DATABASE_URL is not set; name a PostgreSQL with pgvector, or try a commons with --dev")


class NoLocalPostgres(RepertoireError):
    """The PostgreSQL of `--dev` cannot be started; the message says for want of what."""


class CommonsError(RepertoireError):
    """The commons cannot be reached, or answered something that cannot be used."""


class CommonsRefused(CommonsError):
    """The commons refused one request; the same request again would be refused again."""


class LimitReached(CommonsError):
    """The commons takes no more of such requests from this key for a while."""


class ScopeMissing(CommonsRefused):
    """The key may not do this; another key of the same member may."""


class NotThere(CommonsRefused):
    """The commons has no such trace, or shows it to nobody until a moderator has looked at it."""


class KeyRefused(CommonsError):
    """The key is unknown, expired or revoked."""
