"""Says what to do where this server's own files were replaced or removed while it runs, as an update does."""

from __future__ import annotations

import sys
from pathlib import Path

_RESTART = (
    "the plugin's files or its environment were replaced or removed while this session ran, as an update does; "
    "restart the session"
)


def restart_due(error: BaseException | None = None) -> str:
    """Return what to say where this server's files are gone, or an import found others than before; else nothing.

    What is imported late comes from the disk: other files there do not fit what this process has read before.
    """
    gone = not (Path(__file__).exists() and Path(sys.executable).exists())
    changed = isinstance(error, ImportError) and (error.name or "").startswith("repertoire")
    return _RESTART if gone or changed else ""
