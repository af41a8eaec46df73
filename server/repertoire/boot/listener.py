"""Opens the socket that a server listens on, the same for every server."""

from __future__ import annotations

import socket
import sys

# uvicorn's reader of requests. httptools, which it takes wherever that is installed, keeps the blanks around a header's
# value, which MCP's conformance suite refuses.
HTTP = "h11"


class AddressNotAvailable(OSError):
    """Nothing can listen there; the message is one line for a person."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes any free port.

    Raises:
        AddressNotAvailable: the address is not this machine's, or in use.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        # with its protocol named, asyncio sets TCP_NODELAY on its connections: without, each answer waits 40 ms
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if sys.platform != "win32":  # on Windows, the option would let two servers listen on one port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()
        except OSError:
            listener.close()
            raise
    except OSError as error:
        message = f"cannot listen on {written(host)}:{port} ({error.strerror}); choose another --port"
        raise AddressNotAvailable(message) from error
    return listener


def written(host: str) -> str:
    """Return a host in the form for URLs (IPv6 in brackets)."""
    return f"[{host}]" if ":" in host else host
