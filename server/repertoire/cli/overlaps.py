"""`overlaps`: what gets in each other's way or does the same, what to do about it, and what a person has dismissed."""

from __future__ import annotations

import click

from repertoire.app.ask.overlaps import EVERYWHERE, INSTALLED, PARTLY, dismiss, list_again, overlaps
from repertoire.app.clock import now
from repertoire.app.wiring import open_repertoire
from repertoire.cli.output import json_option, show
from repertoire.rendering.overlaps import dismissed_text, overlap_data, overlaps_data, overlaps_text


@click.command("overlaps")
@click.option("--installed", is_flag=True, help="Only where both are installed.")
@click.option("--all", "everywhere", is_flag=True, help="Also where neither is installed.")
@click.option(
    "--dismiss", "ids", multiple=True, metavar="ID", help="Never list this one again until its content changes."
)
@click.option("--undo", is_flag=True, help="With --dismiss: list it again.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="How many are shown.")
@json_option
def overlaps_command(
    installed: bool, everywhere: bool, ids: tuple[str, ...], undo: bool, limit: int, as_json: bool
) -> None:
    r"""List components that conflict, are copies of each other or do the same job, and what to do.

    \b
    repertoire overlaps
    repertoire overlaps --all --limit 100
    repertoire overlaps --dismiss 3fa29c01
    """
    if (installed and everywhere) or (undo and not ids):
        message = "--installed and --all exclude each other; --undo goes with --dismiss ID"
        raise click.UsageError(message)
    with open_repertoire() as repertoire:
        store = repertoire.store
        if ids:
            done = list_again(store, ids) if undo else dismiss(store, ids, now=now())
            show([overlap_data(one) for one in done], lambda: dismissed_text(done, undone=undo), as_json=as_json)
            return
        scope = INSTALLED if installed else EVERYWHERE if everywhere else PARTLY
        found = overlaps(store, scope=scope, limit=limit)
        show(overlaps_data(found), lambda: overlaps_text(found), as_json=as_json)
