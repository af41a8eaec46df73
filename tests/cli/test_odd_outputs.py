"""Where standard output cannot take a letter, an answer comes all the same; JSON keeps every letter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

WORDS = "编写并检查数据库迁移脚本，回滚失败的迁移。"  # noqa: RUF001
WINDOWS = {"PYTHONIOENCODING": "cp1252"}
PLAIN = {"LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def told(environment, tmp_path, skill, run):
    """Say something to the command line in a process of its own, whose standard output is as told."""
    skill(tmp_path / "shelf", "migrations", WORDS)
    assert run("ingest", str(tmp_path / "shelf")).returncode == 0

    def say(odd, *words):
        line = [sys.executable, "-m", "repertoire", *words]
        return subprocess.run(line, env={**environment, **odd}, cwd=tmp_path, capture_output=True, check=False)

    return say


@pytest.mark.parametrize("odd", [WINDOWS, PLAIN])
def test_an_answer_with_letters_that_the_output_lacks_is_printed(told, odd):
    done = told(odd, "explain", "migrations")
    assert done.returncode == 0, done.stderr
    assert b"migrations" in done.stdout
    assert (WORDS if odd is PLAIN else "?" * len(WORDS)).encode() in done.stdout


@pytest.mark.parametrize("odd", [WINDOWS, PLAIN])
def test_json_keeps_every_letter(told, odd):
    done = told(odd, "search", WORDS, "--json")
    assert json.loads(done.stdout.decode("utf-8"))["components"][0]["description"] == WORDS


def test_an_error_with_such_letters_is_one_line(told):
    done = told(WINDOWS, "explain", "没有")
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell that closes an output is POSIX's")
def test_a_closed_output_costs_what_is_said_alone(environment):
    command = Path(__file__).resolve().parents[2] / "bin" / "repertoire"
    line = ["sh", "-c", 'exec "$0" "$@" <&- >&-', sys.executable, str(command), "--version"]
    surroundings = {**environment, "REPERTOIRE_PYTHON": sys.executable}
    done = subprocess.run(line, env=surroundings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
