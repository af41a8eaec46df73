"""`stats` and `review`: the commands that show statistics of use, and the relations that use suggests."""

from __future__ import annotations

import click

from repertoire.app.current_project import current_project
from repertoire.app.usage.learned_requests import learned_requests
from repertoire.app.usage.review import ACCEPTED, REJECTED, UNDECIDED, decide, renew_learned, review
from repertoire.app.usage.stats import stats
from repertoire.app.wiring import open_repertoire
from repertoire.cli.completion import component_names
from repertoire.cli.output import json_option, show
from repertoire.rendering.usage import (
    learned_requests_data,
    learned_requests_text,
    review_text,
    stats_data,
    stats_text,
    suggestion_data,
)


@click.command("stats")
@click.option(
    "--limit",
    default=20,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="The most components, or past requests, to show.",
)
@click.option(
    "--requests",
    is_flag=True,
    help="Show the past requests, the newest first: those from which was learned, then the others.",
)
@click.option(
    "--component",
    default="",
    metavar="COMPONENT",
    shell_complete=component_names,
    help="With --requests: those for which this component (an id or a name) was selected.",
)
@json_option
def stats_command(limit: int, requests: bool, component: str, as_json: bool) -> None:
    r"""Show what was learned from use, and how it changes answers here.

    Shown are: how often offers were followed, by rank; hints by kind; each component with its lift; what must not be
    suggested; and the relations that use suggests.

    \b
    repertoire stats
    repertoire stats --limit 50 --json
    repertoire stats --requests --component test-driven-development
    """
    if component and not requests:
        message = "--component is for --requests; `repertoire explain COMPONENT` tells of one"
        raise click.UsageError(message)
    if requests:
        with open_repertoire() as repertoire:
            past = learned_requests(repertoire.store, component=component, project=current_project(), limit=limit)
        show(learned_requests_data(past), lambda: learned_requests_text(past), as_json=as_json)
        return
    with open_repertoire() as repertoire:
        found = stats(repertoire.store, repertoire.settings, project=current_project(), limit=limit)
    show(stats_data(found), lambda: stats_text(found), as_json=as_json)


@click.command("review")
@click.option("--accept", multiple=True, metavar="ID", help="Apply this suggestion.")
@click.option("--reject", multiple=True, metavar="ID", help="Never apply this suggestion; revoke it if it is applied.")
@click.option("--undo", multiple=True, metavar="ID", help="Undo the decision on this suggestion.")
@json_option
def review_command(accept: tuple[str, ...], reject: tuple[str, ...], undo: tuple[str, ...], as_json: bool) -> None:
    r"""List the relations that use suggests (works well together, in conflict) with the evidence, and decide on them.

    \b
    repertoire review
    repertoire review --accept 3fa29c01 --reject 77aa0001
    """
    with open_repertoire() as repertoire:
        store = repertoire.store
        for ids, decision in ((accept, ACCEPTED), (reject, REJECTED), (undo, UNDECIDED)):
            if ids:
                decide(store, ids, decision)
        if not store.read_only:
            renew_learned(store)
        found = review(store)
    show([suggestion_data(one) for one in found], lambda: review_text(found), as_json=as_json)
