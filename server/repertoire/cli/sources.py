"""`ingest`, `refresh`, `sources` and `remove`: where components come from."""

from __future__ import annotations

import click

from repertoire.app.ingest import Step, ingest
from repertoire.app.wiring import open_repertoire
from repertoire.cli.output import json_option, progress, show
from repertoire.rendering.reports import ingest_text


@click.command("ingest")
@click.argument("source", default="installed")
@click.option("--untrusted", is_flag=True, help="Refuse private hosts and folders outside this project.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@json_option
def ingest_command(source: str, untrusted: bool, quiet: bool, as_json: bool) -> None:
    r"""Read SOURCE into the graph: a folder, a git address, `installed` or `catalogue`.

    \b
    repertoire ingest https://github.com/obra/superpowers
    repertoire ingest ./my-plugins --json
    """
    with open_repertoire() as repertoire, progress(quiet=quiet) as bar:

        def tell(step: Step) -> None:
            bar(f"{step.stage} {step.source}".strip(), step.done, step.total)

        reports = ingest(
            repertoire.store,
            repertoire.home,
            source,
            settings=repertoire.settings,
            trusted=not untrusted,
            report=tell,
        )
    show(reports[0] if len(reports) == 1 else reports, lambda: ingest_text(reports), as_json=as_json)
