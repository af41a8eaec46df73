"""`eval`: the quality of retrieval on a labelled set, as users are answered."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from repertoire.app.kernel import Repertoire
from repertoire.app.measure.evaluate import MODES, SEARCH, EvalOptions, evaluate
from repertoire.app.wiring import find_home, open_embedder, open_repertoire, put_together
from repertoire.cli.output import json_option, show
from repertoire.domain.answer import PARTS
from repertoire.settings import load
from repertoire.store.database import Store

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
    as_json: bool,
) -> None:
    r"""Answer the queries of SET_DIR over a throw-away store, or your own, and write the run for a judge.

    SET_DIR holds corpus.jsonl, queries.jsonl, qrels.tsv and, where there is a graph, edges.tsv; with --home-store no
    corpus is needed, and tasks.jsonl will do. The rows are ingested, and answered, as your own components are; what is
    not the same is told. A line of the run is `query-id TAB corpus-id TAB rank TAB score`; with --as task, JSON of all
    that who types it gets.

    \b
    repertoire eval bench/sets/mine --run mine.tsv --split dev
    repertoire eval bench/sets/tasks --home-store --as task --run tasks.jsonl
    """
    options = EvalOptions(
        set_dir,
        run,
        split=split,
        mode=mode,
        learn=learn,
        without=frozenset(without),
        scope_repo=scope == "repo",
        cache=cache,
        at_home=at_home,
    )
    with open_repertoire(read_only=True) if at_home else _throw_away() as opened:
        for line in opened.degraded:
            click.echo(line, err=True)
        result = evaluate(options, opened, report=lambda line: click.echo(line, err=True))
    show(
        result,
        lambda: (
            f"{set_dir.name} {split}: {result.queries} queries, p50 {result.p50_ms:.1f}, p95 {result.p95_ms:.1f} ms; "
            f"{result.documents} documents{'' if at_home else f' at {result.documents_per_second:.0f}/s'}"
            f"{f'; {result.lacking} answers had to do without something' if result.lacking else ''}; {run}"
        ),
        as_json=as_json,
    )


@contextmanager
def _throw_away() -> Iterator[Repertoire]:
    """Open an empty store that is gone again afterwards, with all that answers from a home are made of."""
    home = find_home()
    settings = load(home, os.environ)
    embedder, degraded = open_embedder(home, settings)
    with (
        tempfile.TemporaryDirectory(prefix="repertoire-eval-") as folder,
        Store.open(Path(folder) / "eval.db") as store,
    ):
        yield put_together(home, settings, store, embedder, degraded)
