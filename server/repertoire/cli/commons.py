"""`commons`: the commands that join a team's commons, sync with it, and run its server."""

from __future__ import annotations

import os
import sys
from datetime import datetime, timezone
from pathlib import Path

import click

from repertoire.app.commons import membership as memberships
from repertoire.app.commons.errors import NoDatabase
from repertoire.app.commons.outbox import outbox, withhold
from repertoire.app.commons.shared_use import allow, late_use, next_report, report_of, withdraws_next
from repertoire.app.commons.sync import join, leave, sync
from repertoire.app.commons.team_use import team_use
from repertoire.app.traces.embed import embed_latest
from repertoire.app.upkeep import commons_breaker as breaker
from repertoire.app.wiring import find_home, open_repertoire
from repertoire.boot.environment import ensure
from repertoire.boot.errors import BootError
from repertoire.boot.layout import COMMONS, become, command, ready
from repertoire.boot.progress import Terminal
from repertoire.cli.output import json_option, show
from repertoire.rendering.commons import (
    joined_text,
    membership_data,
    membership_text,
    outbox_data,
    outbox_text,
    sent_already_text,
    synced_data,
    synced_text,
    use_data,
    use_text,
)

PORT = 8392
_dev = click.option("--dev", is_flag=True, help="Use a PostgreSQL of this home, started when needed, to try it out.")


@click.group("commons")
def commons_command() -> None:
    r"""Share traces with a team: join its commons, or run one.

    \b
    repertoire commons serve --dev
    repertoire commons join https://commons.example.org --key-file key.txt
    """


@commons_command.command("join")
@click.argument("url")
@click.option(
    "--key-file",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The file with the key that the commons' administrator gave you.",
)
@json_option
def join_command(url: str, key_file: Path, as_json: bool) -> None:
    r"""Join the commons at URL; traces that you confirm from then on are sent to it.

    The key is copied into the home, readable by you alone. To use a new key, join again.

    \b
    repertoire commons join https://commons.example.org --key-file key.txt
    """
    with open_repertoire() as repertoire:
        joined = join(repertoire.store, repertoire.home, url, key_file)
    show(membership_data(joined, 0, breaker.CLOSED), lambda: joined_text(joined), as_json=as_json)


@commons_command.command("leave")
@json_option
def leave_command(as_json: bool) -> None:
    r"""Leave the commons and delete its key; traces that came from it stay here, what was sent stays there.

    \b
    repertoire commons leave
    """
    left = leave(find_home())
    show({"left": left.url}, lambda: f"left {left.url}", as_json=as_json)


@commons_command.command("status")
@json_option
def status_command(as_json: bool) -> None:
    r"""Show which commons is joined, what waits to be sent, and when the last sync was. Asks nobody.

    \b
    repertoire commons status
    """
    with open_repertoire() as repertoire:
        membership = memberships.of(repertoire.home)
        waiting = len(outbox(repertoire.store, membership))
    circuit = breaker.state(membership, datetime.now(timezone.utc))
    show(
        membership_data(membership, waiting, circuit),
        lambda: membership_text(membership, waiting, circuit),
        as_json=as_json,
    )


@commons_command.command("outbox")
@click.option(
    "--withhold", "kept", default="", metavar="TRACE", help="Never send this trace, its amendments, or votes on it."
)
@json_option
def outbox_command(kept: str, as_json: bool) -> None:
    r"""Show what the next sync sends, word for word.

    \b
    repertoire commons outbox
    repertoire commons outbox --withhold 1f0c2d3e4b5a
    """
    with open_repertoire() as repertoire:
        if kept:
            with memberships.changing(repertoire.home):
                membership = memberships.of(repertoire.home)
                key = withhold(repertoire.store, membership, kept)
                memberships.write(repertoire.home, membership)
            if key in membership.there():
                click.echo(sent_already_text(key), err=True)
        membership = memberships.of(repertoire.home)
        waiting = outbox(repertoire.store, membership)
        report = next_report(repertoire.store, repertoire.home, membership)
    withdraws = withdraws_next(membership)
    show(
        outbox_data(waiting, report, withdraws=withdraws),
        lambda: outbox_text(waiting, report, withdraws=withdraws),
        as_json=as_json,
    )


@commons_command.command("sync")
@json_option
def sync_command(as_json: bool) -> None:
    r"""Send the outbox now, and bring others' traces and votes. A refresh does the same.

    \b
    repertoire commons sync
    """
    with open_repertoire() as repertoire:
        done = sync(repertoire.store, repertoire.home)
        if repertoire.embedder is not None and done.traces:
            embed_latest(repertoire.store, repertoire.embedder)
    show(synced_data(done), lambda: synced_text(done), as_json=as_json)


