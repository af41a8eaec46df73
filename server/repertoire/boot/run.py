"""Runs one of the package's modules with only this checkout and its interpreter's packages on its path."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2]


def main() -> None:
    """Run the module that the first argument names, with the arguments after it."""
    module, *arguments = sys.argv[1:]
    sys.path.insert(0, str(SERVER))
    from repertoire.boot.threads import one_thread  # noqa: PLC0415 - needs the path set above

    one_thread()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
