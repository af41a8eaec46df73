"""`model`: shows, checks and fetches the embedding model."""

from __future__ import annotations

import os
from typing import Any

import click

from repertoire.app.wiring import find_home
from repertoire.cli.output import json_option, show
from repertoire.inference.embedder import fetch
from repertoire.inference.weights import Weights, bundled, find, verify
from repertoire.settings import load


@click.group("model")
def model_command() -> None:
    r"""Show, check or fetch the embedding model.

    \b
    repertoire model show
    """


@model_command.command("show")
@json_option
def show_command(as_json: bool) -> None:
    r"""Name the configured model and check its files.

    \b
    repertoire model show
    """
    home = find_home()
    weights = find(load(home, os.environ).model, cache=home / "models")
    verify(weights)
    size = f"{weights.bytes / 1e6:.1f} MB"
    show(
        _data(weights),
        lambda: f"{weights.model}, {weights.dimensions} dimensions, {size}, in {weights.folder}",
        as_json=as_json,
    )


@model_command.command("fetch")
@click.argument("name")
@json_option
def fetch_command(name: str, as_json: bool) -> None:
    r"""Download the fastembed model NAME into the home: the only command that needs a model hub.

    \b
    repertoire model fetch sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2
    REPERTOIRE_MODEL=sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2 repertoire refresh
    """
    home = find_home()
    weights = fetch(name, cache=home / "models")
    use = f"use it with REPERTOIRE_MODEL={name} (the bundled one is {bundled().name})"
    show(_data(weights), lambda: f"fetched {weights.model}; {use}", as_json=as_json)


def _data(weights: Weights) -> dict[str, Any]:
    return {
        "model": weights.model,
        "dimensions": weights.dimensions,
        "bytes": weights.bytes,
        "folder": str(weights.folder),
    }
