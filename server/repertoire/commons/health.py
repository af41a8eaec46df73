"""Exits with 0 if the server at an address answers that it is ready: the health check of a container.

A module and an address, since not every engine keeps a program of several words together.
"""

from __future__ import annotations

import sys
import urllib.request

_WAIT_S = 4.0


def run(address: str) -> int:
    """Return the exit status."""
    try:
        with urllib.request.urlopen(address, timeout=_WAIT_S) as answer:  # noqa: S310 - the compose file's own address
            return int(answer.status != 200)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{address} is not ready: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
