"""Checks the connection to Claude Code: runs the session hook as the client does, and reads the registration."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repertoire.app.health.client_policy import ASK, is_ours, limits
from repertoire.domain.health import FAIL, OK, WARN, Finding
from repertoire.domain.hint import silenced
from repertoire.domain.text import clean_line
from repertoire.learning.selections import OURS
from repertoire.sources.client_files import config_folder, enabled_plugins, managed_files, settings_files

DEADLINE_S = 1.0  # equals the deadline in the hook itself; a test compares the two
_ROOT = "${CLAUDE_PLUGIN_ROOT}"
_IMPORT = "import sys; sys.path.insert(0, sys.argv[1]); import repertoire.app.session.greet"
_AGAIN = "install the plugin again"
LEAST_CLIENT = (2, 1, 139)  # the first that starts a hook's command with `args`
_RELEASE = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6}) \(Claude Code\)")
_VERSION_S = 10.0  # time limit of `claude --version`


def session_hook(root: Path, environment: Mapping[str, str]) -> Finding:
    """Run the session hook as the client does, on a temporary project and without a session: it records nothing."""
    path = root / "hooks" / "hooks.json"
    try:
        hook = json.loads(path.read_text(encoding="utf-8"))["hooks"]["SessionStart"][0]["hooks"][0]
        line = [hook["command"], *(str(part).replace(_ROOT, str(root)) for part in hook["args"])]
        limit = float(hook["timeout"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        return Finding("hooks", FAIL, f"{path} cannot be used ({error}), so no hook of ours runs", _AGAIN)
    program = shutil.which(line[0], path=environment.get("PATH"))
    if program is None:
        return Finding("hooks", FAIL, f"{line[0]} is not on PATH", f"put a Python 3.9 or newer on PATH as {line[0]}")
    trouble, took = _started([program, *line[1:]], environment, limit)
    if not trouble and took >= DEADLINE_S:  # its files had to be read, or the machine was busy for a moment
        trouble, again = _started([program, *line[1:]], environment, limit)
        took = min(took, again)
    # The hook hides its errors, so as not to disturb a session; importing its module shows them.
    trouble = trouble or _run([program, "-I", "-S", "-c", _IMPORT, str(root / "server")], environment, limit, "")
    if trouble:
        return Finding("hooks", FAIL, f"the session hook does not run: {trouble}", _AGAIN)
    if took >= DEADLINE_S:
        text = f"the session hook took {took:.1f} s, so its deadline ends it and sessions start without a greeting"
        return Finding("hooks", WARN, text, "find out why this machine or its disk is slow")
    if silenced(environment):
        return Finding("hooks", WARN, "switched off by the environment", "unset REPERTOIRE_OFF and REPERTOIRE_HINTS")
    return Finding("hooks", OK, f"hooks.json is sound; the session hook ran in {took * 1000:.0f} ms")


def _started(line: list[str], environment: Mapping[str, str], limit: float) -> tuple[str, float]:
    """Run the hook in a new project; return its fault, "" if there is none, and the seconds that it took."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="repertoire-doctor-") as folder:
        Path(folder, "requirements.txt").write_text("fastapi\n", encoding="utf-8")
        trouble = _run(line, environment, limit, json.dumps({"source": "startup", "cwd": folder}))
    return trouble, time.monotonic() - began


def _run(line: list[str], environment: Mapping[str, str], limit: float, told: str) -> str:
    """Run the hook's command line as the client does; return the fault in its exit or output, "" if there is none."""
    try:
        done = subprocess.run(
            line, input=told, env=dict(environment), capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return f"the client would stop it after {limit:.0f} s"
    except OSError as error:
        return str(error)
    if done.returncode:
        return clean_line((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1], 200)
    try:
        if done.stdout.strip():
            json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    except (ValueError, LookupError, TypeError):
        return "it prints output that the client does not accept"
    return ""


def release(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield whether the Claude Code on PATH, if any tells its version there, is new enough to run all of the plugin."""
    program = shutil.which("claude", path=environment.get("PATH"))
    if program is None:
        return
    line = [program, "--version"]
    try:
        done = subprocess.run(
            line,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=_VERSION_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Finding("client-version", WARN, f"{program} does not tell its version: {clean_line(str(error), 200)}")
        return
    told = _RELEASE.match(done.stdout)
    if told is None:
        return
    here, least = ".".join(told.groups()), ".".join(map(str, LEAST_CLIENT))
    if tuple(map(int, told.groups())) >= LEAST_CLIENT:
        yield Finding("client-version", OK, f"Claude Code {here}, {program}")
        return
    text = f"Claude Code {here} ({program}) is too old: it runs our hooks and tools in part, or refuses the plugin"
    yield Finding("client-version", FAIL, text, f"run `claude update`: the plugin needs Claude Code {least} or newer")


def registration(root: Path, environment: Mapping[str, str], *, project: Path) -> Iterator[Finding]:
    """Yield findings on whether Claude Code has the plugin installed and enabled."""
    config = config_folder(environment)
    install = f"claude plugin marketplace add {shlex.quote(str(root))} && claude plugin install {OURS}@{OURS}"
    if not config.is_dir():
        yield Finding("client", WARN, f"{config} is not there: Claude Code was not used here", install)
        return
    enabled: dict[str, bool] = {}
    for path in settings_files(config, project):
        found = _json(path)
        if isinstance(found, str):
            yield Finding("client-files", FAIL, f"{path} is no JSON object ({found})", "correct the file")
            continue
        listed = found.get("enabledPlugins")
        enabled.update({key: value is not False for key, value in listed.items()} if isinstance(listed, dict) else {})
    yield _plugin(config, enabled, install)
    yield from limits(environment, project=project)


def _plugin(config: Path, enabled: Mapping[str, bool], install: str) -> Finding:
    path = config / "plugins" / "installed_plugins.json"
    found = _json(path)
    if isinstance(found, str):
        return Finding("client-files", FAIL, f"{path} is no JSON object ({found})", "correct the file")
    listed = found.get("plugins")
    records = {key: value for key, value in (listed if isinstance(listed, dict) else {}).items() if is_ours(key)}
    off = next((key for key, on in enabled.items() if is_ours(key) and not on), None)
    if off is not None:
        managed = enabled_plugins(managed_files()).get(off) is False
        who, mend = (" by an administrator", ASK) if managed else ("", f"claude plugin enable {off}")
        return Finding("client", FAIL, f"{clean_line(off, 80)} is disabled{who}", mend)
    if not records:
        return Finding("client", WARN, "the plugin is not installed in Claude Code", install)
    key, value = next(iter(records.items()))
    record = value[0] if isinstance(value, list) and value else value
    place = str(record.get("installPath") or "") if isinstance(record, dict) else ""
    if not Path(place).is_dir() or not place:
        mend = f"claude plugin uninstall {key}; claude plugin install {key}"
        return Finding("client", FAIL, f"{clean_line(key, 80)} is recorded, but {place or 'its folder'} is gone", mend)
    version = clean_line(str(record.get("version") or "of no version"), 40)
    return Finding("client", OK, f"{clean_line(key, 80)} {version} is installed and enabled, {place}")


def _json(path: Path) -> dict[str, Any] | str:
    """Return the JSON object of a file, empty if there is no file, or the reason why it cannot be read."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        return str(error)[:120]
    return value if isinstance(value, dict) else "a " + type(value).__name__
