"""The program that builds the environment: detached behind a session, or with development packages for `tools/check`.

    python3 server/repertoire/boot/run.py repertoire.boot.build [--dev] [--detached]

Prints the environment's python.
"""

from __future__ import annotations

import os
import sys

from repertoire.boot import environment
from repertoire.boot.errors import BootError
from repertoire.boot.home import home
from repertoire.boot.layout import BASE, DEV
from repertoire.boot.progress import Terminal, silent

NICENESS = 5  # priority of a detached build; not lower, because a tool call waits for it


def main(arguments: list[str]) -> int:
    """Build the environment as the arguments say; return the exit status."""
    detached = "--detached" in arguments
    if detached and sys.platform != "win32":
        os.nice(NICENESS)
    terminal = Terminal(sys.stderr)
    try:
        python = environment.ensure(
            home(), report=silent if detached else terminal, kind=DEV if "--dev" in arguments else BASE
        )
    except BootError as error:
        terminal.close()
        sys.stderr.write(f"repertoire: {error}\n")
        return 1
    terminal.close()
    sys.stdout.write(f"{python}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
