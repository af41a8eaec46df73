"""`install`: shows the changes that install lines make, asks, makes them, and undoes them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import click

from repertoire.app.current_project import current_project
from repertoire.app.installation.install import (
    INSTALLED_COMPONENTS,
    LAST_INSTALLATION,
    InstallRequest,
    install,
    plan,
    undo,
    unreadable_installations,
)
from repertoire.app.kernel import Repertoire
from repertoire.app.sources.ingest import ingest
from repertoire.app.usage.installs import note_installs
from repertoire.app.wiring import find_home, open_repertoire
from repertoire.cli.completion import component_names
from repertoire.cli.output import ask_to_go_on, json_option, progress, show, yes_option
from repertoire.cli.prepare import prepared, report_steps
from repertoire.rendering.installation import done_text, plan_data, plan_text, undone_data, undone_text


@click.command("install")
@click.argument("components", nargs=-1, metavar="ID...", shell_complete=component_names)
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@yes_option
@click.option(
    "--project", "for_project", is_flag=True, help="Install for this project only. Default: for you, in all projects."
)
@click.option(
    "--alone", is_flag=True, help="Copy one skill, agent or command of a plugin, without the rest of the plugin."
)
@click.option("--flagged", is_flag=True, help="Also install components in which the checks found something serious.")
@click.option(
    "--undo",
    "undone",
    is_flag=False,
    flag_value=LAST_INSTALLATION,
    metavar="[N|last]",
    help="Undo an installation: restore every file byte for byte.",
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
    r"""Install components by id or name: show the changes, ask, make them, and keep what was there before.

    A component of a plugin is installed with its plugin, by `claude plugin install`. Any other component is copied or
    merged into ~/.claude. No code of a component is run. Of several of one name, the one suggested last is meant.

    \b
    repertoire install test-driven-development --dry-run
    repertoire install silent-failure-hunter --project
    repertoire install ecc:fastapi-reviewer --alone
    repertoire install --undo
    """
    if bool(components) == (undone is not None):
        message = "name the components to install, or use --undo"
        raise click.UsageError(message)
    if undone is not None and dry_run:
        message = "--undo takes back at once, and has no --dry-run; `repertoire install --undo` tells what it restored"
        raise click.UsageError(message)
    if undone is not None:
        back = undo(find_home(), os.environ, undone)
        show(undone_data(back), lambda: undone_text(back), as_json=as_json)
        _tell_unreadable(find_home())
        _read_again()
        return
    wanted = InstallRequest(
        components,
        Path(current_project()),
        os.environ,
        for_project=for_project,
        flagged=flagged,
        alone=alone,
        dry=dry_run,
    )
    with open_repertoire() as repertoire, prepared(repertoire, wait=False):
        home, settings = repertoire.home, repertoire.settings
        _read_installed(repertoire)  # what somebody deleted by hand can be installed anew
        first = plan(repertoire.store, home, replace(wanted, dry=True), settings=settings)
        if dry_run or not any(part.unread for part in first.parts):
            decided = first
        else:
            click.echo(plan_text(first), err=True)
            if not yes:
                ask_to_go_on("Read it?")
            with progress() as bar:
                decided = plan(repertoire.store, home, wanted, settings=settings, report=report_steps(bar))
    if dry_run or not decided.changes:
        show(plan_data(decided), lambda: plan_text(decided), as_json=as_json)
        return
    if not yes:
        click.echo(plan_text(decided), err=True)
        ask_to_go_on("Make these changes?")
    entry = install(home, decided, wanted)
    told = plan_data(decided, journal=entry.name)
    show(told, lambda: done_text(entry) if not yes else f"{plan_text(decided)}\n{done_text(entry)}", as_json=as_json)
    _tell_unreadable(home)
    _read_again()


def _tell_unreadable(home: Path) -> None:
    for message in unreadable_installations(home):
        click.echo(f"note: {message}", err=True)


def _read_again() -> None:
    """Read again what Claude Code has, so that answers know what is installed, and learning for what."""
    with open_repertoire() as repertoire:
        _read_installed(repertoire)
        if not repertoire.store.read_only:
            note_installs(repertoire.store, repertoire.settings)


def _read_installed(repertoire: Repertoire) -> None:
    if not repertoire.store.read_only:
        with progress() as bar:
            ingest(
                repertoire.store,
                repertoire.home,
                INSTALLED_COMPONENTS,
                settings=repertoire.settings,
                report=report_steps(bar),
            )
