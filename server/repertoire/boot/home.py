"""Finds Repertoire's data folder, which the command line, the hooks and the server share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from repertoire.boot.errors import HomeError

MENDED = ".mended"  # suffix of a mended copy that is about to replace the database


def locate() -> Path:
    """Return the path of the data folder without touching the disk.

    Raises: HomeError when the environment does not tell where a user's data belong.
    """
    chosen = os.environ.get("REPERTOIRE_HOME", "").strip()
    if chosen == "~" or chosen[:2] in ("~/", f"~{os.sep}"):  # a quoted tilde in a settings file reaches us unexpanded
        return _user_folder() / chosen[2:]
    if chosen:
        return Path(chosen).absolute()
    if sys.platform == "win32":
        return _absolute("LOCALAPPDATA", Path("AppData", "Local")) / "repertoire"
    if sys.platform == "darwin":
        return _user_folder() / "Library" / "Application Support" / "repertoire"
    return _absolute("XDG_DATA_HOME", Path(".local", "share")) / "repertoire"


def home() -> Path:
    """Return the data folder, created for this user alone (0700) if it is not there.

    Raises: HomeError when it cannot be found or created.
    """
    path = locate()
    if any("\udc80" <= sign <= "\udcff" for sign in str(path)):  # a byte that is no UTF-8; SQLite takes no such name
        message = f"the name of the data folder {str(path)!r} is not UTF-8; set REPERTOIRE_HOME to another"
        raise HomeError(message)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        message = (
            f"cannot create the data folder {path} ({error.strerror}); "
            "set REPERTOIRE_HOME to a folder that can be written"
        )
        raise HomeError(message) from error
    return path


def writable(folder: Path) -> bool:
    """Tell whether files can be created in a folder."""
    return os.access(folder, os.W_OK | os.X_OK)


def name_user_folder() -> None:
    """Let `~` be the root folder, as Docker has it, where REPERTOIRE_HOME is set and no user's folder is known."""
    if os.environ.get("REPERTOIRE_HOME") and os.path.expanduser("~") == "~":  # noqa: PTH111 - Path.home would raise
        os.environ["HOME"] = os.sep


def database_path(folder: Path) -> Path:
    """Return the path of the database in the data folder."""
    return folder / "repertoire.db"


def backup_path(database: Path) -> Path:
    """Return the path of the backup of a database."""
    return database.with_name(f"{database.name}.backup")


def lost(path: Path) -> str:
    """Return the evidence that a database with content was lost from this path; empty if there is none.

    A file that was removed together with its backup is no loss: so a person begins anew.
    """
    evidence = _evidence(path)
    # Another process may have made the database after a caller found none: its log is then no remains of a lost one.
    return "" if _size(path) else evidence


def _evidence(path: Path) -> str:
    if _size(path.with_name(path.name + "-wal")):
        return "its file is gone, its log is not"
    if not path.exists():
        waits = any(path.parent.glob(f"{path.name}{MENDED}*"))
        gone = "its file is gone, its backup is not" if _size(backup_path(path)) else ""
        return "what takes its place was not moved there yet" if waits else gone
    return "it is empty, and was not before" if _has_remains(path) else ""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # not there any more
        return 0


def _has_remains(path: Path) -> bool:
    """Tell whether files lie beside the database that are made only after a database was written."""
    folder, clones = path.parent, clones_path(path.parent)
    kept = any((folder / name).exists() for name in ("refresh.json", "unwritten"))
    kept = kept or backup_path(path).exists()
    return kept or any(folder.glob(f"{path.name}.damaged-*")) or (clones.is_dir() and any(clones.iterdir()))


def environment_path(folder: Path) -> Path:
    """Return the path of the folder that holds the environments."""
    return folder / "env"


def clones_path(folder: Path) -> Path:
    """Return the folder that holds the clones of sources."""
    return folder / "sources"


def projects_path(folder: Path) -> Path:
    """Return the folder that holds the memories of projects."""
    return folder / "projects"


def log_path(folder: Path) -> Path:
    """Return the path of the installers' log."""
    return folder / "log" / "install.log"


def _absolute(variable: str, below_user: Path) -> Path:
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else _user_folder() / below_user


def _user_folder() -> Path:
    named = Path(os.environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", ""))
    if named.is_absolute():
        return named
    recorded = Path(_recorded_folder())
    if not recorded.is_absolute():
        message = "cannot tell where this user's data belong (HOME is not set); set REPERTOIRE_HOME to a folder"
        raise HomeError(message)
    return recorded


def _recorded_folder() -> str:
    if sys.platform == "win32":
        return ""
    import pwd  # noqa: PLC0415 - POSIX only

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a container may run under a number that no user has
        return ""
