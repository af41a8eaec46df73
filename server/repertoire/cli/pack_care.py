"""`pack validate|audit|eval|judge|update`: the commands that check, measure and renew packs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from repertoire.app.clock import today
from repertoire.app.packs.asking import means_of
from repertoire.app.packs.checks import audit_pack, validate_pack
from repertoire.app.packs.config_file import read_config_file
from repertoire.app.packs.exam_file import read_exam_file
from repertoire.app.packs.exams import exam_of, record_score, take_exam
from repertoire.app.packs.judging import JudgedRun, next_step
from repertoire.app.packs.places import EXAM
from repertoire.app.packs.skills import renew_skills
from repertoire.app.packs.stand_ins import tell_graph
from repertoire.app.packs.updating import UpdateRequest, update_pack
from repertoire.app.wiring import open_new_pack, open_repertoire
from repertoire.cli.output import json_option, progress, quiet_option, show
from repertoire.cli.site_options import bounds, site_options
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.pack_stages import PROFILES, STAGES
from repertoire.rendering import pack_work

_PROFILE = click.option(
    "--profile", type=click.Choice([*PROFILES]), help="Which stages the question passes; by default the setting's."
)
_ON = click.option("--with", "on", multiple=True, type=click.Choice(STAGES), help="Switch a stage on; may be repeated.")
_OFF = click.option("--without", "off", multiple=True, type=click.Choice(STAGES), help="Switch a stage off; likewise.")
C = TypeVar("C", bound=Callable[..., Any])


def stage_options(command: C) -> C:
    """Give a command the options that choose stages: a profile, and switches."""
    return _PROFILE(_ON(_OFF(command)))


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
name_argument = click.argument("name")


@click.command("validate")
@name_argument
@click.option("--strict", is_flag=True, help="Also ask for a licence, a description, a date and an exam.")
@json_option
@click.pass_context
def validate_command(context: click.Context, name: str, strict: bool, as_json: bool) -> None:
    r"""Check that the pack NAME is whole: its files, hashes, schema, counts and vectors; exit with 1 if it is not.

    \b
    repertoire pack validate rust-book --strict
    """
    with open_repertoire() as repertoire:
        found = validate_pack(repertoire.packs, name, strict=strict)
    show(pack_work.validity_data(found), lambda: pack_work.validity_text(found), as_json=as_json)
    if found.faults:
        context.exit(1)


@click.command("audit")
@name_argument
@json_option
def audit_command(name: str, as_json: bool) -> None:
    r"""Look at the documents of the pack NAME: broken links, empty, repeated and huge sections, licence and age.

    \b
    repertoire pack audit rust-book
    """
    with open_repertoire() as repertoire:
        found = audit_pack(repertoire.packs, name, today=today())
    show(pack_work.audit_data(found), lambda: pack_work.audit_text(found), as_json=as_json)


@click.command("eval")
@name_argument
@click.option("--exam", "file", type=_FILE, help="Questions to ask in place of those that the pack carries.")
@click.option("--split", default="", help="Ask the questions of this split alone; nothing is kept then.")
@stage_options
@json_option
def eval_pack_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    name: str,
    file: Path | None,
    split: str,
    profile: str | None,
    on: tuple[str, ...],
    off: tuple[str, ...],
    as_json: bool,
) -> None:
    r"""Ask the pack NAME the questions of its exam: how often the right section comes, beside plain full text.

    An exam has one JSON object a line: `id`, `question`, and `gold`, the citations that answer it. Questions of the
    other packs' exams show what the gate refuses. The score of the exam that a pack carries is kept in its manifest,
    unless another profile, stage or split was asked for. Questions of the split `test` choose nothing: the gate of the
    pack comes from the others.

    \b
    repertoire pack eval rust-book
    repertoire pack eval rust-book --exam questions.jsonl --json
    repertoire pack eval rust-book --profile maximum --without multi_query
    """
    with open_repertoire() as repertoire:
        shelf, embedder = repertoire.packs, repertoire.embedder
        exam = read_exam_file(file) if file is not None else exam_of(shelf, name)
        if not exam:
            message = f"pack {name} carries no exam; name a file with --exam, or build the pack with one"
            raise InvalidRequest(message)
        means = means_of(repertoire, profile or "", on=on, off=off)
        score = take_exam(shelf, name, exam, means, split=split)
        if file is None and not (split or profile or on or off):
            place = shelf.manifest(name).hashes[EXAM]
            model = embedder.model if embedder is not None else ""
            record_score(shelf, name, score, exam=place, model=model, day=today().isoformat())
    show(pack_work.score_data(name, score), lambda: pack_work.score_text(name, score), as_json=as_json)


@click.command("judge")
@name_argument
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--answerer", default="", help="Who wrote the answers, such as the name of a model.")
@click.option("--judge", default="", help="Who judged them; not the answerer.")
@click.option("--split", default="", help="Ask the questions of this split alone.")
@click.option("--most", type=click.IntRange(0, 10_000), default=0, help="Ask so many questions at most; 0: all.")
@json_option
def judge_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    name: str, folder: Path, answerer: str, judge: str, split: str, most: int, as_json: bool
) -> None:
    r"""Compare answers with and without the pack NAME: each call does the step that is due in FOLDER.

    The first writes tasks for an answerer, the second blind pairs in both orders for a judge, the third the points of
    each question with a paired interval, which the manifest keeps. No model is called: agents or people do the work.

    \b
    repertoire pack judge rust-book ./run --split test --most 40
    repertoire pack judge rust-book ./run --answerer opus --judge sonnet
    """
    asked = JudgedRun(name, folder, answerer, judge, split, most)
    with open_repertoire() as repertoire:
        done = next_step(repertoire.packs, asked, means_of(repertoire), day=today().isoformat())
    show(pack_work.judge_step_data(done), lambda: pack_work.judge_step_text(done), as_json=as_json)


@click.command("update")
@name_argument
@click.option(
    "--from", "origin", default="", metavar="SOURCE", help="Where the documents are, if not at their address."
)
@site_options
@click.option("--version", default="", help="Version of the new pack; by default the next one.")
@click.option("--licence", default="", help="Licence of the documents, if no longer that of the pack.")
@click.option("--exam", type=_FILE, help="Questions that the pack carries from now on.")
@click.option("--refine", type=_FILE, help="Facts, relations and descriptions to add or drop, one JSON object a line.")
@click.option("--config", "given", type=_FILE, help="Settings that the pack carries from now on.")
@quiet_option
@json_option
def update_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    name: str,
    origin: str,
    version: str,
    licence: str,
    exam: Path | None,
    refine: Path | None,
    given: Path | None,
    quiet: bool,
    as_json: bool,
    **site: Any,
) -> None:
    r"""Read the documents of the pack NAME again; only texts that changed are embedded, and the exam is taken again.

    \b
    repertoire pack update rust-book
    repertoire pack update axum --from ./axum/docs
    """
    config = read_config_file(given) if given is not None else None
    asked = UpdateRequest(name, origin, version, today().isoformat(), exam, refine, bounds(**site), config, licence)
    with open_repertoire() as repertoire:
        with progress(quiet=quiet) as bar:
            done = update_pack(
                repertoire.packs,
                asked,
                open_new_pack,
                embedder=repertoire.embedder,
                settings=repertoire.settings,
                report=bar,
            )
        tell_graph(repertoire.store, repertoire.packs, repertoire.embedder)
        renew_skills(repertoire.packs)
        show(pack_work.updated_data(done), lambda: pack_work.updated_text(done), as_json=as_json)


CARE = (
    validate_command,
    audit_command,
    eval_pack_command,
    judge_command,
    update_command,
)
