"""Fetches git repositories without letting them do anything: no hooks, filters, submodules or prompts; bounded."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.domain.text import clean_line

_PROTOCOLS = "https:ssh:file"
_SAFE = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),  # else a repository's own configuration names a program to run
    *("-c", "core.symlinks=true"),
    *("-c", "filter.lfs.smudge="),
    *("-c", "filter.lfs.process="),
    *("-c", "filter.lfs.required=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "http.lowSpeedLimit=1000"),
    *("-c", "http.lowSpeedTime=20"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "advice.detachedHead=false"),
)
_POLL_S = 0.2
_CLONE_S, _FETCH_S, _READ_S = 300.0, 120.0, 30.0


def fetch(
    address: str, target: Path, *, max_bytes: int, pinned: str = "", tick: Callable[[], None] | None = None
) -> str:
    """Bring a repository's newest commit into a folder, by fetching where it is already there; return the commit.

    Raises:
        SourceError: it cannot be fetched, or is larger than allowed; the folder is as it was.
    """
    options = _connection_options(pinned)
    # file:// so that a local repository is copied through the protocol: depth counts, and no hard links are made
    url = Path(address).as_uri() if Path(address).is_absolute() else address
    if (target / ".git").is_dir():
        with contextlib.suppress(SourceError):
            if head(target):
                _update(url, target, options, max_bytes, tick)
                return head(target)
    _clone(url, target, options, max_bytes, tick)
    return head(target)


def _clone(url: str, target: Path, options: Sequence[str], max_bytes: int, tick: Callable[[], None] | None) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place, then renamed: an interrupted clone must never be taken for a whole one.
    fresh = Path(tempfile.mkdtemp(prefix=".clone-", dir=target.parent))
    try:
        command = ("clone", "--quiet", "--depth", "1", "--no-recurse-submodules", "--no-tags", "--template=", "--")
        _run_bounded([*options, *command, url, str(fresh / "tree")], fresh, max_bytes, _CLONE_S, tick)
        if target.exists():
            shutil.rmtree(target)
        (fresh / "tree").rename(target)
    except OSError as error:
        message = f"{target} cannot be written ({error.strerror}); free some space, or try again"
        raise SourceError(message) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _update(url: str, target: Path, options: Sequence[str], max_bytes: int, tick: Callable[[], None] | None) -> None:
    at = ("-C", str(target))
    command = ("fetch", "--quiet", "--depth", "1", "--no-tags", "--no-recurse-submodules", "--", url, "HEAD")
    _run_bounded([*options, *at, *command], target, max_bytes, _FETCH_S, tick)
    run(["reset", "--quiet", "--hard", "FETCH_HEAD"], target)
    run(["clean", "--quiet", "-ffdx"], target)


def _connection_options(pinned: str) -> tuple[str, ...]:
    if not pinned:
        return (*_SAFE, *_ssh_options(""))
    # Where the host was checked, git goes to the very address that was, and follows no redirect to another.
    host, port, ip = pinned.split(":", 2)
    same = f" -o HostName={ip} -o HostKeyAlias={host}"
    resolved = f"{host}:{port}:[{ip}]" if ":" in ip else pinned
    pin = ("-c", f"http.curloptResolve={resolved}", "-c", "http.followRedirects=false")
    return (*_SAFE, *pin, *_ssh_options(same))


def _ssh_options(more: str) -> tuple[str, ...]:
    """Return what keeps ssh from asking for a password, unless a person has chosen a command of their own."""
    if not more:
        if "GIT_SSH_COMMAND" in os.environ or "GIT_SSH" in os.environ:
            return ()
        with contextlib.suppress(SourceError):
            if run(["config", "--global", "--get", "core.sshCommand"], Path.home()).strip():
                return ()
    return ("-c", f"core.sshCommand=ssh -o BatchMode=yes -o ConnectTimeout=15{more}")


def run(arguments: Sequence[str], folder: Path, *, seconds: float = _READ_S) -> str:
    """Run git in a folder and return what it prints.

    Raises:
        SourceError: it failed; the message holds git's own words.
    """
    command = ["git", *_SAFE, "-C", str(folder), *arguments]
    try:
        done = subprocess.run(  # noqa: PLW1510 - the status is looked at below
            command, capture_output=True, env=environment(), timeout=seconds, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise SourceError(_NO_GIT) from None
    except subprocess.TimeoutExpired:
        message = f"git {arguments[0]} in {folder} took longer than {seconds:.0f} s"
        raise SourceError(message) from None
    if done.returncode:
        raise SourceError(_failure(arguments[0], done.stderr))
    return done.stdout.decode("utf-8", "replace")


_NO_GIT = "git is not installed; install it, or ingest a folder"


def head(folder: Path) -> str:
    """Return the commit that is checked out."""
    return run(["rev-parse", "--verify", "HEAD"], folder).strip()


def environment() -> Mapping[str, str]:
    """Return the environment that git runs in: a person's own, but for what would make it ask, fetch or redirect."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return {
        **kept,
        "GIT_ALLOW_PROTOCOL": _PROTOCOLS,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }


_KEPT = (
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_EXEC_PATH",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
)


def _run_bounded(
    arguments: Sequence[str], grows: Path, max_bytes: int, seconds: float, tick: Callable[[], None] | None
) -> None:
    """Run git, and stop it when the folder grows beyond its bound, when it takes too long, or when `tick` raises."""
    try:
        process = subprocess.Popen(
            ["git", *arguments],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError:
        raise SourceError(_NO_GIT) from None
    started = time.monotonic()
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                _, errors = process.communicate(timeout=_POLL_S)
                break
            if tick is not None:
                tick()
            _check_bounds(grows, max_bytes, started, seconds)
        _check_bounds(grows, max_bytes, started, seconds)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    if process.returncode:
        verb = next((word for word in arguments if word in ("clone", "fetch")), "")
        raise SourceError(_failure(verb, errors))


def _check_bounds(grows: Path, max_bytes: int, started: float, seconds: float) -> None:
    if time.monotonic() - started > seconds:
        message = f"fetching took longer than {seconds:.0f} s; clone it yourself and ingest the folder"
        raise SourceError(message)
    if size(grows, enough=max_bytes) > max_bytes:
        message = (
            f"the repository is larger than {max_bytes // 1_000_000} MB; "
            "raise REPERTOIRE_MAX_SOURCE_MB, or clone it yourself and ingest the folder"
        )
        raise SourceError(message)


def size(folder: Path, *, enough: int) -> int:
    """Return how many bytes a folder holds, counting no further than what is enough."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(place) / name).lstat().st_size
        if total > enough:
            break
    return total


def _failure(verb: str, errors: bytes) -> str:
    said = clean_line(errors.decode("utf-8", "replace"), 300)
    return f"git {verb} failed: {said or 'no reason given'}"
