"""Starts the command line in the environment, and builds the environment first if there is none."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from repertoire.boot.environment import ensure, ready
from repertoire.boot.errors import BootError
from repertoire.boot.home import home, locate
from repertoire.boot.interrupts import INTERRUPTED, leave_on_interrupt, raise_on_interrupt
from repertoire.boot.layout import become, command
from repertoire.boot.progress import Terminal
from repertoire.boot.streams import replace_closed

_DOCTOR = "doctor"
_COMPLETING = "_REPERTOIRE_COMPLETE"  # set by a shell that waits for completions after the tab key


def main(arguments: list[str]) -> NoReturn:
    """Replace this process by the command line; if that fails, print one line with the reason and exit."""
    replace_closed()
    if arguments[:1] == [_DOCTOR]:  # `doctor` examines the environment, so it must run without it
        line = command(Path(sys.executable), "repertoire.cli.checkup", *arguments[1:])
    else:
        line = command(_python(), "repertoire", *arguments)
    become(line)


def _python() -> Path:
    terminal = Terminal(sys.stderr)
    try:
        raise_on_interrupt()
        if _COMPLETING in os.environ and ready(locate()) is None:
            sys.exit(0)
        return ensure(home(), report=terminal)
    except BootError as error:
        terminal.close()
        sys.stderr.write(f"repertoire: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        terminal.close()
        sys.stderr.write("repertoire: interrupted; the next run starts the build again\n")
        sys.exit(INTERRUPTED)
    finally:
        leave_on_interrupt()
        terminal.close()
