"""What a server's process does on either transport: log to stderr, tend the dispatcher, leave quickly when told to."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import anyio

from repertoire.boot.heap import resume_collector, share_memory
from repertoire.mcp_server.dispatcher import Dispatcher

LAST_WRITES_SECONDS = 0.3  # the client kills half a second after it first asked
IDLE_CHECK_SECONDS = 30.0


async def tend(dispatcher: Dispatcher) -> None:
    """Get ready before the first question comes, then let go of what nobody uses, until cancelled."""
    try:
        await dispatcher.warm_up()
    finally:
        resume_collector()
    while True:
        await anyio.sleep(IDLE_CHECK_SECONDS)
        dispatcher.tidy()
        await dispatcher.keep_fresh()


def leaving(dispatcher: Dispatcher) -> Callable[[], NoReturn]:
    """Have the process leave with status 0 when it is told to, and return what leaves in the same way."""
    told, tell = os.pipe()

    def finish() -> None:
        os.read(told, 1)
        try:
            dispatcher.finish(LAST_WRITES_SECONDS)
        finally:
            os._exit(0)  # threads that read the pipe or load the model would hold an ordinary exit up

    # A thread of its own: a signal may interrupt the main one while it holds the lock of a queue that finishing needs.
    threading.Thread(target=finish, name="leave", daemon=True).start()

    def tell_to_leave(_number: int = 0, _frame: FrameType | None = None) -> None:
        os.write(tell, b"1")

    def leave() -> NoReturn:
        tell_to_leave()
        while True:
            time.sleep(1)

    signal.signal(signal.SIGTERM, tell_to_leave)
    signal.signal(signal.SIGINT, tell_to_leave)
    return leave


def prepare() -> None:
    """Keep the log off the pipe that carries the protocol, and have threads share their memory."""
    share_memory()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="repertoire: %(message)s")
