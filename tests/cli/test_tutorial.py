"""The tutorial: its commands run in order in a fresh home, and print what it shows under them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
END = "=== end of a command ==="


def steps() -> list[tuple[str, list[str]]]:
    """Return each command with the lines that are shown under it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def test_every_command_works_in_order_and_prints_what_is_shown(environment: dict[str, str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("THE TUTORIAL WAS NOT RUN: no bash on PATH")
    commands = steps()
    script = "set -e\n" + "".join(f"{command}\necho '{END}'\n" for command, _ in commands)
    of_its_own = {name: environment[name] for name in ("HOME", "LANG", "REPERTOIRE_BACKGROUND")}
    path = f"{ROOT / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", script],
        cwd=environment["HOME"],
        env={**of_its_own, "PATH": path, "REPERTOIRE_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    printed = done.stdout.split(f"{END}\n")
    assert done.returncode == 0, f"{commands[len(printed) - 1][0]}\n{done.stderr}"
    for (command, shown), output in zip(commands, printed, strict=False):
        place = 0
        for line in shown:
            place = output.find(line, place)
            assert place >= 0, f"{command}\n{output}"
    page = Path(environment["HOME"], "answer.html").read_text(encoding="utf-8")
    assert "delivery-notes" in page
    assert not Path(environment["REPERTOIRE_HOME"]).exists()  # it lay where it lies for anybody


def test_every_verb_of_the_tutorial_is_shown_for_what_it_promises() -> None:
    verbs = {command.split()[1] for command, _ in steps() if command.startswith("repertoire ")}
    assert verbs >= {"doctor", "recommend", "explain", "feedback", "mute", "overlaps", "trust", "forget"}
