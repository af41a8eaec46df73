"""Fetches git repositories without letting them do anything: no hooks, filters, submodules or prompts; bounded.

A clone holds the whole history of paths and dates, and of contents only the newest: that is enough to tell when a file
was last changed and what was released when. Where even that is too much, it holds the newest commit alone.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.domain.text import clean_line
from repertoire.sources.scratch import remove, scratch

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
_PAST_S = 120.0  # for a clone with its history; after that the newest commit has to do
_TREE = "tree"
_ALONE = "repertoire-newest-alone"  # in .git: this clone is shallow for a reason
_REDIRECTED = re.compile(r"^warning: redirecting to (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Fetched:
    """What fetching came to: the newest commit, and where the repository has moved to; empty: it has not."""

    commit: str
    moved: str = ""


@dataclass(frozen=True)
class _Bounds:
    bytes: int
    seconds: float
    tick: Callable[[], None] | None


def fetch(
    address: str, target: Path, *, max_bytes: int, pinned: str = "", tick: Callable[[], None] | None = None
) -> Fetched:
    """Bring a repository's newest commit into a folder, by fetching where it is already there.

    Raises:
        SourceError: it cannot be fetched, or is larger than allowed; the folder is as it was.
    """
    options = _connection_options(pinned)
    # file:// so that a local repository is copied through the protocol: depth counts, and no hard links are made
    url = Path(address).as_uri() if Path(address).is_absolute() else address
    said = ""
    bounds = _Bounds(max_bytes, _FETCH_S, tick)
    if _is_usable(target):
        with contextlib.suppress(SourceError):
            said = _update(url, target, options, bounds)
            return Fetched(head(target), _moved(said, url))
    said = _clone(url, target, options, bounds)
    return Fetched(head(target), _moved(said, url))


def _is_usable(target: Path) -> bool:
    """Tell whether a clone is whole and as complete as it can be; else it is made anew."""
    if not (target / ".git").is_dir():
        return False
    with contextlib.suppress(SourceError):
        return bool(head(target)) and (not is_shallow(target) or (target / ".git" / _ALONE).exists())
    return False


def is_shallow(folder: Path) -> bool:
    """Tell whether a repository holds only its newest commits.

    Raises:
        SourceError: it cannot be read.
    """
    return run(["rev-parse", "--is-shallow-repository"], folder).strip() == "true"


def is_partial(folder: Path) -> bool:
    """Tell whether a repository holds the newest contents alone; reading older ones would go to the network."""
    with contextlib.suppress(SourceError):
        asked = r"^(extensions\.partialclone|remote\..*\.promisor)$"
        return bool(run(["config", "--get-regexp", asked], folder).strip())
    return False


def _moved(said: str, url: str) -> str:
    """Return where a repository is now, as git said while it followed; it is asked for at its old place next time."""
    found = _REDIRECTED.findall(said)
    now = clean_line(found[-1].rstrip("/").removesuffix("/info/refs"), 300) if found else ""
    return now if _bare(now) != _bare(url) else ""


def _bare(url: str) -> str:
    return url.rstrip("/").removesuffix(".git")


def _clone(url: str, target: Path, options: Sequence[str], bounds: _Bounds) -> str:
    command = [*options, "clone", "--quiet", "--single-branch", "--no-recurse-submodules", "--template="]
    try:
        # Beside its place, then renamed: an interrupted clone must never be taken for a whole one.
        with scratch(target) as fresh:
            said = _cloned(url, fresh, command, bounds)
            remove(target)
            (fresh / _TREE).rename(target)
    except OSError as error:
        message = f"{target} cannot be written ({error.strerror}); free some space, or try again"
        raise SourceError(message) from error
    return said


def _cloned(url: str, fresh: Path, command: Sequence[str], bounds: _Bounds) -> str:
    """Clone with the past of all paths; without it where that cannot be had."""
    tree = fresh / _TREE
    try:
        past = ("-c", "remote.origin.tagOpt=--tags", "--filter=blob:none")
        return _run_bounded([*command, *past, "--", url, str(tree)], fresh, replace(bounds, seconds=_PAST_S))
    except SourceError:
        remove(tree)
        newest = ("--depth", "1", "--no-tags")
        said = _run_bounded([*command, *newest, "--", url, str(tree)], fresh, replace(bounds, seconds=_CLONE_S))
        (tree / ".git" / _ALONE).touch()
        return said


def _update(url: str, target: Path, options: Sequence[str], bounds: _Bounds) -> str:
    at = (*options, "-C", str(target))
    if (target / ".git" / _ALONE).exists():
        what: tuple[str, ...] = ("--depth", "1", "--no-tags", "--no-recurse-submodules", "--", url, "HEAD")
    else:
        run(["config", "remote.origin.url", url], target)  # the remote's own name keeps the filter it was cloned with
        what = ("--tags", "--force", "--no-recurse-submodules", "origin", "HEAD")
    said = _run_bounded([*at, "fetch", "--quiet", *what], target, bounds)
    # What is new of the contents is brought by this one: the fetch above left it out.
    said += _run_bounded([*at, "reset", "--quiet", "--hard", "FETCH_HEAD"], target, bounds)
    run(["clean", "--quiet", "-ffdx"], target)
    return said


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


def _run_bounded(arguments: Sequence[str], grows: Path, bounds: _Bounds) -> str:
    """Run git and return what it says; stop it when the folder outgrows its bound, takes too long, or `tick` raises."""
    try:
        process = subprocess.Popen(
            ["git", *arguments],
            # to check out what is newest, contents that a clone left out are fetched from where it came
            env={name: value for name, value in environment().items() if name != "GIT_NO_LAZY_FETCH"},
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
            if bounds.tick is not None:
                bounds.tick()
            _check_bounds(grows, bounds.bytes, started, bounds.seconds)
        _check_bounds(grows, bounds.bytes, started, bounds.seconds)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    if process.returncode:
        verb = next((word for word in arguments if word in ("clone", "fetch", "reset")), "")
        raise SourceError(_failure(verb, errors))
    return errors.decode("utf-8", "replace")


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
