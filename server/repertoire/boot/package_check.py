"""Checks, inside an environment, which packages differ from the lock and whether the native ones can be loaded."""

from __future__ import annotations

import importlib
import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

# Compiled packages and those that every verb imports: such a package can be installed and yet not load on this machine.
_LOADED = ("apsw", "click", "mcp", "networkx", "numpy", "onnxruntime", "rich", "sqlite_vec", "tokenizers", "yaml")
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])?==([^\s;\\]+)\s*(?:;([^\\]+))?")


def main() -> None:
    """Print the report on the lock file named by the first argument, as JSON."""
    lock = Path(sys.argv[1]).read_text(encoding="utf-8")
    sys.stdout.write(json.dumps(report(lock)))


def report(lock: str) -> dict[str, Any]:
    """Return which packages are missing, differ or cannot be imported, and the version of the vector extension."""
    missing, differing, known = [], [], 0
    for name, version in _pins(lock):
        known += 1
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
            continue
        if found != version:
            differing.append(f"{name} {found} instead of {version}")
    broken = {name: error for name in _LOADED if name not in missing and (error := _import(name))}
    vectors, trouble = ("", broken.get("apsw") or broken.get("sqlite_vec", ""))
    if not trouble:
        vectors, trouble = _vectors()
    return {
        "python": ".".join(map(str, sys.version_info[:3])),
        "packages": known,
        "missing": missing,
        "differing": differing,
        "broken": broken,
        "vectors": vectors,
        "trouble": trouble,
    }


def _pins(lock: str) -> list[tuple[str, str]]:
    """Return the packages and versions that the lock pins for this machine."""
    found = [match.groups() for line in lock.splitlines() if (match := _PIN.match(line))]
    try:
        holds = importlib.import_module("packaging.markers").Marker
    except ImportError:  # `packaging` itself is then reported as missing; conditional pins are left out
        return [(name, version) for name, version, marker in found if not marker]
    return [(name, version) for name, version, marker in found if not marker or holds(marker.strip()).evaluate()]


def _import(name: str) -> str:
    try:
        importlib.import_module(name)
    except Exception as error:  # noqa: BLE001 - whatever a damaged package raises is the finding
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return ""


def _vectors() -> tuple[str, str]:
    """Load the vector extension as the store does; return its version, or else the reason why it does not load."""
    try:
        apsw, sqlite_vec = importlib.import_module("apsw"), importlib.import_module("sqlite_vec")
        db = apsw.Connection(":memory:")
        db.enable_load_extension(True)  # noqa: FBT003 - apsw takes it by position alone
        db.load_extension(sqlite_vec.loadable_path())
        return str(db.execute("SELECT vec_version()").fetchall()[0][0]), ""
    except Exception as error:  # noqa: BLE001 - the same
        return "", f"{type(error).__name__}: {error}".splitlines()[0][:200]


if __name__ == "__main__":
    main()
