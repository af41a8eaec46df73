"""Finds a Python on this machine that can run the environment, by running each candidate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from repertoire.boot.errors import NoInterpreterError

OLDEST, NEWEST = (3, 10), (3, 14)  # versions for which the locked packages have wheels
OLDEST_GLIBC = (2, 28)
OLDEST_DARWIN = 22  # the kernel of macOS 13, for which Python 3.10 alone has wheels
SUPPORTED = "Linux with glibc 2.28 or newer (x86_64, arm64), macOS 14 or newer (Apple silicon) or Windows (x64)"
PROBE_LIMIT_S = 15
# The base interpreter, without links: an environment must neither hang on the project's virtual environment that
# happens to be active, nor on a link that the system's next upgrade points elsewhere. A Python that somebody compiled
# without SQLite's or zlib's headers lacks what no wheel brings.
PROBE = """
import importlib.util, json, os, sys, sysconfig
base = getattr(sys, "_base_executable", None) or sys.executable
print(json.dumps({
    "path": base if os.name == "nt" else os.path.realpath(base),
    "version": sys.version_info[:2],
    "wheels": sys.implementation.name == "cpython" and sys.maxsize > 2**32
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and sysconfig.get_platform() != "win-arm64"
        and (sys.platform != "darwin" or os.uname().machine == "arm64")
        and all(importlib.util.find_spec(name) for name in ("_sqlite3", "zlib")),
    "ensurepip": importlib.util.find_spec("ensurepip") is not None,
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python that runs: its version, whether our packages are made for it and run on it, whether it builds a venv."""

    path: Path
    version: tuple[int, int]
    has_wheels: bool
    has_ensurepip: bool

    @property
    def fits(self) -> bool:
        """Whether the locked packages exist for this Python."""
        return self.has_wheels and OLDEST <= self.version <= NEWEST

    def __str__(self) -> str:
        """Return the version and the path, for a person."""
        return f"{self.version[0]}.{self.version[1]} at {self.path}"


def refuse_machine() -> None:
    """Do nothing on a machine for which the locked packages have wheels.

    Raises: NoInterpreterError where no Python could help, saying what the machine is and where Repertoire runs.
    """
    odd = _oddity()
    if odd:
        message = (
            f"this machine ({odd}) has no ready-made packages for Repertoire, which needs {SUPPORTED}: "
            "use such a machine, or name a Python that has the packages of requirements.lock in REPERTOIRE_PYTHON"
        )
        raise NoInterpreterError(message)


def find(*, needs_ensurepip: bool) -> Interpreter:
    """Return the first Python that fits: the running one, or else the newest on PATH.

    Raises: NoInterpreterError saying what was found and what to install.
    """
    seen: list[Interpreter] = []
    for candidate in _candidates():
        found = probe(candidate)
        if found is None:
            continue
        if found.fits and (found.has_ensurepip or not needs_ensurepip):
            return found
        seen.append(found)
    raise NoInterpreterError(_advice(seen))


def probe(candidate: str) -> Interpreter | None:
    """Run a candidate and return its description of itself; None if it is no working Python.

    A version manager's shim can stand on PATH and yet fail, so a name alone proves nothing.
    """
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(
            [candidate, "-I", "-c", PROBE],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PROBE_LIMIT_S,
            check=True,
        )
        answer = json.loads(done.stdout.splitlines()[-1])
        major, minor = answer["version"]
        return Interpreter(Path(answer["path"]), (major, minor), bool(answer["wheels"]), bool(answer["ensurepip"]))
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return None


def _oddity() -> str:
    """Return what makes this machine one without wheels; empty if nothing does."""
    if sys.platform == "win32":
        return ""
    system = os.uname()
    if sys.platform == "darwin":
        if "ARM64" not in system.version:  # `machine` is Intel's for an Intel Python on Apple silicon too
            return "macOS on Intel"
        return "macOS 12 or older" if int(system.release.partition(".")[0]) < OLDEST_DARWIN else ""
    if sys.platform != "linux" or system.machine not in ("x86_64", "aarch64"):
        return f"{system.sysname} on {system.machine}"
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (OSError, ValueError, AttributeError):  # another C library does not know the name
        libc = ""
    version = tuple(int(part) for part in libc.rpartition(" ")[2].split(".") if part.isdigit())
    if not version:
        return "Linux without glibc, as Alpine"
    return "" if version >= OLDEST_GLIBC else f"Linux with {libc}"


def _candidates() -> Iterator[str]:
    yield sys.executable
    tried = {sys.executable}
    names = [f"python3.{minor}" for minor in range(NEWEST[1], OLDEST[1] - 1, -1)] + ["python3", "python"]
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    for name in names:
        for folder in filter(Path.is_absolute, folders):
            candidate = str(folder / (f"{name}.exe" if sys.platform == "win32" else name))
            if candidate not in tried and os.access(candidate, os.X_OK):
                tried.add(candidate)
                yield candidate


def _advice(seen: list[Interpreter]) -> str:
    bare = next((found for found in seen if found.fits), None)
    if bare is not None:
        return (
            f"Python {bare} cannot build environments (ensurepip is missing): "
            "run `apt install python3-venv`, or install uv (https://docs.astral.sh/uv), and try again"
        )
    found = ", ".join(sorted({str(interpreter) for interpreter in seen})) or "none that runs"
    kind = {"darwin": "arm64", "win32": "x64"}.get(sys.platform, "64 bit") + ", with sqlite3 and zlib"
    return (
        f"needs CPython {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]} ({kind}), found {found}: "
        "install one, or uv (https://docs.astral.sh/uv), which fetches it, and try again"
    )
