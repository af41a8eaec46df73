"""`model`: which embedding model is used, and the one command that fetches another."""

from __future__ import annotations

import os

import click

from repertoire.app.wiring import find_home
from repertoire.inference.embedder import fetch
from repertoire.inference.weights import bundled, find, verify
from repertoire.settings import load


@click.group("model")
def model_command() -> None:
    r"""Show, check or fetch the embedding model.

    \b
    repertoire model show
    """


@model_command.command("show")
def show_command() -> None:
    r"""Name the configured model and check its files.

    \b
    repertoire model show
    """
    home = find_home()
    weights = find(load(home, os.environ).model, cache=home / "models")
    verify(weights)
    click.echo(f"{weights.model}, {weights.dimensions} dimensions, {weights.bytes / 1e6:.1f} MB, in {weights.folder}")


@model_command.command("fetch")
@click.argument("name")
def fetch_command(name: str) -> None:
    r"""Download the fastembed model NAME into the home: the only command that needs a model hub.

    \b
    repertoire model fetch sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2
    REPERTOIRE_MODEL=sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2 repertoire refresh
    """
    home = find_home()
    weights = fetch(name, cache=home / "models")
    click.echo(f"fetched {weights.model}; use it with REPERTOIRE_MODEL={name} (the bundled one is {bundled().name})")
