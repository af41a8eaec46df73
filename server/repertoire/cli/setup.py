"""`serve` and `model`: the MCP server for other clients, and the embedding model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from repertoire.app.wiring import find_home
from repertoire.boot.layout import command
from repertoire.cli.output import json_option, show
from repertoire.inference.embedder import fetch
from repertoire.inference.weights import Weights, bundled, find, verify
from repertoire.settings import load

PORT = 8391


@click.command("serve")
@click.option("--http", is_flag=True, help="Use Streamable HTTP instead of stdin and stdout.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen on.")
@click.option(
    "--port",
    default=PORT,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="With --http: the port; 0 means any free port.",
)
@click.pass_context
def serve_command(context: click.Context, http: bool, host: str, port: int) -> None:
    r"""Run the MCP server for any client, until the client leaves or you press Ctrl-C. The plugin starts its own.

    With --http the address is printed first. The server has no password. By default only this machine can reach it,
    and it refuses requests with another Host or Origin, so that no web page can reach it. A session ends when the
    client ends it, or after half an hour without a request.

    \b
    repertoire serve                                             on stdin and stdout
    repertoire serve --http
    claude mcp add --transport http graph http://127.0.0.1:8391/mcp
    """
    given = [
        name
        for name in ("host", "port")
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    ]
    if given and not http:
        message = f"--{given[0]} needs --http"
        raise click.UsageError(message)
    module = "repertoire.mcp_server.http" if http else "repertoire.mcp_server"
    line = command(Path(sys.executable), module, *([host, str(port)] if http else []))
    if sys.platform == "win32":  # exec there returns to the shell before the server has ended
        context.exit(subprocess.call(line))
    sys.stdout.flush()
    os.execv(line[0], line)  # noqa: S606 - no shell is the point: signals and pipes are the server's own


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
