"""Runs one of the package's modules with only this checkout and its interpreter's packages on its path."""

from __future__ import annotations

import os
import sys

_COMMAND_LINE = "repertoire"
_WHY = 200  # characters of why a package cannot be imported; some say it in paragraphs
_CATCH = (_COMMAND_LINE, "repertoire.cli.checkup", "repertoire.mcp_server", "repertoire.mcp_server.http")
# pathlib would be read while an interrupt still becomes a traceback
SERVER = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))  # noqa: PTH118, PTH120


def main() -> None:
    """Run the module that the first argument names, with the arguments after it."""
    module, *arguments = sys.argv[1:]
    sys.path.insert(0, SERVER)
    from repertoire.boot.interrupts import leave_on_interrupt  # noqa: PLC0415 - needs the path set above
    from repertoire.boot.threads import one_thread  # noqa: PLC0415 - needs the path set above

    if module in _CATCH:  # these say from where on they catch an interrupt
        leave_on_interrupt()
    one_thread()
    from repertoire.boot.home import name_user_folder  # noqa: PLC0415 - as pathlib

    name_user_folder()
    import runpy  # noqa: PLC0415 - as pathlib

    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except ImportError as error:
        if module != _COMMAND_LINE or (error.name or "").startswith("repertoire"):
            raise
        sys.exit(_damaged(error))


def _damaged(error: ImportError) -> str:
    """Have an environment that lacks a package built anew, at most once a day; return what to say of it."""
    from pathlib import Path  # noqa: PLC0415 - as in main

    from repertoire.boot.serve import condemn, passing  # noqa: PLC0415 - hardly ever needed

    if why := passing(error):
        mend = "free some memory, or set REPERTOIRE_HOME to a folder from which programs may run, and try again"
        return f"repertoire: a package cannot be loaded ({why[-_WHY:]}); {mend}"
    why = " ".join(str(error).split())[:_WHY]
    anew = condemn(Path(sys.prefix))
    mend = "run the same command again, which builds it anew" if anew else "run `repertoire doctor`"
    return f"repertoire: the environment is damaged ({why}); {mend}"


if __name__ == "__main__":
    main()
