"""Runs the parts of a server process that both transports share: logging, maintenance, a quick exit on signals."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import anyio

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

    def leave(_number: int = 0, _frame: FrameType | None = None) -> NoReturn:
        dispatcher.finish(LAST_WRITES_SECONDS)
        os._exit(0)  # an ordinary exit would wait for threads that read the pipe or load the model

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    return leave


def prepare() -> None:
    """Log to stderr, because stdout carries the protocol, and let threads share one memory arena."""
    share_memory()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="repertoire: %(message)s")
