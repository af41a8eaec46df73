"""Speaks HTTP/1.1 with clients that may be slow: each has some seconds to send a request, and to take an answer.

A connection that a client keeps busy costs a socket; a thread and a connection to the database are taken only once all
of a request is there, and given back before the answer is sent.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from repertoire.domain.errors import InvalidRequest

CLIENT_S = "REPERTOIRE_COMMONS_CLIENT_SECONDS"
_USUAL_S = 30.0
_LATE = b'{"detail":"the request was not sent in time"}'
_ANSWER = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(_LATE), _LATE)
)


def client_seconds() -> float:
    """Return how long a client may take.

    Raises:
        InvalidRequest: the variable is no number of seconds.
    """
    said = os.environ.get(CLIENT_S, "")
    try:
        seconds = float(said) if said else _USUAL_S
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3_600:
        message = f"{CLIENT_S} is {said[:20]!r}; set it to the seconds that a client may take, such as 30"
        raise InvalidRequest(message)
    return seconds


class PatientProtocol(H11Protocol):
    """One connection. uvicorn itself waits for a begun request, and for a client that takes no answer, for ever."""

    seconds: ClassVar[float] = _USUAL_S

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._sends, self._takes = _Timer(self._too_slow), _Timer(self._drop)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        self._sends.stop()
        self._takes.stop()

    def pause_writing(self) -> None:
        """Wait for the client to take what was written."""
        super().pause_writing()
        self._takes.start(self.loop, self.seconds)

    def resume_writing(self) -> None:
        """Write on: the client took enough."""
        super().resume_writing()
        self._takes.stop()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection without a next request, also one whose last answer was never taken."""
        super().timeout_keep_alive_handler()
        if self.transport.get_write_buffer_size():
            self._drop()

    def _look(self) -> None:
        """Wait while the client has to send something."""
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            self._sends.start(self.loop, self.seconds)
        else:
            self._sends.stop()

    def _too_slow(self) -> None:
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE} and not self.transport.is_closing():
            self.transport.write(_ANSWER)
        self.transport.close()

    def _drop(self) -> None:
        self.transport.abort()  # closing it would wait for the client to take what is left


class _Timer:
    """Calls once, some seconds after it was first asked to, unless it is stopped before."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._handle: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        """Start, unless it runs."""
        self._handle = self._handle or loop.call_later(seconds, self._call)

    def stop(self) -> None:
        """Stop, if it runs."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = None
