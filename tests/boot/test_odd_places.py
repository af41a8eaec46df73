"""Repertoire works in folders with spaces, quotes and non-ASCII letters, and on a machine without UTF-8."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ODD = "Ünser Ordner, it's 日本 & $HOME"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Return a copy of the plugin, without its model, in a folder of an odd name."""
    root = tmp_path / f"{ODD} plugin"
    for name in ("server", "bin", "hooks"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "models"))
    shutil.copy(ROOT / "requirements.lock", root)
    return root


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    user = tmp_path / f"{ODD} user"
    user.mkdir()
    more = {"REPERTOIRE_BACKGROUND": "no", "REPERTOIRE_PYTHON": sys.executable, "CLAUDE_PROJECT_DIR": str(user)}
    return {"HOME": str(user), "PATH": str(Path(sys.executable).parent), "LANG": "C.UTF-8", **more}


def run(line: list[str], environment: dict[str, str], told: str = "") -> str:
    place = environment["HOME"]
    done = subprocess.run(
        line, input=told.encode(), env=environment, cwd=place, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_the_command_line_and_the_server_run_wherever_they_lie(plugin: Path, environment: dict[str, str]) -> None:
    user = Path(environment["HOME"])
    skill = user / ODD / "skills" / "größe" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: größe\ndescription: Misst die Größe.\n---\nMiss.\n", encoding="utf-8")
    python = [sys.executable, str(plugin / "bin" / "repertoire")]
    assert "1 component" in run([*python, "ingest", ODD], environment)
    assert "größe" in run([*python, "search", "größe"], environment)
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "any", "version": "1"}}
    call = {"name": "explain_component", "arguments": {"id": "größe"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    server = [sys.executable, "-I", "-S", str(plugin / "server" / "launch.py")]
    with subprocess.Popen(server, env=environment, cwd=user, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in asked).encode())
        process.stdin.flush()
        answer = next(told for line in process.stdout if (told := json.loads(line)).get("id") == 2)
        process.stdin.close()
    assert "Misst die Größe." in answer["result"]["content"][0]["text"]


def test_the_hook_reads_what_the_client_writes_whatever_the_machine_calls_text(
    plugin: Path, environment: dict[str, str]
) -> None:
    project = Path(environment["HOME"]) / "Straße"
    project.mkdir()
    (project / "requirements.txt").write_text("fastapi\n")
    windows = (
        f"import io, sys; sys.path.insert(0, {str(plugin / 'hooks')!r}); "
        "sys.stdin = io.TextIOWrapper(sys.stdin.buffer, encoding='cp1252'); "
        "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='cp1252'); "
        "import session_start; session_start.main()"
    )
    told = json.dumps({"cwd": str(project), "source": "startup", "session_id": "s"}, ensure_ascii=False)
    there = {**environment, "CLAUDE_PROJECT_DIR": str(project)}
    said = json.loads(run([sys.executable, "-c", windows], there, told))
    assert "fastapi" in said["hookSpecificOutput"]["additionalContext"].lower()


def test_whoever_apologises_reads_what_the_client_writes(plugin: Path, environment: dict[str, str]) -> None:
    old = (
        f"import io, sys; sys.path.insert(0, {str(plugin / 'server')!r}); import launch; "
        "sys.stdin = io.TextIOWrapper(sys.stdin.buffer, encoding='ascii'); launch.apologise('too old')"
    )
    call = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": ODD}},
    }
    answer = json.loads(run([sys.executable, "-c", old], environment, f"{json.dumps(call, ensure_ascii=False)}\n"))
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (7, "too old")


def test_a_checkout_of_windows_leaves_the_command_a_first_line_that_a_shell_can_run() -> None:
    asked = ["git", "-C", str(ROOT), "check-attr", "eol", "--", "bin/repertoire"]
    told = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    if told.returncode:
        pytest.skip("NOT TESTED ON LINE ENDINGS: this is no checkout of git")
    assert told.stdout == "bin/repertoire: eol: lf\n"
