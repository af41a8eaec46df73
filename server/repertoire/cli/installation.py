"""`install`: runs what the install lines say, after it has shown it, and takes it back."""

from __future__ import annotations

import os
from pathlib import Path

import click

from repertoire.app.installation.install import LAST_INSTALLATION, Wanted, install, plan, undo
from repertoire.app.project import present_project
from repertoire.app.wiring import find_home, open_repertoire
from repertoire.cli.completion import component_names
from repertoire.cli.output import json_option, progress, show
from repertoire.cli.prepare import prepared, tell_steps
from repertoire.rendering.installation import done_text, plan_data, plan_text, undone_data, undone_text


@click.command("install")
@click.argument("components", nargs=-1, metavar="ID...", shell_complete=component_names)
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--project", "for_project", is_flag=True, help="For this project alone; default: for you, everywhere.")
@click.option("--alone", is_flag=True, help="Copy a plugin's skill, agent or command without all else that it brings.")
@click.option("--flagged", is_flag=True, help="Also what the checks found something grave in.")
@click.option(
    "--undo",
    "undone",
    is_flag=False,
    flag_value=LAST_INSTALLATION,
    metavar="[N|last]",
    help="Take an installation back, byte for byte.",
)
@json_option
def install_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    components: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    for_project: bool,
    alone: bool,
    flagged: bool,
    undone: str | None,
    as_json: bool,
) -> None:
    r"""Install components, by id or name: show what will change, ask, change it, and keep what was there.

    A plugin's component is installed by the client (`claude plugin install`), with its plugin; anything else is
    copied or merged into ~/.claude. Nothing of a component is run.

    \b
    repertoire install test-driven-development --dry-run
    repertoire install code-reviewer --project
    repertoire install ecc:tdd-workflow --alone
    repertoire install --undo
    """
    if bool(components) == (undone is not None):
        message = "name what to install, or say --undo"
        raise click.UsageError(message)
    if undone is not None:
        back = undo(find_home(), os.environ, undone)
        show(undone_data(back), lambda: undone_text(back), as_json=as_json)
        return
    wanted = Wanted(
        components, Path(present_project()), os.environ, for_project=for_project, flagged=flagged, alone=alone
    )
    with open_repertoire() as repertoire, prepared(repertoire, wait=False):
        home = repertoire.home
        with progress() as bar:
            decided = plan(repertoire.store, home, wanted, settings=repertoire.settings, report=tell_steps(bar))
    if dry_run or not decided.changes:
        show(plan_data(decided), lambda: plan_text(decided), as_json=as_json)
        return
    if not yes:
        click.echo(plan_text(decided), err=True)
        click.confirm("Change this?", abort=True, err=True)
    entry = install(home, decided, wanted)
    told = plan_data(decided, journal=entry.name)
    show(told, lambda: done_text(entry) if not yes else f"{plan_text(decided)}\n{done_text(entry)}", as_json=as_json)
