"""Runs the server on stdin and stdout until the client leaves: `python -m repertoire.mcp_server`."""

from __future__ import annotations

import os

import anyio
from mcp.server.stdio import stdio_server

from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.mcp_server.lines import client_lines
from repertoire.mcp_server.process import leaving, prepare, tend
from repertoire.mcp_server.server import build_server


async def serve(dispatcher: Dispatcher) -> None:
    """Answer calls until the client closes the pipe."""
    server = build_server(dispatcher.handlers)
    async with stdio_server(stdin=client_lines()) as (read, write), anyio.create_task_group() as group:
        group.start_soon(tend, dispatcher)
        await server.run(read, write, server.create_initialization_options())
        group.cancel_scope.cancel()


def main() -> None:
    """Serve, and exit with status 0 in whatever way the client disconnects."""
    prepare()
    dispatcher = Dispatcher(dict(os.environ))
    leave = leaving(dispatcher)
    try:
        anyio.run(serve, dispatcher)
    except Exception as error:  # the door: in groups, as many as parts wrote when the client had left
        if not _has_left(error):
            raise
    leave()


def _has_left(error: Exception) -> bool:
    """Tell whether nothing is wrong but that the client does not read any more."""
    inner = getattr(error, "exceptions", ())
    return all(map(_has_left, inner)) if inner else isinstance(error, BrokenPipeError)


if __name__ == "__main__":
    main()
