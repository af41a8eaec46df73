"""`feedback`, `mute`, `trust` and `forget`: the commands with which a person gives feedback and decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from repertoire.app.clock import now
from repertoire.app.current_project import resolve_project
from repertoire.app.person.forget import ALL, PROJECT, REQUEST, REQUESTS, TRACE
from repertoire.app.person.trust import accept, show_flags, withdraw
from repertoire.app.projects.places import root_of
from repertoire.app.traces.naming import trace_named
from repertoire.app.usage.learned_requests import request_named
from repertoire.app.wiring import find_home, open_repertoire
from repertoire.cli.completion import component_names, targets
from repertoire.cli.output import ask_to_go_on, json_option, show, show_answer, yes_option
from repertoire.domain.event import SAYINGS
from repertoire.domain.text import clean_line
from repertoire.domain.trust import MEDIUM, SEVERITIES
from repertoire.rendering.person import accepted_data, accepted_text, report_data, report_text
from repertoire.rendering.traces import withheld
from repertoire.verbs.decisions import FORGET, MUTE, REPORT, DeletionRequest, FeedbackRequest, MuteRequest
from repertoire.verbs.verb import Context

_LABELS = Path(__file__).resolve().parents[3] / "bench" / "trust"
_place = click.Path(exists=True, path_type=Path)


@click.command("feedback")
@click.argument("component", shell_complete=component_names)
@click.argument("outcome", type=click.Choice(SAYINGS))
@click.option("--note", default="", help="Why, in a few words; secrets are removed.")
@json_option
def feedback_command(component: str, outcome: str, note: str, as_json: bool) -> None:
    r"""Say how the latest use of COMPONENT (an id or a name) went in this project, or that you do not want it here.

    \b
    repertoire feedback test-driven-development ok
    repertoire feedback test-driven-development failed --note "wrote the code first"
    repertoire feedback test-driven-development unknown
    repertoire feedback test-driven-development dismissed
    """
    with open_repertoire() as repertoire:
        kept = REPORT.run(Context.of(repertoire), FeedbackRequest(component, outcome, note))
    show_answer(REPORT, kept, as_json=as_json)


@click.command("mute")
@click.argument("target", shell_complete=targets)
@click.option("--here", is_flag=True, help="In this project only.")
@click.option("--undo", is_flag=True, help="Suggest it again.")
@json_option
def mute_command(target: str, here: bool, undo: bool, as_json: bool) -> None:
    r"""Never suggest TARGET again: a component's id or name, a source's key, or `project` for this folder.

    \b
    repertoire mute silent-failure-hunter
    repertoire mute silent-failure-hunter --here
    repertoire mute github.com/owner/name
    repertoire mute project --undo
    """
    with open_repertoire() as repertoire:
        done = MUTE.run(Context.of(repertoire), MuteRequest(target, here=here, undo=undo))
    show_answer(MUTE, done, as_json=as_json)


@click.command("forget")
@click.option("--requests", is_flag=True, help="Delete all stored prompts, what was selected for them, and the log.")
@click.option("--request", default="", metavar="ID", help="Delete one stored prompt, and what was learned from it.")
@click.option(
    "--project",
    default="",
    type=click.Path(),  # text: an empty one, as from an unset variable, would be this folder as a `Path`
    help="Delete what was asked and used in the project in this folder, its traces, and its memory with all notes.",
)
@click.option("--trace", default="", metavar="ID", help="Delete one trace, its earlier versions and the votes on them.")
@click.option(
    "--all", "everything", is_flag=True, help="Delete everything: the graph, packs, clones, and memories of projects."
)
@yes_option
@json_option
def forget_command(*, yes: bool, as_json: bool, **named: Any) -> None:
    r"""Delete recorded data permanently: rows, full text, vectors and the write-ahead log, also in the backup.

    \b
    repertoire forget --requests
    repertoire forget --request 5b2d9e0c71aa
    repertoire forget --project . --yes
    repertoire forget --trace 1f0c2d3e4b5a
    """
    target = _Target(**named)
    chosen = [name for name, is_chosen in target.chosen().items() if is_chosen]
    if len(chosen) != 1:
        message = (
            "use exactly one of --requests (of all projects), --request ID, --project FOLDER (all data of one "
            "project), --trace ID and --all"
        )
        raise click.UsageError(message)
    if not yes:
        ask_to_go_on(f"Delete {_named(chosen[0], target)} permanently?")
    with open_repertoire() as repertoire:
        asked = DeletionRequest(chosen[0], target.trace, target.request)
        done = FORGET.run(Context.of(repertoire, project=target.project), asked)
    show_answer(FORGET, done, as_json=as_json)


@dataclass(frozen=True)
class _Target:
    """What a person names to be deleted."""

    requests: bool
    request: str
    project: str
    trace: str
    everything: bool

    def chosen(self) -> Mapping[str, bool]:
        """Tell of each kind whether it is named."""
        return {
            REQUESTS: self.requests,
            REQUEST: bool(self.request),
            PROJECT: bool(self.project),
            TRACE: bool(self.trace),
            ALL: self.everything,
        }


def _named(what: str, target: _Target) -> str:
    """Say what would be deleted."""
    if what in (TRACE, REQUEST):
        return _the_one(what, target)
    folder = resolve_project(target.project) if target.project else ""
    within = root_of(find_home(), folder) if folder else ""
    memory = (
        f"not the memory of {within}" if within not in ("", folder) else "the project's memory with all notes and tasks"
    )
    return {
        REQUESTS: "every past request, what was selected for it, and the log",
        PROJECT: f"what was asked, used and solved in {folder}, and {memory},",
        ALL: "everything, also packs, clones, and the memories of all projects with their notes and tasks,",
    }[what]


def _the_one(what: str, target: _Target) -> str:
    """Say which trace or past request would be deleted."""
    with open_repertoire() as repertoire:
        if what == REQUEST:
            asked = request_named(repertoire.store, target.request)
            text = f" ({clean_line(asked.text, 80)})" if asked.text else ""
            return f"the past request {asked.key}{text} and what was learned from it"
        found = trace_named(repertoire.store, target.trace)
    title = "" if withheld(found) else f" ({clean_line(found.title, 80)})"
    return f"the trace {found.key}{title} with its earlier versions and votes"


@click.group("trust")
def trust_command() -> None:
    r"""Show what the static checks found in components, and accept what you have reviewed.

    \b
    repertoire trust show
    repertoire trust accept silent-failure-hunter
    """


@trust_command.command("show")
@click.argument("component", default="", shell_complete=component_names)
@click.option(
    "--least", type=click.Choice(SEVERITIES), default=MEDIUM, show_default=True, help="The lowest severity to show."
)
@json_option
def show_command(component: str, least: str, as_json: bool) -> None:
    r"""Show the findings in COMPONENT (an id or a name, or a trace's key) with their lines; without it, all flagged.

    \b
    repertoire trust show
    repertoire trust show silent-failure-hunter --least low
    """
    with open_repertoire() as repertoire:
        report = show_flags(repertoire.store, component, least=least)
    show(report_data(report), lambda: report_text(report), as_json=as_json)


@trust_command.command("accept")
@click.argument("component", shell_complete=component_names)
@click.option("--undo", is_flag=True, help="Withdraw the acceptance.")
@json_option
def accept_command(component: str, undo: bool, as_json: bool) -> None:
    r"""Accept COMPONENT as it is now. When its content changes, it is checked and flagged again.

    \b
    repertoire trust accept silent-failure-hunter
    repertoire trust accept silent-failure-hunter --undo
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
    from repertoire.app.measure.trust_eval import evaluate_trust  # noqa: PLC0415 - no other of these reads components
    from repertoire.rendering.measure import scores_data, scores_text  # noqa: PLC0415

    with open_repertoire() as repertoire:
        scores = evaluate_trust(repertoire.store, labels)
    show(scores_data(scores), lambda: scores_text(scores), as_json=as_json)
