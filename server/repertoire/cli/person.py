"""`status`, `mute` and `forget`: what a person sees and decides."""

from __future__ import annotations

from pathlib import Path

import click

from repertoire.app.person.forget import ALL, PROJECT, REQUESTS
from repertoire.app.wiring import open_repertoire
from repertoire.cli.completion import targets
from repertoire.cli.output import json_option, tell
from repertoire.verbs.decisions import FORGET, MUTE, Silence
from repertoire.verbs.state import STATUS
from repertoire.verbs.verb import Context


@click.command("status")
@json_option
def status_command(as_json: bool) -> None:
    r"""Tell what is known, what was suggested and why, what was used, and what is wrong.

    \b
    repertoire status
    repertoire status --json
    """
    with open_repertoire() as repertoire:
        tell(STATUS, STATUS.run(Context.of(repertoire), None), as_json=as_json)


@click.command("mute")
@click.argument("target", shell_complete=targets)
@click.option("--here", is_flag=True, help="In this project alone.")
@click.option("--undo", is_flag=True, help="Suggest it again.")
@json_option
def mute_command(target: str, here: bool, undo: bool, as_json: bool) -> None:
    r"""Never suggest TARGET again: a component's id or name, a source's key, or `project` for this folder.

    \b
    repertoire mute code-reviewer
    repertoire mute code-reviewer --here
    repertoire mute github.com/owner/name
    repertoire mute project --undo
    """
    with open_repertoire() as repertoire:
        done = MUTE.run(Context.of(repertoire), Silence(target, here=here, undo=undo))
    tell(MUTE, done, as_json=as_json)


@click.command("forget")
@click.option("--requests", is_flag=True, help="Every stored prompt, what was selected for it, and the log.")
@click.option("--project", type=click.Path(path_type=Path), help="What was asked and used in one project's folder.")
@click.option("--all", "everything", is_flag=True, help="Everything that was recorded about you.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def forget_command(requests: bool, project: Path | None, everything: bool, yes: bool, as_json: bool) -> None:
    r"""Delete what was recorded, for good: rows, full text, vectors and the write-ahead log.

    \b
    repertoire forget --requests
    repertoire forget --project . --yes
    """
    if (requests, project is not None, everything).count(True) != 1:
        message = "say one of --requests (of every project), --project FOLDER (all of one project) and --all"
        raise click.UsageError(message)
    what = REQUESTS if requests else ALL if everything else PROJECT
    if not yes:
        click.confirm(f"Delete {what} for good?", abort=True, err=True)
    with open_repertoire() as repertoire:
        tell(FORGET, FORGET.run(Context.of(repertoire, project=str(project or "")), what), as_json=as_json)
