"""Runs the MCP server in the environment; if it cannot be imported, goes back to the launcher before it reads input.

A server that ends before it has answered is not started again for a quarter of an hour, so a damaged environment
must not end it: the launcher answers the client and builds the environment anew.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import runpy
import sys
import time
import traceback
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2]
MODULE = "repertoire.mcp_server"
# What the system's loader says where memory or files are short, or the folder's programs may not run.
PASSING = ("failed to map segment", "cannot allocate memory", "too many open files")
HEAL_AGAIN_S = 86_400  # shortest time between two rebuilds: if no environment helps, not every start must build one


def main() -> None:
    """Run the server, or replace this process by the launcher's proxy."""
    sys.path.insert(0, str(SERVER))
    try:
        importlib.import_module("repertoire.boot.threads").one_thread()
        importlib.import_module("repertoire.boot.heap").pause_collector()
        importlib.import_module("repertoire.boot.home").name_user_folder()
        importlib.import_module(f"{MODULE}.__main__")
    except Exception as error:  # noqa: BLE001 - a door: whatever it is, the client must get its handshake
        traceback.print_exc(file=sys.stderr)
        if isinstance(error, ImportError) and not ((error.name or "").startswith("repertoire") or passing(error)):
            condemn(Path(sys.prefix))
        front = [sys.executable, "-I", str(SERVER / "launch.py"), "--front"]
        os.execv(front[0], front)  # noqa: S606 - no shell is the point
    del sys.modules[f"{MODULE}.__main__"]
    runpy.run_module(MODULE, run_name="__main__", alter_sys=True)


def passing(error: ImportError) -> str:
    """Return why a package cannot be loaded where the environment is not to blame, which another would not mend."""
    lines = (line for line in str(error).splitlines() if any(words in line.lower() for words in PASSING))
    return next(lines, "").strip()


def condemn(env: Path) -> bool:
    """Mark a damaged environment as unfinished, so that the next start builds it anew; tell whether that was done."""
    healed = env.parent / "healed"
    if os.environ.get("REPERTOIRE_PYTHON"):  # it was given, and is nobody's to rebuild
        return False
    with contextlib.suppress(OSError):  # a read-only home
        # A mark from the future was made by a clock that was wrong: it must not forbid until the clock gets there.
        ago = time.time() - healed.stat().st_mtime if healed.exists() else -1.0
        if (env / ".ready").exists() and not 0 <= ago < HEAL_AGAIN_S:
            healed.touch()
            (env / ".ready").unlink()
            return True
    return False


if __name__ == "__main__":
    main()
