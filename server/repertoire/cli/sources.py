"""`ingest`, `refresh`, `sources` and `remove`: the commands for the sources of components."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from repertoire.app.packs.places import packs_folder
from repertoire.app.sources.file_outcomes import account
from repertoire.app.sources.ingest import ingest
from repertoire.app.sources.remove import remove
from repertoire.app.sources.unreachable import lost_sources
from repertoire.app.upkeep.background_refresh import RUNS_ALREADY, RefreshRunning
from repertoire.app.upkeep.refresh import refresh
from repertoire.app.wiring import open_repertoire
from repertoire.cli.completion import places, source_keys
from repertoire.cli.output import json_option, progress, quiet_option, show
from repertoire.cli.prepare import embed_missing_vectors, report_steps, wait_reporter
from repertoire.cli.terminal import TextTable
from repertoire.domain.text import counted
from repertoire.rendering.sources import fate_data, fates_text, ingest_data, ingest_text, source_data, sources_text


@click.command("ingest")
@click.argument("source", shell_complete=places)
@click.option("--untrusted", is_flag=True, help="Refuse private hosts and folders outside this project.")
@quiet_option
@click.option("--wait", is_flag=True, help="Also wait for the vectors. Without it they are made in the background.")
@json_option
def ingest_command(source: str, untrusted: bool, quiet: bool, wait: bool, as_json: bool) -> None:
    r"""Read SOURCE into the graph: a folder, an archive, a git address, a package, `installed` or `catalogue`.

    A package is downloaded with your own npm or pip; none of its code is run.

    \b
    repertoire ingest https://github.com/obra/superpowers
    repertoire ingest ./my-plugins --json
    repertoire ingest npm:@modelcontextprotocol/server-filesystem
    repertoire ingest pypi:mcp-server-fetch
    """
    with open_repertoire() as repertoire:
        with progress(quiet=quiet) as bar:
            reports = ingest(
                repertoire.store,
                repertoire.home,
                source,
                settings=repertoire.settings,
                trusted=not untrusted,
                report=report_steps(bar),
            )
        told = [ingest_data(report) for report in reports]
        show(told[0] if len(told) == 1 else told, lambda: ingest_text(reports), as_json=as_json)
        embed_missing_vectors(repertoire, wait=wait)


@click.command("refresh")
@click.option("--text-only", is_flag=True, help="Do not make vectors; the next refresh makes them.")
@click.option("--quiet", is_flag=True, help="Show nothing, and stop at once if another refresh is running.")
@click.option("--unasked", is_flag=True, hidden=True)  # used by sessions: the setting `fetch` applies
@json_option
def refresh_command(text_only: bool, quiet: bool, unasked: bool, as_json: bool) -> None:
    r"""Read all sources again, and what Claude Code has on this machine, then make vectors for what is new.

    If another refresh is running, wait until it ends.

    \b
    repertoire refresh
    repertoire refresh --text-only
    """
    with open_repertoire() as repertoire, progress(quiet=quiet) as bar:
        settings = repertoire.settings
        try:
            reports = refresh(
                repertoire.store,
                repertoire.home,
                settings=replace(settings, fetch=settings.fetch or not unasked),
                embedder=None if text_only else repertoire.embedder,
                report=report_steps(bar),
                waiting=None if quiet else wait_reporter(repertoire, bar),
            )
        except RefreshRunning:
            sys.exit(RUNS_ALREADY if unasked else 0)
    if not quiet:
        show([ingest_data(report) for report in reports], lambda: ingest_text(reports), as_json=as_json)


@click.command("sources")
@click.option(
    "--files",
    "source",
    metavar="SOURCE",
    shell_complete=source_keys,
    help="Show what each file of one source (a key or an address) is: a component, a part of one, or why it is none.",
)
@json_option
def sources_command(source: str | None, as_json: bool) -> None:
    r"""List the sources: key, kind, number of components, and when each was read.

    \b
    repertoire sources
    repertoire sources --files github.com/owner/name --json
    """
    with open_repertoire() as repertoire:
        if source is not None:
            fates = account(repertoire.store, repertoire.home, source, settings=repertoire.settings)
            show([fate_data(fate) for fate in fates], lambda: fates_text(fates), as_json=as_json)
            return
        rows = repertoire.store.sources.all()
        lost = {item.source: item for item in lost_sources(repertoire.store)}
    show(
        [source_data(row, lost.get(row.info.key)) for row in rows],
        lambda: sources_text(rows, lost),
        as_json=as_json,
        table=lambda: TextTable(
            ("source", "kind", "components", "read", *([""] if lost else [])),
            [
                (
                    row.info.key,
                    row.info.kind,
                    row.components,
                    row.ingested_at[:10],
                    *(["not read" if row.info.key in lost else ""] if lost else []),
                )
                for row in rows
            ],
            f"{counted(len(lost), 'source')} not read again; `repertoire stale` says why" if lost else "",
        ),
    )


@click.command("remove")
@click.argument("source", shell_complete=source_keys)
@json_option
def remove_command(source: str, as_json: bool) -> None:
    r"""Remove SOURCE (a key from `repertoire sources`) and its components from the graph; its files stay.

    \b
    repertoire remove github.com/owner/name
    """
    with open_repertoire() as repertoire:
        components = remove(repertoire.store, source, packs=packs_folder(repertoire.home))
    told = {"source": source, "components": components}
    show(told, lambda: f"removed {source}: {counted(components, 'component')}", as_json=as_json)
