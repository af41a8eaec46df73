"""`trust`: what static checks found, what a person accepts all the same, and how good the checks are."""

from __future__ import annotations

from pathlib import Path

import click

from repertoire.app.clock import now
from repertoire.app.measure.trust_eval import evaluate_trust
from repertoire.app.person.trust import accept, show_flags, withdraw
from repertoire.app.wiring import open_repertoire
from repertoire.cli.completion import component_names
from repertoire.cli.output import json_option, show
from repertoire.domain.trust import MEDIUM, SEVERITIES
from repertoire.rendering.flags import accepted_data, accepted_text, report_data, report_text
from repertoire.rendering.measure import scores_data, scores_text

_LABELS = Path(__file__).resolve().parents[3] / "bench" / "trust"
_place = click.Path(exists=True, path_type=Path)


@click.group("trust")
def trust_command() -> None:
    r"""Tell what static checks found in components; accept what you have looked at.

    \b
    repertoire trust show
    repertoire trust accept code-reviewer
    """


@trust_command.command("show")
@click.argument("component", default="", shell_complete=component_names)
@click.option("--least", type=click.Choice(SEVERITIES), default=MEDIUM, show_default=True, help="The least severity.")
@json_option
def show_command(component: str, least: str, as_json: bool) -> None:
    r"""Show what was found in COMPONENT, an id or name, with the lines; without one, every flagged component.

    \b
    repertoire trust show
    repertoire trust show code-reviewer --least low
    """
    with open_repertoire() as repertoire:
        report = show_flags(repertoire.store, component, least=least)
    show(report_data(report), lambda: report_text(report), as_json=as_json)


@trust_command.command("accept")
@click.argument("component", shell_complete=component_names)
@click.option("--undo", is_flag=True, help="Flag it again.")
@json_option
def accept_command(component: str, undo: bool, as_json: bool) -> None:
    r"""Let COMPONENT pass as it is now; when its content changes it is checked, and flagged, again.

    \b
    repertoire trust accept code-reviewer
    repertoire trust accept code-reviewer --undo
    """
    with open_repertoire() as repertoire:
        store = repertoire.store
        done = withdraw(store, component) if undo else accept(store, component, now=now())
    show(accepted_data(done), lambda: accepted_text(done), as_json=as_json)


@trust_command.command("eval")
@click.argument("labels", type=_place, default=_LABELS)
@json_option
def eval_command(labels: Path, as_json: bool) -> None:
    r"""Measure precision and recall of the checks on LABELS, a .jsonl file or a folder of them.

    \b
    repertoire trust eval
    """
    with open_repertoire() as repertoire:
        scores = evaluate_trust(repertoire.store, labels)
    show(scores_data(scores), lambda: scores_text(scores), as_json=as_json)
