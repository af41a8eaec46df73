"""`eval`: the quality of retrieval on a labelled set, as users are answered."""

from __future__ import annotations

import os
from pathlib import Path

import click

from repertoire.app.measure.evaluate import MODES, SEARCH, EvalOptions, evaluate
from repertoire.app.measure.texts import TextOptions, evaluate_texts
from repertoire.app.measure.traces import TraceOptions, TraceResult, evaluate_traces
from repertoire.app.wiring import find_home, open_embedder, open_repertoire, open_texts, open_throw_away
from repertoire.cli.output import json_option, show
from repertoire.domain.answer import PARTS
from repertoire.settings import load

COMPONENT, TEXT, TRACE = "component", "text", "trace"
KINDS = (COMPONENT, TEXT, TRACE)
_TRACES_ALONE = "traces are searched as users search them: leave out --as, --learn, --without, --scope and --weight"
_TEXT_ALONE = "texts are searched alone: leave out --as, --learn and --home-store"
_folder = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("eval")
@click.argument("set_dir", type=_folder)
@click.option("--run", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Where the run is written.")
@click.option("--split", default="dev", show_default=True, help="Whose queries are answered.")
@click.option("--as", "mode", type=click.Choice(MODES), default=SEARCH, show_default=True, help="Through which door.")
@click.option("--learn", default="", metavar="SPLIT[:N]", help="First record these queries' gold as selections made.")
@click.option("--without", multiple=True, type=click.Choice(PARTS), help="Switch a part off; repeatable.")
@click.option("--scope", type=click.Choice(["all", "repo"]), default="all", help="repo: each query's own repository.")
@click.option("--cache", type=click.Path(file_okay=False, path_type=Path), help="Keep the corpus's vectors here.")
@click.option("--home-store", "at_home", is_flag=True, help="Over your own home as it is, which stays as it is.")
@click.option("--kind", type=click.Choice(KINDS), default=COMPONENT, show_default=True, help="What answers.")
@click.option("--weight", "weights", multiple=True, metavar="RANKING=N", help="Of a ranking of texts; repeatable.")
@json_option
def eval_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    set_dir: Path,
    run: Path,
    split: str,
    mode: str,
    learn: str,
    without: tuple[str, ...],
    scope: str,
    cache: Path | None,
    at_home: bool,
    kind: str,
    weights: tuple[str, ...],
    as_json: bool,
) -> None:
    r"""Answer the queries of SET_DIR over a throw-away store, or your own, and write the run for a judge.

    SET_DIR holds corpus.jsonl, queries.jsonl, qrels.tsv and, where there is a graph, edges.tsv; with --home-store no
    corpus is needed, and tasks.jsonl will do. The rows are ingested, and answered, as your own components are; what is
    not the same is told. A line of the run is `query-id TAB corpus-id TAB rank TAB score`; with --as task, JSON of all
    that who types it gets. With --kind text a row is any text, perhaps with a title: it is ranked by its words and by
    the words and the vectors of its best part (`words`, `parts`, `vectors`), whose ranks are fused by their weights.
    With --kind trace a row is a trace (`solution_at`: where its solution begins), answered by the search, by FTS5, by
    vectors and by the two fused, with how often the right one is held back and a wrong one called fitting.

    \b
    repertoire eval bench/sets/mine --run mine.tsv --split dev
    repertoire eval bench/sets/tasks --home-store --as task --run tasks.jsonl
    repertoire eval bench/sets/pages --kind text --weight words=1 --weight vectors=0.5 --run pages.tsv
    """

    def tell(line: str) -> None:
        click.echo(line, err=True)

    repo, parts = scope == "repo", frozenset(without)
    if kind == TRACE:
        if mode != SEARCH or learn or parts or repo or weights:
            raise click.UsageError(_TRACES_ALONE)
        options_of_traces = TraceOptions(set_dir, run, split, cache, at_home)
        with open_repertoire(read_only=True) if at_home else open_throw_away() as opened:
            figures = evaluate_traces(options_of_traces, opened, report=tell)
        show(figures, lambda: _trace_lines(figures, set_dir.name, split), as_json=as_json)
        return
    if kind == TEXT:
        if mode != SEARCH or learn or at_home:
            raise click.UsageError(_TEXT_ALONE)
        asked = TextOptions(set_dir, run, split, parts, _weights(weights), scope_repo=repo, cache=cache)
        home = find_home()
        result = evaluate_texts(asked, open_texts, open_embedder(home, load(home, os.environ))[0], report=tell)
    else:
        options = EvalOptions(set_dir, run, split, mode, learn, parts, repo, cache, at_home)
        with open_repertoire(read_only=True) if at_home else open_throw_away() as opened:
            for line in opened.degraded:
                tell(line)
            result = evaluate(options, opened, report=tell)
    show(
        result,
        lambda: (
            f"{set_dir.name} {split}: {result.queries} queries, p50 {result.p50_ms:.1f}, p95 {result.p95_ms:.1f} ms; "
            f"{result.documents} documents{'' if at_home else f' at {result.documents_per_second:.0f}/s'}"
            f"{f'; {result.lacking} answers had to do without something' if result.lacking else ''}; {run}"
        ),
        as_json=as_json,
    )


def _trace_lines(result: TraceResult, name: str, split: str) -> str:
    lines = [
        f"{system}: first {one.hit_at_1} ({one.low} to {one.high}), MRR@10 {one.mrr_at_10}, R@5 {one.recall_at_5}; "
        f"p50 {one.p50_ms}, p95 {one.p95_ms} ms"
        for system, one in result.systems.items()
    ]
    silence = f"held back {result.held_back} % of right first answers; {result.false_fits} % fit without the right one"
    return "\n".join([f"{name} {split}: {result.queries} queries", *lines, silence])


def _weights(given: tuple[str, ...]) -> dict[str, float]:
    try:
        return {name: float(number) for name, _, number in (one.partition("=") for one in given)}
    except ValueError as error:
        message = f"{error}; give each --weight as RANKING=NUMBER, as in words=0.5"
        raise click.UsageError(message) from error
