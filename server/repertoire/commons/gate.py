"""Refuses what must not be shared: secrets, mail addresses, home folders and internal hosts, with the place of each."""

from __future__ import annotations

from itertools import zip_longest

from repertoire.app.traces.fields import TraceFields
from repertoire.domain.errors import InvalidRequest
from repertoire.traces.privacy import without_places
from repertoire.trust.redaction import redact


class Refused(InvalidRequest):
    """A text holds what must not be shared; `field` and `line` say where. The text itself is not repeated."""

    def __init__(self, field: str, line: int, what: str) -> None:
        super().__init__(f"line {line} of the {field} holds {what}; remove it and send the rest again")
        self.field, self.line, self.what = field, line, what


def refuse_secrets(told: TraceFields) -> None:
    """Raise Refused if any text of a trace holds a secret, a mail address, a home folder or an internal host.

    Raises:
        Refused: a part of it must not be shared.
    """
    for field in ("title", "context", "error", "solution", "watch", "licence"):
        refuse_in(field, getattr(told, field))
    for field, words in (("tags", told.tags), ("uses", told.uses), ("environment", told.environment.values())):
        refuse_in(field, "\n".join(words))


def refuse_in(field: str, text: str) -> None:
    """Raise Refused if a text holds one of these; `field` names the text.

    Raises:
        Refused: a part of it must not be shared.
    """
    for clean, what in (
        (redact(text), "a secret or a mail address"),
        (without_places(text), "a home folder or an internal host"),
    ):
        if clean != text:
            raise Refused(field, _first_difference(text, clean), what)


def _first_difference(text: str, clean: str) -> int:
    pairs = zip_longest(text.splitlines(), clean.splitlines())
    return next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 1)
