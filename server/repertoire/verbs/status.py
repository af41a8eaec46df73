"""Defines the verb that shows the status of a home."""

from __future__ import annotations

from repertoire.app.health.status import Status, status
from repertoire.rendering.health import status_data, status_text
from repertoire.verbs.verb import Context, Verb


def _status(context: Context, _question: None) -> Status:
    return status(context.repertoire, environment=context.environment)


STATUS: Verb[None, Status] = Verb(_status, status_text, status_data)
