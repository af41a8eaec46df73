"""`advisories`: which components require packages that security advisories in a person's own files concern."""

from __future__ import annotations

from pathlib import Path

import click

from repertoire.app.advisories import advisories
from repertoire.app.wiring import open_repertoire
from repertoire.cli.output import json_option, show
from repertoire.rendering.advisories import advisories_text


@click.command("advisories")
@click.argument("place", metavar="FILE|DIR", type=click.Path(exists=True, path_type=Path))
@json_option
def advisories_command(place: Path, as_json: bool) -> None:
    r"""Match OSV records, a JSON file or a folder of them, to the npm and PyPI packages that components require.

    \b
    repertoire advisories ./osv
    """
    with open_repertoire() as repertoire:
        found = advisories(repertoire.store, place)
    show(found, lambda: advisories_text(found), as_json=as_json)
