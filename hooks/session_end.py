#!/usr/bin/env python3
"""Deletes what is kept of a session's failing commands when the session ends; prints nothing, and never fails.

Standard library only, Python 3.9 and later: the client gives it 1.5 seconds.
"""

# Annotations and syntax stay readable to Python 3.6, where this must be as silent as elsewhere.
import contextlib
import os
import signal
import sys
import threading
from pathlib import Path

DEADLINE_SECONDS = 1.0
SERVER = str(Path(__file__).resolve().parent.parent / "server")


def main() -> None:
    """Delete the file of the session that the client reports; exit with status 0 in any case, within the deadline."""
    with contextlib.suppress(Exception):
        for ended in (signal.SIGINT, signal.SIGTERM):
            signal.signal(ended, lambda *_: os._exit(0))
        deadline = threading.Timer(DEADLINE_SECONDS, os._exit, (0,))
        deadline.daemon = True
        deadline.start()
        sys.path.insert(0, SERVER)
        from repertoire.boot.home import locate  # noqa: PLC0415
        from repertoire.boot.hook_input import read_told  # noqa: PLC0415
        from repertoire.boot.session_files import remove  # noqa: PLC0415

        remove(locate(), str(read_told()["session_id"]))
    os._exit(0)


if __name__ == "__main__":
    main()
