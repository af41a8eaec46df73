"""Run the real command line in a process of its own, forked from one that has imported it already.

Most of a short command's time is its imports; two hundred tests of the command line wait for them no more.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from io import FileIO, TextIOWrapper
from multiprocessing import forkserver
from pathlib import Path
from unittest import mock

from repertoire.boot.threads import one_thread
from repertoire.cli.main import VERBS, main

TESTS = Path(__file__).resolve().parents[1]
PRELOADED = (
    "cli.forked",
    *(f"repertoire.cli.{module}" for module in sorted({*VERBS.values()} - {"serve", "commons"})),
    *("onnxruntime", "tokenizers", "sqlite_vec", "networkx", "repertoire.inference.bundled"),
)


def run_forked(
    arguments: tuple[str, ...], cwd: Path, environment: dict[str, str], timeout_s: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run `repertoire` with arguments and return what it wrote and its exit status; TimeoutExpired where it hangs."""
    with tempfile.TemporaryDirectory() as folder:
        written = [Path(folder, name) for name in ("out", "error")]
        process = _imported().Process(target=_command, args=(arguments, cwd, environment, written))
        process.start()
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(arguments, timeout_s)
        out, error = (file.read_text("utf-8") for file in written)
    return subprocess.CompletedProcess(["repertoire", *arguments], process.exitcode, out, error)


@cache
def _imported() -> multiprocessing.context.ForkServerContext:
    """Start the process that imports the command line, with numpy on one thread as a user's has it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    paths = os.pathsep.join([str(TESTS.parent / "server"), str(TESTS)])
    with mock.patch.dict(os.environ, {"PYTHONPATH": paths}):
        one_thread()
        forkserver.ensure_running()
    return context


def _command(arguments: tuple[str, ...], cwd: Path, environment: dict[str, str], written: list[Path]) -> None:
    """Be the process that a user starts: its environment, its folder, files for what it writes, its arguments."""
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(cwd)
    for number, file in enumerate(written, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
    sys.stdout = TextIOWrapper(FileIO(1, "w", closefd=False), "utf-8", line_buffering=True)
    sys.stderr = TextIOWrapper(FileIO(2, "w", closefd=False), "utf-8", "backslashreplace", line_buffering=True)
    sys.argv = ["repertoire", *arguments]
    one_thread()
    main()
