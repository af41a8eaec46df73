"""`trace`: the commands that search, list, contribute, vote on, export and import traces."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import click

from repertoire.app.clock import now
from repertoire.app.traces.contribute import Contribution
from repertoire.app.traces.embed import all_embedded, embed_latest
from repertoire.app.traces.exchange import exported, import_lines
from repertoire.app.traces.fields import TraceFields
from repertoire.app.traces.search import TraceQuery
from repertoire.app.traces.voting import NewVote
from repertoire.app.wiring import open_repertoire
from repertoire.cli.answering import answer
from repertoire.cli.output import json_option, progress, show, show_answer
from repertoire.domain.event import Moment
from repertoire.domain.trace import COMPLAINTS, OUTCOMES, WORKED
from repertoire.rendering.traces import contribution_data, contribution_in_shell
from repertoire.verbs.traces import (
    AMEND,
    CONTRIBUTE,
    LIST_TRACES,
    SEARCH_TRACES,
    SHOW_TRACE,
    TAGS,
    VOTE,
    AmendRequest,
    ContributeRequest,
    environment_from,
)
from repertoire.verbs.verb import Context, Verb

_REFUSED = 20  # lines of a file that are told: all of one that is no export would push everything else away
_FOUND = {  # by whether their meaning is known already
    True: " Words, errors and questions of their meaning find them at once.",
    False: " Words and errors find them at once; a refresh learns their meaning.",
}
_tag = click.option("--tag", "tags", multiple=True, metavar="TAG", help="A language, framework or tool; repeatable.")
_environment = click.option(
    "--env",
    "environment",
    multiple=True,
    metavar="PLACE=VALUE",
    help="Of language, framework, os, package_manager, runtime: `language=python 3.12`; repeatable.",
)
_error = click.option("--error", default="", help="What the failing command printed; `-` reads it from standard input.")


@click.group("trace")
def trace_command() -> None:
    r"""Find problems that were solved once, and keep what was solved now.

    \b
    repertoire trace search "vite build runs out of memory"
    npm test 2>&1 | repertoire trace search --error -
    """


@trace_command.command("search")
@click.argument("words", nargs=-1, metavar="[QUERY]")
@_error
@_tag
@_environment
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="How many results.")
@click.option("--include-expired", is_flag=True, help="Also superseded ones, and those whose review is overdue.")
@json_option
def search_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    words: tuple[str, ...],
    error: str,
    tags: tuple[str, ...],
    environment: tuple[str, ...],
    limit: int,
    include_expired: bool,
    as_json: bool,
) -> None:
    r"""List the traces that may solve a problem, best first, with reasons and how far to trust each.

    \b
    repertoire trace search "connection refused in docker compose" --tag postgres
    repertoire trace search --error "ModuleNotFoundError: No module named 'yaml'"
    """
    wanted = TraceQuery(" ".join(words), _read(error), tags, environment_from(environment), limit, include_expired)
    answer(SEARCH_TRACES, wanted, as_json=as_json)


@trace_command.command("list")
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="How many traces.")
@json_option
def list_command(limit: int, as_json: bool) -> None:
    r"""List the traces that are kept here, the newest first, with project, date and how far to trust each.

    \b
    repertoire trace list --limit 5
    """
    answer(LIST_TRACES, limit, as_json=as_json)


@trace_command.command("show")
@click.argument("trace")
@json_option
def show_command(trace: str, as_json: bool) -> None:
    r"""Show TRACE whole, by its key.

    \b
    repertoire trace show 1f0c2d3e4b5a
    """
    answer(SHOW_TRACE, trace, as_json=as_json)


@trace_command.command("contribute")
@click.argument("draft", default="", metavar="")
@click.option("--title", default="", help="What it is about, in a line.")
@click.option("--context", default="", help="The problem: what was seen, what was tried.")
@click.option("--solution", default="", help="What was done.")
@_error
@_tag
@_environment
@click.option("--outcome", type=click.Choice(OUTCOMES), default=WORKED, show_default=True, help="How it went.")
@click.option(
    "--use",
    "uses",
    multiple=True,
    metavar="KEY",
    help="A component, capability, package, or a file or symbol of the project that it took.",
)
@click.option("--review-after", default="", metavar="DATE", help="The day from which it is to be looked at again.")
@click.option("--watch", default="", help='Until when it holds: "until vite >= 6".')
@click.option("--licence", default="", help="Under which it may be passed on.")
@click.option("--confirm", "token", default="", metavar="TOKEN", help="Keep the draft that showed this token.")
@click.option("--discard", "discarded", default="", metavar="TOKEN", help="Delete the draft that showed this token.")
@click.option("--yes", is_flag=True, help="Keep it without looking at the draft.")
@json_option
def contribute_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    draft: str,
    title: str,
    context: str,
    solution: str,
    error: str,
    tags: tuple[str, ...],
    environment: tuple[str, ...],
    outcome: str,
    uses: tuple[str, ...],
    review_after: str,
    watch: str,
    licence: str,
    token: str,
    discarded: str,
    yes: bool,
    as_json: bool,
) -> None:
    r"""Contribute a solved problem: show the redacted draft and a token; `--confirm TOKEN` keeps it.

    \b
    repertoire trace contribute --title "Vite runs out of memory" --context "..." --solution "..." --tag vite
    repertoire trace contribute --confirm 5f3a9c01
    """
    if draft:
        message = f"`repertoire trace show {draft}` shows the draft, `trace contribute --confirm {draft}` keeps it"
        raise click.UsageError(message)
    if token or discarded:
        asked = ContributeRequest(token=token or discarded, discard=bool(discarded))
    else:
        told = TraceFields(
            title,
            context,
            solution,
            tags,
            environment_from(environment),
            _read(error),
            outcome,
            uses,
            review_after,
            watch,
            licence,
        )
        asked = ContributeRequest(told)
    with open_repertoire() as repertoire:
        place = Context.of(repertoire)
        done = CONTRIBUTE.run(place, asked)
        if yes and done.token:
            done = CONTRIBUTE.run(place, ContributeRequest(token=done.token))
        show_answer(_in_shell(CONTRIBUTE), done, as_json=as_json)


def _in_shell(verb: Verb[Any, Contribution]) -> Verb[Any, Contribution]:
    """Return a verb whose answer speaks to the person at the shell, not to a model."""
    return replace(verb, text=contribution_in_shell, data=partial(contribution_data, text=contribution_in_shell))


@trace_command.command("amend")
@click.argument("trace")
@click.option("--title", default=None, help="Its new title.")
@click.option("--context", default=None, help="The problem, told anew.")
@click.option("--solution", default=None, help="The solution, told anew.")
@click.option("--outcome", type=click.Choice(OUTCOMES), default=None, help="How it went.")
@click.option("--review-after", default=None, metavar="DATE", help="The day from which it is to be looked at again.")
@click.option("--watch", default=None, help="Until when it holds.")
@json_option
def amend_command(trace: str, as_json: bool, **changes: str | None) -> None:
    r"""Draft a changed version of TRACE; once the draft is confirmed, it replaces the old one, which is kept.

    \b
    repertoire trace amend 1f0c2d3e4b5a --solution "Raise the limit, and split the chunks."
    """
    changed = {name: value for name, value in changes.items() if value is not None}
    answer(_in_shell(AMEND), AmendRequest(trace, changed), as_json=as_json)


@trace_command.command("vote")
@click.argument("trace")
@click.argument("direction", type=click.Choice(["up", "down"]))
@click.option("--tag", type=click.Choice(COMPLAINTS), default=None, help="What is wrong with it.")
@click.option("--note", default="", help="Why, in a few words.")
@_environment
@json_option
def vote_command(
    trace: str, direction: str, tag: str | None, note: str, environment: tuple[str, ...], as_json: bool
) -> None:
    r"""Say whether TRACE helped; voting again changes the vote.

    \b
    repertoire trace vote 1f0c2d3e4b5a up
    repertoire trace vote 1f0c2d3e4b5a down --tag outdated --note "the option is gone in 6"
    """
    verdict = NewVote(trace, direction == "up", tag or "", note, environment_from(environment))
    answer(VOTE, verdict, as_json=as_json)


@trace_command.command("tags")
@json_option
def tags_command(as_json: bool) -> None:
    r"""List the tags of all traces, the most used first.

    \b
    repertoire trace tags
    """
    answer(TAGS, None, as_json=as_json)


@trace_command.command("export")
@click.argument("file", type=click.File("w", encoding="utf-8", lazy=True), default="-")
def export_command(file: IO[str]) -> None:
    r"""Write every trace but drafts to FILE as JSON lines; sessions, projects and votes stay here.

    \b
    repertoire trace export traces.jsonl
    """
    with open_repertoire() as repertoire:
        lines = list(exported(repertoire.store))
    file.writelines(f"{line}\n" for line in lines)
    click.echo(f"Traces exported: {len(lines)}.", err=True)


@trace_command.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def import_command(file: Path, as_json: bool) -> None:
    r"""Read traces from FILE; each is redacted and checked, and the same one again changes nothing.

    Interrupted, it keeps what it has read; the same command reads the rest.

    \b
    repertoire trace import traces.jsonl
    """
    with open_repertoire() as repertoire:
        with file.open(encoding="utf-8", errors="replace") as lines:
            total = sum(1 for _ in lines)
        with file.open(encoding="utf-8", errors="replace") as lines, progress() as bar:
            done = import_lines(
                repertoire.store, lines, moment=Moment(now(), "", ""), report=lambda read: bar("lines", read, total)
            )
        learned, embedder = False, repertoire.embedder
        if embedder is not None:
            embed_latest(repertoire.store, embedder)
            learned = all_embedded(repertoire.store, embedder.model)
    refused = [f"line {number}: {why}" for number, why in done.refused]
    more = [f"and {len(refused) - _REFUSED} more; --json shows them"] if len(refused) > _REFUSED else []
    click.echo("".join(f"{line}\n" for line in (*refused[:_REFUSED], *more)), err=True, nl=False)
    data = {"added": done.added, "known": done.known, "refused": refused}
    show(
        data,
        lambda: (
            f"Traces added: {done.added}; known already: {done.known}; lines left out: {len(done.refused)}."
            + (_FOUND[learned] if done.added else "")
        ),
        as_json=as_json,
    )
    if done.refused and not done.added + done.known:
        sys.exit(1)


def _read(error: str) -> str:
    return sys.stdin.read() if error == "-" else error
