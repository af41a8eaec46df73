"""The errors of a commons' server beside those that a home has, too."""

from __future__ import annotations

from repertoire.domain.errors import RepertoireError


class NotAllowed(RepertoireError):
    """The key's member may not do this; the message says who may."""


class Conflict(RepertoireError):
    """What is stored already contradicts the request; the message says what to do instead."""


class TooManyRequests(RepertoireError):
    """A limit or a quota is used up; `wait_s` are the seconds until there is room again."""

    def __init__(self, message: str, wait_s: int) -> None:
        super().__init__(message)
        self.wait_s = wait_s