@commons_command.command("use")
@click.option("--share/--no-share", default=None, help="Let each week's sync report this, or stop that.")
@json_option
def use_command(share: bool | None, as_json: bool) -> None:
    r"""Show which public components this home uses and was offered, and what the team tells of which.

    With --share, a sync reports that once a week: names of the shipped catalogue alone, and whether each worked as a
    random answer, untrue once in four times. The commons tells what five or more members reported, once a week, and
    never shows who. `commons outbox` shows a report before it goes; --no-share deletes it there.

    \b
    repertoire commons use
    repertoire commons use --share
    """
    with open_repertoire() as repertoire:
        home = repertoire.home
        membership = memberships.of(home) if share is None else allow(home, share=share)
        own, team = late_use(repertoire.store), team_use(home)
        report = report_of(own, home)
    show(use_data(membership, own, report, team), lambda: use_text(membership, own, report, team), as_json=as_json)


@commons_command.command("serve")
@_dev
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0: any free port.")
def serve_command(dev: bool, host: str, port: int) -> None:
    r"""Run the server of a commons on the PostgreSQL that DATABASE_URL names; it needs pgvector.

    The first run builds an environment for it in the home. With --dev, PostgreSQL and a worker run along, and the
    file with an administrator's key is printed. TLS is the business of a proxy in front of it.

    \b
    repertoire commons serve --dev
    DATABASE_URL=postgresql://commons@db/commons repertoire commons serve --host 0.0.0.0
    """
    _run("serve", "--host", host, "--port", str(port), dev=dev)


@commons_command.command("work")
@_dev
def work_command(dev: bool) -> None:
    r"""Run a worker on the PostgreSQL that DATABASE_URL names: it embeds what was contributed.

    A server without --dev needs one or more.

    \b
    repertoire commons work
    """
    _run("work", dev=dev)


@commons_command.command("jobs")
@_dev
@click.option("--retry", "chosen", default="", metavar="ID", help="Queue this job, or `all`, again.")
def jobs_command(dev: bool, chosen: str) -> None:
    r"""List the contributions that could not be embedded after ten attempts, or queue them again.

    \b
    repertoire commons jobs --retry all
    """
    _run("jobs", *(["--retry", chosen] if chosen else []), dev=dev)


@commons_command.command("backfill")
@_dev
@click.option("--show", "what", flag_value="show", help="Show how far it is, and change nothing.")
@click.option("--stop", "what", flag_value="stop", help="Stop it; searches read what they read before.")
@click.option(
    "--clear", "what", flag_value="clear", help="Delete the vectors that were replaced; there is no way back."
)
def backfill_command(dev: bool, what: str | None) -> None:
    r"""Let workers embed every trace with the configured model, and searches use it when all are done.

    Until then searches use the old model's vectors; servers and workers need both models. Ctrl-C ends the waiting
    alone: the workers go on. The same command goes on after --stop.

    \b
    REPERTOIRE_MODEL=BAAI/bge-small-en-v1.5 repertoire commons backfill
    repertoire commons backfill --clear
    """
    _run("backfill", *(["--do", what] if what else []), dev=dev)


@commons_command.command("key")
@_dev
@click.argument("community")
@click.argument("member")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--scope", "scopes", multiple=True, help="read, contribute, vote, moderate or admin; repeatable.")
@click.option("--days", type=int, default=365, show_default=True, help="How long it holds.")
@click.option(
    "--tier",
    type=click.Choice(("usual", "high")),
    default="usual",
    show_default=True,
    help="100 reads and 100 writes an hour; or 10,000 of each, for a program.",
)
def key_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    dev: bool, community: str, member: str, file: Path, scopes: tuple[str, ...], days: int, tier: str
) -> None:
    r"""Make a key for MEMBER of COMMUNITY on the server's database, and write it into FILE.

    Both are made where they are new. Without --scope the key may read, contribute and vote.

    \b
    repertoire commons key --dev team ann ann.key
    """
    given = [word for scope in scopes for word in ("--scope", scope)]
    _run("key", community, member, str(file.absolute()), "--days", str(days), "--tier", tier, *given, dev=dev)


def _run(verb: str, *arguments: str, dev: bool) -> None:
    """Replace this process by a command of the commons, in its environment, which is built where it is missing.

    Raises:
        NoDatabase: the command would find no PostgreSQL; nothing was built for it.
    """
    if not dev and not os.environ.get("DATABASE_URL"):
        raise NoDatabase
    home, terminal = find_home(), Terminal(sys.stderr)
    try:
        if ready(home, COMMONS) is None:
            click.echo(
                "the server of a commons has an environment of its own; it is built once (about 410 MB)", err=True
            )
        python = ensure(home, kind=COMMONS, report=terminal)
    except BootError as error:
        terminal.close()
        click.echo(f"repertoire: {error}", err=True)
        sys.exit(1)
    terminal.close()
    become(command(python, "repertoire.commons", verb, *(["--dev"] if dev else []), *arguments))
