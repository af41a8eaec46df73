"""Runs the server on stdin and stdout until the client leaves: `python -m repertoire.mcp_server`."""

from __future__ import annotations

import logging
import os
import signal
import sys
from types import FrameType

import anyio
from mcp.server.stdio import stdio_server

from repertoire.mcp_server.desk import Desk
from repertoire.mcp_server.server import build_server

LAST_WRITES_SECONDS = 0.3  # the client kills half a second after it first asked
IDLE_CHECK_SECONDS = 30.0


async def serve(desk: Desk) -> None:
    """Answer until the client closes the pipe."""
    server = build_server(desk.handlers)
    async with stdio_server() as (read, write), anyio.create_task_group() as group:
        group.start_soon(desk.warm_up)
        group.start_soon(_watch, desk)
        await server.run(read, write, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _watch(desk: Desk) -> None:
    while True:
        await anyio.sleep(IDLE_CHECK_SECONDS)
        desk.tidy()


def main() -> None:
    """Serve, and leave with status 0 however the client goes."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="repertoire: %(message)s")
    desk = Desk(dict(os.environ))

    def leave(_number: int = 0, _frame: FrameType | None = None) -> None:
        desk.finish(LAST_WRITES_SECONDS)
        os._exit(0)  # threads that read the pipe or load the model would hold an ordinary exit up

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    anyio.run(serve, desk)
    leave()


if __name__ == "__main__":
    main()
