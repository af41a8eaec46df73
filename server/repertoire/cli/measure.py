"""`eval`: measures retrieval quality on a labelled set, through the same pipeline that answers users."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import click

from repertoire.app.measure.evaluate import MODES, SEARCH, EvalOptions, evaluate
from repertoire.app.measure.notes import NoteOptions, evaluate_notes
from repertoire.app.measure.projects import CodeOptions, evaluate_code
from repertoire.app.measure.sections import SectionOptions, evaluate_sections
from repertoire.app.measure.texts import TextOptions, evaluate_texts
from repertoire.app.measure.traces import TraceOptions, evaluate_traces
from repertoire.app.wiring import (
    find_home,
    open_embedder,
    open_new_pack,
    open_project,
    open_repertoire,
    open_temporary,
    open_texts,
)
from repertoire.cli.output import json_option, show
from repertoire.domain.answer import PARTS
from repertoire.domain.pack_stages import BALANCED, PROFILES, STAGES, stages_of
from repertoire.rendering.measure import (
    code_evaluation_text,
    evaluation_data,
    evaluation_text,
    note_evaluation_text,
    section_evaluation_text,
    trace_evaluation_text,
)
from repertoire.settings import load

COMPONENT, TEXT, TRACE, SECTION, CODE, NOTE = "component", "text", "trace", "section", "code", "note"
KINDS = (COMPONENT, TEXT, TRACE, SECTION, CODE, NOTE)
_TRACES_ALONE = "--kind trace cannot be combined with --as, --learn, --without, --scope or --weight; leave them out"
_TEXT_ALONE = "--kind text cannot be combined with --as, --learn or --home-store; leave them out"
_ALONE = {
    SECTION: "--kind section takes --split, --cache, --profile, --with and --without a stage; leave the rest out",
    CODE: "--kind code takes --split, --cache and --weight (words, chunks, headings); leave the rest out",
    NOTE: "--kind note takes --split and --cache; leave the rest out",
}
_STAGES_ALONE = "stages such as multi_query belong to --kind section; leave them out"
_folder = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("eval")
@click.argument("set_dir", type=_folder)
@click.option(
    "--run", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write the run to."
)
@click.option("--split", default="dev", show_default=True, help="The split whose queries are answered.")
@click.option(
    "--as", "mode", type=click.Choice(MODES), default=SEARCH, show_default=True, help="How each query is asked."
)
@click.option(
    "--learn", default="", metavar="SPLIT[:N]", help="First record the gold answers of these queries as selections."
)
@click.option(
    "--without", multiple=True, type=click.Choice([*dict.fromkeys((*PARTS, *STAGES))]), help="Switch a part off."
)
@click.option("--with", "on", multiple=True, type=click.Choice(STAGES), help="Switch a stage of --kind section on.")
@click.option("--profile", type=click.Choice([*PROFILES]), default=BALANCED, help="The stages of --kind section.")
@click.option(
    "--scope", type=click.Choice(["all", "repo"]), default="all", help="repo: search only the repository of each query."
)
@click.option(
    "--cache", type=click.Path(file_okay=False, path_type=Path), help="Cache the vectors of the corpus in this folder."
)
@click.option("--home-store", "at_home", is_flag=True, help="Answer from your own home; nothing in it is changed.")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default=COMPONENT,
    show_default=True,
    help="What the rows of the set are.",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="RANKING=N",
    help="The weight of one ranking of texts; may be repeated.",
)
@json_option
def eval_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    set_dir: Path,
    run: Path,
    split: str,
    mode: str,
    learn: str,
    without: tuple[str, ...],
    on: tuple[str, ...],
    profile: str,
    scope: str,
    cache: Path | None,
    at_home: bool,
    kind: str,
    weights: tuple[str, ...],
    as_json: bool,
) -> None:
    r"""Answer the queries of SET_DIR from a temporary store, or from your own home, and write a run file for scoring.

    SET_DIR holds corpus.jsonl (a row has id, type, name and text), queries.jsonl (a query has id, text and split),
    qrels.tsv (query-id, corpus-id) and, if there is a graph, edges.tsv. With --home-store no corpus is needed, and
    tasks.jsonl is enough. The rows are ingested and answered like your own components; every difference is reported.
    A line of the run is `query-id TAB corpus-id TAB rank TAB score`. With --as task it is JSON with all that a person
    would see. With --kind text a row is any text, with or without a title. There are three rankings: by its words,
    and by the words and the vectors of its best part (`words`, `parts`, `vectors`). Their ranks are fused by their
    weights.
    With --kind trace a row is a trace (`solution_at`: where its solution begins). The run is that of the search; beside
    it stand the figures of FTS5, vectors, both fused, and similarity with trust, and how often a right trace is held
    back or a wrong one fits.
    With --kind code the files of the set (tree.tar.xz, or one for each row) are read as a project, and a result is
    right where it shares a line with a right place.
    With --kind section a row is a section of a `page`, from its heading on, and the queries are asked of a pack.
    With --kind note the rows of each `repo` are saved as notes of a project, which its queries are asked of; a row is
    related to the one before it of its `session`.

    \b
    repertoire eval bench/sets/mine --run mine.tsv --split dev
    repertoire eval bench/sets/tasks --home-store --as task --run tasks.jsonl
    repertoire eval bench/sets/pages --kind text --weight words=1 --weight vectors=0.5 --run pages.tsv
    """

    def tell(line: str) -> None:
        click.echo(line, err=True)

    repo, parts = scope == "repo", frozenset(without)
    if kind != SECTION and (on or parts - {*PARTS}):
        raise click.UsageError(_STAGES_ALONE)
    if kind in _ALONE:
        if mode != SEARCH or learn or repo or at_home or (weights and kind != CODE) or (parts and kind != SECTION):
            raise click.UsageError(_ALONE[kind])
        off = frozenset(STAGES) - stages_of(profile, on=on, off=without)
        _evaluate_alone(kind, SectionOptions(set_dir, run, 0.0, split, off, cache), _weights(weights), as_json=as_json)
        return
    if kind == TRACE:
        if mode != SEARCH or learn or parts or repo or weights:
            raise click.UsageError(_TRACES_ALONE)
        options_of_traces = TraceOptions(set_dir, run, split, cache, at_home)
        with open_repertoire(read_only=True) if at_home else open_temporary() as opened:
            figures = evaluate_traces(options_of_traces, opened, report=tell)
        show(
            asdict(figures),
            lambda: trace_evaluation_text(figures, name=set_dir.name, split=split),
            as_json=as_json,
        )
        return
    if kind == TEXT:
        if mode != SEARCH or learn or at_home:
            raise click.UsageError(_TEXT_ALONE)
        asked = TextOptions(set_dir, run, split, parts, _weights(weights), scope_repo=repo, cache=cache)
        home = find_home()
        result = evaluate_texts(asked, open_texts, open_embedder(home, load(home, os.environ))[0], report=tell)
    else:
        options = EvalOptions(set_dir, run, split, mode, learn, parts, repo, cache, at_home)
        with open_repertoire(read_only=True) if at_home else open_temporary() as opened:
            for line in opened.degraded:
                tell(line)
            result = evaluate(options, opened, report=tell)
    show(
        evaluation_data(result),
        lambda: evaluation_text(result, name=set_dir.name, split=split, run=run),
        as_json=as_json,
    )


def _evaluate_alone(kind: str, asked: SectionOptions, weights: dict[str, float], *, as_json: bool) -> None:
    home = find_home()
    settings = load(home, os.environ)
    embedder, _ = open_embedder(home, settings)
    set_dir, run, split, cache = asked.set_dir, asked.run, asked.split, asked.cache

    def tell(line: str) -> None:
        click.echo(line, err=True)

    if kind == SECTION:
        asked = replace(asked, gate=settings.pack_gate_percent / 100)
        sections = evaluate_sections(asked, open_new_pack, embedder, report=tell)
        data, text = asdict(sections), partial(section_evaluation_text, sections)
    elif kind == CODE:
        code = evaluate_code(
            CodeOptions(set_dir, run, split, weights or None, cache), open_project, embedder, report=tell
        )
        data, text = asdict(code), partial(code_evaluation_text, code)
    else:
        notes = evaluate_notes(NoteOptions(set_dir, run, split, cache), open_project, embedder, report=tell)
        data, text = asdict(notes), partial(note_evaluation_text, notes)
    show(data, lambda: text(name=set_dir.name, split=split, run=run), as_json=as_json)


def _weights(given: tuple[str, ...]) -> dict[str, float]:
    try:
        return {name: float(number) for name, _, number in (one.partition("=") for one in given)}
    except ValueError as error:
        message = f"{error}; give each --weight as RANKING=NUMBER, as in words=0.5"
        raise click.UsageError(message) from error
