"""`status`, `overlaps`, `stale`, `advisories`, `doctor`: commands that show the state of a home and its problems."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import click

from repertoire.app.ask.overlaps import EVERYWHERE, INSTALLED, PARTLY, dismiss, list_again, overlaps
from repertoire.app.clock import now
from repertoire.app.health.stale import StaleFilter, stale
from repertoire.app.sources.advisories import advisories, forget_advisories, kept_advisories
from repertoire.app.wiring import open_repertoire
from repertoire.cli.answering import answer
from repertoire.cli.checkup import checkup
from repertoire.cli.output import json_option, show
from repertoire.rendering.health import stale_data, stale_text
from repertoire.rendering.overlaps import dismissed_text, overlap_data, overlaps_data, overlaps_text
from repertoire.rendering.sources import advisories_data, advisories_text, forgotten_advisories_text
from repertoire.verbs.status import STATUS

_SPAN = re.compile(r"(\d{1,5})([dwmy]?)")
_UNITS = {"d": 1.0, "w": 7.0, "m": 30.44, "y": 365.25}


@click.command("status")
@json_option
def status_command(as_json: bool) -> None:
    r"""Show what is known, what was suggested and why, what was used, and what is wrong.

    \b
    repertoire status
    repertoire status --json
    """
    answer(STATUS, None, as_json=as_json)


@click.command("overlaps")
@click.option("--installed", is_flag=True, help="Only pairs in which both are installed.")
@click.option("--all", "everywhere", is_flag=True, help="Also pairs in which neither is installed.")
@click.option(
    "--dismiss", "ids", multiple=True, metavar="ID", help="Do not list this pair again until one of the two changes."
)
@click.option("--undo", is_flag=True, help="With --dismiss: list the pair again.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="The most entries to show.")
@click.option("--offset", default=0, type=click.IntRange(min=0), help="Leave out so many first ones.")
@json_option
def overlaps_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    installed: bool, everywhere: bool, ids: tuple[str, ...], undo: bool, limit: int, offset: int, as_json: bool
) -> None:
    r"""List components that conflict, are copies of each other or do the same job, and what to do.

    \b
    repertoire overlaps
    repertoire overlaps --all --limit 100
    repertoire overlaps --dismiss 3fa29c01
    """
    if (installed and everywhere) or (undo and not ids):
        message = "use either --installed or --all; use --undo together with --dismiss ID"
        raise click.UsageError(message)
    with open_repertoire() as repertoire:
        store = repertoire.store
        if ids:
            done = list_again(store, ids) if undo else dismiss(store, ids, now=now())
            show([overlap_data(one) for one in done], lambda: dismissed_text(done, undone=undo), as_json=as_json)
            return
        scope = INSTALLED if installed else EVERYWHERE if everywhere else PARTLY
        found = overlaps(store, scope=scope, limit=limit, offset=offset)
        show(overlaps_data(found), lambda: overlaps_text(found), as_json=as_json)


class _TimeSpan(click.ParamType[int]):
    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of days in a span such as `90d`, `12w`, `18m` or `2y`."""
        if isinstance(value, int):
            return value
        found = _SPAN.fullmatch(str(value).strip().lower())
        if not found or not int(found.group(1)):
            self.fail(f"{value!r} is not a time span; write 90d, 12w, 18m or 2y", param, ctx)
        return round(int(found.group(1)) * _UNITS[found.group(2) or "d"])


@click.command("stale")
@click.option(
    "--older-than", type=_TimeSpan(), default=0, metavar="SPAN", help="Judge by age only: 90d, 12w, 18m or 2y."
)
@click.option("--installed", is_flag=True, help="Only installed components.")
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="The most entries to show."
)
@json_option
def stale_command(older_than: int, installed: bool, limit: int, as_json: bool) -> None:
    r"""List stale components, with reasons and what to do. Nothing is deleted.

    Each installed plugin is compared, byte by byte, with its current version in the marketplace.

    \b
    repertoire stale
    repertoire stale --installed --older-than 18m
    """
    with open_repertoire() as repertoire:
        report = stale(repertoire, StaleFilter(older_than, installed=installed, limit=limit), environment=os.environ)
    show(stale_data(report), lambda: stale_text(report), as_json=as_json)


@click.command("advisories")
@click.argument("place", metavar="[FILE|DIR]", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--forget", is_flag=True, help="Delete all stored advisories.")
@json_option
def advisories_command(place: Path | None, forget: bool, as_json: bool) -> None:
    r"""Match OSV records (a JSON file or a folder of them) to the npm and PyPI packages that components require.

    The records are stored: without FILE or DIR they are matched again, and answers warn of every match.

    \b
    repertoire advisories ./osv
    repertoire advisories
    """
    if forget and place is not None:
        message = "use either FILE|DIR or --forget, which deletes all stored advisories"
        raise click.UsageError(message)
    with open_repertoire() as repertoire:
        if forget:
            gone = forget_advisories(repertoire.store)
            show({"forgotten": gone}, lambda: forgotten_advisories_text(gone), as_json=as_json)
            return
        found = advisories(repertoire.store, place) if place is not None else kept_advisories(repertoire.store)
    show(advisories_data(found), lambda: advisories_text(found), as_json=as_json)


@click.command("doctor")
@json_option
@click.pass_context
def doctor_command(context: click.Context, as_json: bool) -> None:
    r"""Check every part of the installation and say how to repair what is broken.

    Each line is ok, warn or fail: interpreter, home, environment, vector extension, settings, model, database, sources,
    the room for descriptions of skills, missing vectors, backup, advisories, hooks, and the registration with Claude
    Code. It works even if the environment or the database is broken.
    Exit status: 0 if nothing is broken (warnings do not count), 1 if something is.

    \b
    repertoire doctor
    repertoire doctor --json
    """
    context.exit(checkup(as_json=as_json))
