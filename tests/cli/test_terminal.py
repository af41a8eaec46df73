"""In the hand: wrapped and weighted on a terminal, plain in a pipe, silent when nobody reads on, gone on Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Run
from repertoire.store.database import Store
from sample_home import component, filled_home

fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))

NARROW = 60
ESCAPE = "\x1b["
LONG = "Reviews baskets that were woven by hand, and says of each what is well and what is not. " * 2
Look = Callable[..., str]
REPERTOIRE = [sys.executable, "-m", "repertoire"]


@pytest.fixture
def shelf(environment: dict[str, str]) -> dict[str, str]:
    """Return the environment of a user with a shelf."""
    filled_home(Path(environment["REPERTOIRE_HOME"]), component("skill", "basket-review", LONG))
    return environment


@pytest.fixture
def look(shelf: dict[str, str], tmp_path: Path) -> Look:
    """Return what a person sees of a command on a terminal, of sixty columns if not told otherwise."""

    def at(*arguments: str, width: int = NARROW, **more: str) -> str:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, b"\x18\x00" + bytes([width]) + b"\x00" * 5)
        environment = {**shelf, "TERM": "xterm-256color", **more}
        process = subprocess.Popen(
            [*REPERTOIRE, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=tmp_path
        )
        os.close(theirs)
        seen = b""
        while part := _read(ours):
            seen += part
        os.close(ours)
        assert process.wait(timeout=60) == 0, seen
        return seen.decode().replace("\r\n", "\n")

    return at


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux's way of saying that the other end is closed
        return b""


def test_a_narrow_terminal_gets_prose_in_its_width_and_whole_lines_to_copy(look: Look, run: Run) -> None:
    seen = look("search", "review woven baskets")
    plain = re.sub(r"\x1b\[[\d;]*m", "", seen)
    assert seen != plain
    wide = [line for line in plain.splitlines() if len(line) > NARROW]
    assert all(line.lstrip().startswith(("install: ", "then: ", "id: ")) for line in wide), wide
    assert " ".join(LONG.split())[:150] in " ".join(plain.split())
    assert ESCAPE not in run("search", "review woven baskets").stdout


def test_what_is_examined_is_wrapped_on_a_terminal_and_a_line_each_in_a_pipe(look: Look, run: Run) -> None:
    wide, seen = run("doctor").stdout, look("doctor")
    assert any(len(line) > NARROW for line in wide.splitlines())
    assert all(line.startswith(("ok", "warn", " " * 19 + "→ ")) for line in wide.splitlines()[:-1])
    over = [line for line in seen.splitlines() if len(line) > NARROW]
    assert all(len(line[19:].split()) == 1 or re.search("`|claude |chmod ", line) for line in over)
    took = re.compile(
        r"(?:ok|warn) +hooks .*?(?=(?:ok|warn) +client)|\d+ ms|\d+ ok, \d+ warn"
    )  # as this machine is busy
    assert took.sub("", " ".join(seen.split())) == took.sub("", " ".join(wide.split()))
    assert seen.count("`repertoire ") == wide.count("`repertoire ") > 0


def test_the_second_line_of_an_item_is_set_in_and_a_mark_never_stands_alone(
    environment: dict[str, str], look: Look, run: Run, tmp_path: Path
) -> None:
    bare = component("skill", f"basket-{'weave-' * 9}review", "Looks at it.")
    filled_home(Path(environment["REPERTOIRE_HOME"]), bare)
    assert re.search(r"\n  - \S*basket-weave-\S+\n", look("status"))
    project = ("--project", str(tmp_path / "project"))
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert run("project", "save", "note", LONG[:150]).returncode == 0
    quoted, listed = look("project", "list", *project).split("\nnote:")
    assert "\n  " not in quoted
    assert {line[:2] for line in listed.splitlines()[1:]} == {"  "}


def test_sources_are_a_table_on_a_terminal_and_lines_in_a_pipe(look: Look, run: Run, tmp_path: Path) -> None:
    assert run("refresh", "--text-only").returncode == 0  # which finds no folder of the shelf
    far = tmp_path / "where-the-baskets-are-woven"
    far.mkdir()
    assert run("ingest", str(far)).returncode == 0
    assert re.search(rf"(?m)^folder:{re.escape(str(far))}\s", look("sources"))
    seen = look("sources", width=200, NO_COLOR="1")
    assert re.search(r"source +.*kind +.*components", seen)
    assert not re.search(r"\x1b\[(?:3|4|9|10)\d", seen), "a colour"
    assert seen.endswith("1 source not read again; `repertoire stale` says why\n")
    assert re.match(r"folder:\S+ \(folder\): \d+ components, read ", run("sources").stdout)


@pytest.mark.parametrize("arguments", [("search", "basket", "--json"), ("doctor",)])
def test_a_reader_who_has_seen_enough_is_no_failure_to_speak_of(
    shelf: dict[str, str], arguments: tuple[str, ...], tmp_path: Path
) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    module = "repertoire.cli.checkup" if arguments == ("doctor",) else "repertoire"
    line = [sys.executable, "-m", module, *(() if arguments == ("doctor",) else arguments)]
    done = subprocess.run(
        line, stdout=theirs, stderr=subprocess.PIPE, env=shelf, cwd=tmp_path, text=True, timeout=60, check=False
    )
    os.close(theirs)
    assert done.stderr == ""
    assert done.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="NOT TESTED HERE: there is no /dev/full")
@pytest.mark.parametrize("arguments", [("search", "basket", "--json"), ("sources",), ("--help",), ("doctor",)])
def test_an_output_that_is_full_is_one_line_and_a_failure(
    shelf: dict[str, str], arguments: tuple[str, ...], tmp_path: Path
) -> None:
    module = "repertoire.cli.checkup" if arguments == ("doctor",) else "repertoire"
    line = [sys.executable, "-m", module, *(() if arguments == ("doctor",) else arguments)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            line, stdout=full, stderr=subprocess.PIPE, env=shelf, cwd=tmp_path, text=True, timeout=60, check=False
        )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "No space left on device" in done.stderr


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_ingest_leaves_what_was_there_and_says_so(shelf: dict[str, str], tmp_path: Path) -> None:
    # a git that never ends, found first on the path
    stuck, sign = tmp_path / "bin" / "git", tmp_path / "running"
    stuck.parent.mkdir()
    stuck.write_text(f"#!/bin/sh\necho fetching > {sign}\nexec sleep 600\n")
    stuck.chmod(0o755)
    os.mkfifo(sign)
    environment = {**shelf, "PATH": f"{stuck.parent}{os.pathsep}{shelf['PATH']}"}
    line = [*REPERTOIRE, "ingest", "https://8.8.8.8/acme/shelf.git"]  # no name to look up; that git never connects
    with subprocess.Popen(line, env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert sign.read_text() == "fetching\n"
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert said.strip().splitlines()[-1] == "interrupted"
    assert "Traceback" not in said
    with Store.open(Path(environment["REPERTOIRE_HOME"]) / "repertoire.db") as store:
        assert len(store.sources.all()) == 1


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("verb", ["doctor", "stats", "serve"])
def test_an_interrupt_while_modules_are_read_leaves_no_traceback(
    shelf: dict[str, str], tmp_path: Path, verb: str
) -> None:
    environment = {**shelf, "REPERTOIRE_PYTHON": sys.executable}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    for late in (0.15, 0.2, 0.3, 0.4):
        with subprocess.Popen([*REPERTOIRE, verb], env=environment, cwd=tmp_path, **pipes) as process:
            time.sleep(late)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        if b"init_import_site" in said or b"runpy module" in said:
            continue  # on a busy machine Python itself is not up yet, and none of our code can answer
        assert b"Traceback" not in said
        assert process.returncode in (0, 130, -signal.SIGINT), "the last is 130 in a shell"
