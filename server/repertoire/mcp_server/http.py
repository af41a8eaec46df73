"""Runs the same server over Streamable HTTP: `python -m repertoire.mcp_server.http HOST PORT`, for `repertoire serve`.

Sessions are kept, since what a client calls itself decides whether it gets text alone; one that nobody uses for half
an hour ends. Whoever reaches the port may ask: it is on this machine's own address unless told otherwise, and a page
in a browser is refused by its Host and Origin.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import sys
from collections.abc import Iterator

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from repertoire.boot.listener import HTTP, AddressNotAvailable, listen, written
from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.mcp_server.process import leaving, prepare, tend
from repertoire.mcp_server.server import build_server

PATH = "/mcp"
MOST_SESSIONS = 100
_OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
_OPEN_TO_OTHERS = "anybody who reaches {} can ask, and delete what was recorded: there is no password"
_UNNAMED = "{} is no name of this machine for others, whose requests are refused: tell --host the address that they use"


class _Server(uvicorn.Server):
    """Uvicorn without its signal handlers, which would wait for the streams that clients keep open."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def security(host: str) -> TransportSecuritySettings:
    """Return the Host and Origin headers that a request may have: this machine's names and the listening address."""
    names = {*_OWN_NAMES, written(host)}
    hosts = [form for name in sorted(names) for form in (name, f"{name}:*")]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{form}" for form in hosts])


async def serve(dispatcher: Dispatcher, listener: socket.socket, host: str) -> None:
    """Answer requests until the process gets a signal to exit."""
    server = build_server(dispatcher.handlers)
    app = server.streamable_http_app(
        streamable_http_path=PATH, transport_security=security(host), host=host, max_sessions=MOST_SESSIONS
    )
    config = uvicorn.Config(app, http=HTTP, log_config=None, access_log=False, server_header=False, ws="none")
    async with anyio.create_task_group() as group:
        group.start_soon(tend, dispatcher)
        await _Server(config).serve([listener])
        group.cancel_scope.cancel()


def main(host: str, port: int) -> None:
    """Print the address and serve until interrupted; exit with status 0, or 1 if the address is not available."""
    prepare()
    try:
        listener = listen(host, port)
    except AddressNotAvailable as error:
        sys.exit(f"repertoire: {error}")
    dispatcher = Dispatcher(dict(os.environ))
    leave = leaving(dispatcher)
    sys.stdout.write(f"http://{written(host)}:{listener.getsockname()[1]}{PATH}\n")
    sys.stdout.flush()
    for warning in warnings(host, listener.getsockname()[0]):
        sys.stderr.write(f"repertoire: {warning}\n")
    anyio.run(serve, dispatcher, listener, host)
    leave()


def warnings(host: str, bound: str) -> Iterator[str]:
    """Yield what a person should know who listens for other machines: the address as told, and as it was bound."""
    address = ipaddress.ip_address(bound.split("%", maxsplit=1)[0])
    if not address.is_loopback:
        yield _OPEN_TO_OTHERS.format(written(host))
    if address.is_unspecified:
        yield _UNNAMED.format(written(host))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
