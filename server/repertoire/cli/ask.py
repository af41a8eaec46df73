"""`recommend`, `search` and `explain`: the commands that answer a question, and the options that they share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from repertoire.app.ask.explain import ExplainRequest, Explanation
from repertoire.app.session.spool import record_answer
from repertoire.app.wiring import open_repertoire
from repertoire.cli.completion import component_names
from repertoire.cli.output import json_option, show_answer
from repertoire.cli.prepare import prepared
from repertoire.domain.answer import BALANCED, BUDGET, MODES, PARTS, Query, StageReport, Task
from repertoire.domain.component import COMPONENT_TYPES
from repertoire.rendering.graphs import FORMATS, drawn
from repertoire.verbs.explain import EXPLAIN
from repertoire.verbs.questions import RECOMMEND, SEARCH
from repertoire.verbs.verb import Context

_QUESTION_OPTIONS = (
    click.option(
        "--type",
        "types",
        multiple=True,
        type=click.Choice(COMPONENT_TYPES),
        help="Only components of this type; may be repeated. A server's tools are found by it, or in a search by name.",
    ),
    click.option(
        "--installed/--available", default=None, help="Only installed components, or only the others. Default: both."
    ),
    click.option(
        "--using",
        multiple=True,
        metavar="ID",
        shell_complete=component_names,
        help="A component that you already use; may be repeated.",
    ),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        default=BALANCED,
        show_default=True,
        help="How much work to do: fast compares words and names only, thorough looks at more candidates.",
    ),
    click.option("--wait", is_flag=True, help="Wait until all components have vectors."),
    click.option("--stages", is_flag=True, help="Show what each stage did and how long it took."),
    click.option("--without", multiple=True, type=click.Choice(PARTS), hidden=True),
    json_option,
)


graph_option = click.option(
    "--graph",
    "form",
    type=click.Choice(FORMATS),
    help="Print the graph behind the answer instead: as text, JSON, Mermaid or an HTML page.",
)


Command = Callable[..., None]


def question_options(command: Command) -> Command:
    """Add to a command the options that search and recommend share."""
    for option in reversed(_QUESTION_OPTIONS):
        command = option(command)
    return command


project_option = click.option(
    "--project", type=click.Path(exists=True, file_okay=False, path_type=Path), help="The project's folder."
)


@click.command("recommend")
@click.argument("words", nargs=-1, required=True, metavar="TASK")
@click.option(
    "--budget",
    type=click.IntRange(min=100),
    default=BUDGET,
    show_default=True,
    help="The most tokens that the set may add to each request.",
)
@click.option(
    "--size",
    type=click.IntRange(1, 12),
    help="The most components in the set. Default: as many as the task probably needs.",
)
@project_option
@graph_option
@question_options
def recommend_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    words: tuple[str, ...],
    budget: int,
    size: int | None,
    project: Path | None,
    form: str | None,
    types: tuple[str, ...],
    installed: bool | None,
    using: tuple[str, ...],
    mode: str,
    wait: bool,
    stages: bool,
    without: tuple[str, ...],
    as_json: bool,
) -> None:
    r"""Recommend the smallest set of components that fits TASK, with reasons and install commands.

    \b
    repertoire recommend "add end-to-end tests for our checkout with Playwright"
    repertoire recommend "review this pull request" --installed
    repertoire recommend "review this pull request" --graph html > review.html
    """
    refuse_two_outputs(form, as_json=as_json)
    task = " ".join(words)
    asked = Task(
        task,
        budget=budget,
        limit=size,
        types=types,
        using=using,
        installed=installed,
        without=frozenset(without),
        mode=mode,
    )
    with open_repertoire() as repertoire, prepared(repertoire, wait=wait) as notes:
        context = Context.of(repertoire, project=str(project or ""))
        answer = RECOMMEND.run(context, asked)
        if form:
            from repertoire.app.ask.recommendation_graph import recommendation_graph  # noqa: PLC0415 - few ask for the graph

            click.echo(drawn(recommendation_graph(repertoire.pipeline, answer), form, title=task))
        else:
            show_answer(RECOMMEND, answer, as_json=as_json)
        # after the answer, which is given whether or not it can be recorded, and does not wait for an ingest elsewhere
        untold = record_answer(repertoire.store, RECOMMEND.events(context, asked, answer))
        show_notes(answer.report if stages else (), (*notes, untold) if untold else notes)


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUERY")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="The number of results.")
@question_options
def search_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    words: tuple[str, ...],
    limit: int,
    types: tuple[str, ...],
    installed: bool | None,
    using: tuple[str, ...],
    mode: str,
    wait: bool,
    stages: bool,
    without: tuple[str, ...],
    as_json: bool,
) -> None:
    r"""List the components that match QUERY, the best first, with reasons.

    \b
    repertoire search "audit the code for security holes" --type agent
    repertoire search silent-failure-hunter
    """
    asked = Query(
        " ".join(words),
        types=types,
        using=using,
        installed=installed,
        limit=limit,
        without=frozenset(without),
        mode=mode,
    )
    with open_repertoire() as repertoire, prepared(repertoire, wait=wait) as notes:
        answer = SEARCH.run(Context.of(repertoire), asked)
        show_answer(SEARCH, answer, as_json=as_json)
        show_notes(answer.report if stages else (), notes)


def refuse_two_outputs(form: str | None, *, as_json: bool) -> None:
    """Raise a usage error if a graph and JSON are both asked for."""
    if form and as_json:
        message = "use either --graph or --json; --graph json prints the graph as JSON"
        raise click.UsageError(message)


def show_notes(report: tuple[StageReport, ...], notes: tuple[str, ...]) -> None:
    """Print to stderr the report of the retrieval stages, and notes on the answer."""
    for stage in report:
        click.echo(f"{stage.stage:<8} {stage.ms:7.1f} ms  {stage.detail}", err=True)
    for note in notes:
        click.echo(f"({note})", err=True)


@click.command("explain")
@click.argument("component", shell_complete=component_names)
@click.option("--task", default="", help="Also show how it ranks for this task.")
@project_option
@click.option(
    "--detail", type=click.Choice(("usual", "graph")), default="usual", help="graph: also show the nodes around it."
)
@graph_option
@json_option
def explain_command(
    component: str, task: str, project: Path | None, detail: str, form: str | None, as_json: bool
) -> None:
    r"""Show what COMPONENT (an id or a name) is, provides and needs, what it works with, and how it was used.

    Of a trace, named by its id, it shows the problem, the solution, and what others said of it.

    \b
    repertoire explain test-driven-development
    repertoire explain silent-failure-hunter --task "find swallowed exceptions"
    repertoire explain silent-failure-hunter --detail graph
    repertoire explain silent-failure-hunter --graph mermaid
    repertoire explain trace:1f0c2d3e4b5a
    """
    refuse_two_outputs(form, as_json=as_json)
    with open_repertoire() as repertoire, prepared(repertoire, wait=False) as notes:
        asked = ExplainRequest(component, task, graph=bool(form) or detail == "graph")
        found = EXPLAIN.run(Context.of(repertoire, project=str(project or "")), asked)
        if form and isinstance(found, Explanation) and found.graph is not None:
            click.echo(drawn(found.graph, form, title=found.stored.component.name))
        else:
            show_answer(EXPLAIN, found, as_json=as_json)
        show_notes((), notes)
