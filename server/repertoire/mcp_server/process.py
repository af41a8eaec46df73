"""Runs the parts of a server process that both transports share: logging, maintenance, a quick exit on signals."""

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

from repertoire.app.current_project import keep_project
from repertoire.boot.heap import resume_collector, share_memory
from repertoire.mcp_server.dispatcher import Dispatcher

LAST_WRITES_SECONDS = 0.3  # the client kills the process half a second after its first signal
IDLE_CHECK_SECONDS = 30.0


async def tend(dispatcher: Dispatcher) -> None:
    """Warm the server up before the first question, then free unused memory regularly, until cancelled."""
    try:
        await dispatcher.warm_up()
    finally:
        resume_collector()
    while True:
        await anyio.sleep(IDLE_CHECK_SECONDS)
        dispatcher.tidy()
        await dispatcher.keep_fresh()


def leaving(dispatcher: Dispatcher) -> Callable[[], NoReturn]:
    """Install handlers that exit with status 0 on signals, and return a function that exits in the same way."""
    asked, ask = os.pipe()

    def finish() -> None:
        os.read(asked, 1)
        try:
            dispatcher.finish(LAST_WRITES_SECONDS)
        finally:
            os._exit(0)  # an ordinary exit would wait for threads that read the pipe or load the model

    # A thread of its own: a signal may interrupt the main one while it holds the lock of a queue that finishing needs.
    threading.Thread(target=finish, name="leave", daemon=True).start()

    def ask_to_leave(_number: int = 0, _frame: FrameType | None = None) -> None:
        os.write(ask, b"1")

    def leave() -> NoReturn:
        ask_to_leave()
        while True:
            time.sleep(1)

    signal.signal(signal.SIGTERM, ask_to_leave)
    signal.signal(signal.SIGINT, ask_to_leave)
    return leave


def prepare() -> None:
    """Log to stderr, because stdout carries the protocol, let threads share one memory arena, and keep the project."""
    share_memory()
    keep_project()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="repertoire: %(message)s")
