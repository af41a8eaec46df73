"""`explain`: what is known of one component, and where it stands for a task."""

from __future__ import annotations

import click

from repertoire.app.ask.explain import Asked
from repertoire.app.wiring import open_repertoire
from repertoire.cli.answers import afterwards, graph_option, one_output
from repertoire.cli.completion import component_names
from repertoire.cli.output import json_option, tell
from repertoire.cli.prepare import prepared
from repertoire.rendering.graphs import drawn
from repertoire.verbs.explain import EXPLAIN
from repertoire.verbs.verb import Context


@click.command("explain")
@click.argument("component", shell_complete=component_names)
@click.option("--task", default="", help="Also tell where it stands for this task.")
@click.option(
    "--detail", type=click.Choice(("usual", "graph")), default="usual", help="graph: also what lies around it."
)
@graph_option
@json_option
def explain_command(component: str, task: str, detail: str, form: str | None, as_json: bool) -> None:
    r"""Tell what COMPONENT (an id or a name) is, provides and needs, what goes with it, and how it was used.

    \b
    repertoire explain test-driven-development
    repertoire explain code-reviewer --task "review my pull request"
    repertoire explain code-reviewer --detail graph
    repertoire explain code-reviewer --graph mermaid
    """
    one_output(form, as_json=as_json)
    with open_repertoire() as repertoire, prepared(repertoire, wait=False) as notes:
        asked = Asked(component, task, graph=bool(form) or detail == "graph")
        found = EXPLAIN.run(Context.of(repertoire), asked)
        if form and found.graph is not None:
            click.echo(drawn(found.graph, form, title=found.stored.component.name))
        else:
            tell(EXPLAIN, found, as_json=as_json)
        afterwards((), notes)
