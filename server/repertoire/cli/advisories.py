"""`advisories`: which components require packages that security advisories in a person's own files concern."""

from __future__ import annotations

from pathlib import Path

import click

from repertoire.app.sources.advisories import advisories, forget_advisories, kept_advisories
from repertoire.app.wiring import open_repertoire
from repertoire.cli.output import json_option, show
from repertoire.rendering.advisories import advisories_data, advisories_text, forgotten_advisories_text


@click.command("advisories")
@click.argument("place", metavar="[FILE|DIR]", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--forget", is_flag=True, help="Drop all that were kept.")
@json_option
def advisories_command(place: Path | None, forget: bool, as_json: bool) -> None:
    r"""Match OSV records, a JSON file or a folder of them, to the npm and PyPI packages that components require.

    What was read is kept: without FILE or DIR it is matched anew, and answers warn of it.

    \b
    repertoire advisories ./osv
    repertoire advisories
    """
    with open_repertoire() as repertoire:
        if forget:
            gone = forget_advisories(repertoire.store)
            show({"forgotten": gone}, lambda: forgotten_advisories_text(gone), as_json=as_json)
            return
        found = advisories(repertoire.store, place) if place is not None else kept_advisories(repertoire.store)
    show(advisories_data(found), lambda: advisories_text(found), as_json=as_json)
