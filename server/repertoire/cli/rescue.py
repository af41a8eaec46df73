"""`rescue`: checks whether the database is sound, and replaces it if it is damaged."""

from __future__ import annotations

import os
from pathlib import Path

import click

from repertoire.app.health.rescue import memory_rescue_text, mend, mend_memories, rescue_text
from repertoire.app.upkeep.background_refresh import start_detached_refresh
from repertoire.app.wiring import find_home
from repertoire.boot.home import database_path, writable
from repertoire.cli.output import json_option, show
from repertoire.settings import load


@click.command("rescue")
@json_option
def rescue_command(as_json: bool) -> None:
    r"""Mend a damaged database: set it aside, dated, and bring a person's own into a new one.

    That is sources, the log, past requests, traces, mutes, corrections, trust acceptances, dismissals and advisories:
    out of the damaged file where SQLite still reads them, else out of the backup that every refresh and ingest writes.
    It says what came from where and what is lost. Components are read again from their sources. The damaged file is
    never deleted.
    The memories of projects are checked and mended in the same way: notes, tasks and procedures come over.
    Every command that meets damage does the same by itself; this one checks the file from end to end.

    \b
    repertoire rescue
    repertoire rescue --json
    """
    home = find_home()
    settings = load(home, os.environ)
    told, memories = mend(home), mend_memories(home)
    if told is not None and settings.background:
        start_detached_refresh(home)
    show(
        {
            **({"sound": True} if told is None else {"sound": False, **told.data()}),
            "memories": [{"file": str(file), **one.data()} for file, one in memories.items()],
        },
        lambda: "\n".join(
            [
                _sound(database_path(home)) if told is None else rescue_text(home, told),
                *(memory_rescue_text(file, one) for file, one in memories.items()),
            ]
        ),
        as_json=as_json,
    )


def _sound(path: Path) -> str:
    unwritable = path.exists() and not (os.access(path, os.W_OK) and writable(path.parent))
    return f"{path} is sound" + ("; it cannot be written from here: nothing is kept" if unwritable else "")
