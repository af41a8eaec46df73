"""`serve`: the MCP server for any client."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from repertoire.boot.layout import become, command

PORT = 8391


@click.command("serve")
@click.option("--http", is_flag=True, help="Use Streamable HTTP instead of stdin and stdout.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="With --http: the address to listen on, by which clients name it.",
)
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
    become(command(Path(sys.executable), module, *([host, str(port)] if http else [])))
