"""Answers a question by its verb in the opened home, and prints the answer."""

from __future__ import annotations

from typing import Any

from repertoire.app.current_project import current_folder, current_project
from repertoire.app.projects.places import path_from
from repertoire.app.wiring import find_home, open_repertoire
from repertoire.cli.output import show_answer
from repertoire.domain.errors import InvalidRequest
from repertoire.verbs.verb import Context, Verb


def from_here(named: str, project: str, *, folders: bool = False) -> str:
    """Return a path as the current project writes it where the current folder has it; anything else as it was named.

    Whoever names a project writes its paths as from that project's folder.
    """
    if project:
        return named
    try:
        here = current_folder()
    except InvalidRequest:  # a removed one holds no path
        return named
    return path_from(find_home(), current_project(), here, named, folders=folders)


def answer(verb: Verb[Any, Any], question: object, *, project: str = "", as_json: bool) -> None:
    """Answer a question about the current or a named project, and print the answer as JSON or as text."""
    with open_repertoire() as repertoire:
        show_answer(verb, verb.run(Context.of(repertoire, project=project), question), as_json=as_json)
