"""Answers a question by its verb in the opened home, and prints the answer."""

from __future__ import annotations

from typing import Any

from repertoire.app.wiring import open_repertoire
from repertoire.cli.output import show_answer
from repertoire.verbs.verb import Context, Verb


def answer(verb: Verb[Any, Any], question: object, *, project: str = "", as_json: bool) -> None:
    """Answer a question about the current or a named project, and print the answer as JSON or as text."""
    with open_repertoire() as repertoire:
        show_answer(verb, verb.run(Context.of(repertoire, project=project), question), as_json=as_json)
