"""Standard input that stays open, never ends or is interrupted: the hooks of a session end in time, with status 0."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hooks.starting import HOOK, context, store_with
from repertoire.boot import session_files

HOOKS = ("session_start.py", "session_end.py")
ENDS_S = 12  # the deadlines are 1 and 1.2 s after Python has started, and a busy machine starts it late
# A small process starts the hook: the memory of the one that starts it counts as the hook's own.
MEASURED = """
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))
with open("/dev/zero", "rb") as zeros:
    status = subprocess.run([sys.executable, "-I", "-S", sys.argv[1]], stdin=zeros).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def start(script: str, home: Path, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-I", "-S", str(HOOK.with_name(script))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environment = {"HOME": str(home.parent), "REPERTOIRE_HOME": str(home)}
    return subprocess.Popen(command, env=environment, **{**pipes, **options})


def ended(hook: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Wait for a hook while its standard input stays open, and return what it said."""
    with hook:
        try:
            code = hook.wait(ENDS_S)
        finally:
            hook.kill()
        return subprocess.CompletedProcess(hook.args, code, hook.stdout.read(), hook.stderr.read())


@pytest.mark.parametrize("script", HOOKS)
@pytest.mark.parametrize("sent", ["", '{"session_id": "s1"'])
def test_an_input_that_stays_open_does_not_hold_a_session(home: Path, script: str, sent: str) -> None:
    hook = start(script, home)
    hook.stdin.write(sent)
    hook.stdin.flush()
    done = ended(hook)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_came_whole_is_used_while_the_input_stays_open(home: Path, project: Path) -> None:
    store_with(home)
    session_files.write(home, "s1", {"trace": "{}"})
    told = json.dumps({"session_id": "s1", "cwd": str(project)}, indent=1)
    texts = {}
    for script in HOOKS:
        hook = start(script, home)
        hook.stdin.write(told)
        hook.stdin.flush()
        texts[script] = context(ended(hook))
    assert "fastapi-templates" in texts["session_start.py"]
    assert not session_files.version(home, "s1")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
@pytest.mark.parametrize("script", HOOKS)
def test_an_input_without_end_takes_no_memory(home: Path, script: str) -> None:
    environment = {"HOME": str(home.parent), "REPERTOIRE_HOME": str(home)}
    asked = [sys.executable, "-I", "-S", "-c", MEASURED, str(HOOK.with_name(script))]
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True, timeout=ENDS_S)
    status, kilobytes = done.stdout.split()
    assert (status, done.stderr) == ("0", "")
    assert int(kilobytes) < 150_000


@pytest.mark.parametrize("script", HOOKS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_hook_and_is_no_failure(home: Path, script: str, number: int) -> None:
    hook = start(script, home)
    time.sleep(0.5)
    hook.send_signal(number)
    done = ended(hook)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
