"""Runs git, for all other modules: no setting from an untrusted folder is ever in force.

A history is read in a directory of ours that borrows a repository's objects (`repository.py`), with only our own
configuration. With the person's configuration git runs only in our clones, whose paths are given to it. Every other
setting that could start a program is set here to one that does nothing.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.domain.text import clean_line

_SETTINGS = {
    "safe.bareRepository": "explicit",
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.pager": "cat",
    "core.editor": ":",
    "core.askPass": "",
    "core.gitProxy": "none",
    "core.alternateRefsCommand": ":",
    "sequence.editor": ":",
    "filter.lfs.smudge": "",
    "filter.lfs.process": "",
    "filter.lfs.required": "false",
    "log.showSignature": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "protocol.ext.allow": "never",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "core.longpaths": "true",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "20",
    "advice.detachedHead": "false",
}
_SAFE = tuple(word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}"))
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": ":",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
_KEPT = (
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "GIT_HTTP_PROXY_AUTHMETHOD",
    "GIT_EXEC_PATH",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
)
_POLL_S, _READ_S = 0.2, 30.0
_OR_CLONE = "or clone it yourself and ingest the folder"
_REMEDIES = {
    "terminal prompts disabled": "git may not ask: let a credential helper keep the password (`gh auth setup-git`)",
    "Authentication failed": "renew what git's credential helper keeps, or what the address holds",
    "Permission denied (": "ssh may not ask here: `ssh-add` keeps a key with a passphrase open",
    "Host key verification failed": "connect once with `ssh`, which asks whether the host is the right one",
    "certificate": "tell git your own authority: `git config --global http.sslCAInfo FILE`",
}
_NO_GIT = "git is not installed; install it, or ingest a folder"
# The first release of each branch with the fixes for CVE-2024-32004 and CVE-2024-32465: before, a repository on
# the same machine could run a program of its own while it was read or cloned.
_MENDED = {(2, 39): 4, (2, 40): 2, (2, 41): 1, (2, 42): 2, (2, 43): 4, (2, 44): 1, (2, 45): 1}
_VERSION = re.compile(r"git version (\d+)\.(\d+)(?:\.(\d+))?")
_PROMISES = '[extensions]\n\tpartialClone = far\n[remote "far"]\n\turl = file:///\n\tpromisor = true\n'


@dataclass(frozen=True)
class GitBounds:
    """The limits of a git command: its folder's size and its seconds; `tick` is called meanwhile and may raise."""

    folder: Path
    bytes: int
    seconds: float
    tick: Callable[[], None] | None = None


def read(arguments: Sequence[str], git_dir: Path, *, seconds: float = _READ_S) -> str:
    """Run git in a directory of ours that borrows objects, without network or configuration, and return its output.

    Raises:
        SourceError: it failed; the message holds git's own words.
    """
    return _run(_within(git_dir, arguments), _closed(git_dir, protocols="none"), git_dir, seconds=seconds)


def settings(text: bytes) -> Mapping[str, str]:
    """Parse a git configuration as data; none of it takes effect, and the files that it includes are not read.

    Raises:
        SourceError: the text is no git configuration.
    """
    with _room() as place:
        command = _within(place, ("config", "--file", "-", "--no-includes", "-z", "--list"))
        listed = _run(command, _closed(place, protocols="none"), place, given=text)
    return {name: value for name, _, value in (entry.partition("\n") for entry in listed.split("\0")) if name}


def own_setting(name: str) -> str:
    """Return a setting of the person's own git configuration; empty if it is not set."""
    with contextlib.suppress(SourceError), _room() as place:
        return _run(_within(place, ("config", "--global", "--get", name)), _own(protocols="none"), place).strip()
    return ""


def change(arguments: Sequence[str], clone: Path) -> None:
    """Run git in one of our clones, without the network.

    Raises:
        SourceError: it failed; the message holds git's own words.
    """
    _run(_within(clone / ".git", arguments, clone), _own(protocols="none"), clone)


def fetch(arguments: Sequence[str], bounds: GitBounds, *, clone: Path | None = None, lent: Path | None = None) -> str:
    """Run git with the network, in `clone` if one is given, and return its error output.

    With `lent`, git can read only that directory. It is stopped when the
    folder outgrows its bound, when it takes too long, or when `tick` raises.

    Raises:
        SourceError: it failed or was stopped; the message holds git's own words.
    """
    command = (*_SAFE, *arguments) if clone is None else _within(clone / ".git", arguments, clone)
    if lent is not None:
        environment = _closed(lent, protocols="file")
    else:  # the checkout may fetch contents that a partial clone left out
        environment = {name: value for name, value in _own().items() if name != "GIT_NO_LAZY_FETCH"}
    process = _started(command, environment, bounds.folder, printed=subprocess.DEVNULL, alone=_has_terminal())
    errors = _awaited(process, bounds)
    if process.returncode:
        failure = _failure(arguments, errors)
        remedy = next((told for words, told in _REMEDIES.items() if words in failure), "")
        raise SourceError(f"{failure.rstrip('.')}; {remedy}, {_OR_CLONE}" if remedy else failure)
    return errors.decode("utf-8", "replace")


def _has_terminal() -> bool:
    """Tell whether a program that git starts could ask on this process's terminal, as ssh does for a passphrase."""
    if not hasattr(os, "setsid"):
        return False
    with contextlib.suppress(OSError):
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        return True
    return False


def furnish(git_dir: Path, more: str = "") -> None:
    """Turn an empty folder into a git directory with our configuration, plus the lines in `more`.

    Raises:
        OSError: the folder cannot be written.
    """
    for name in ("objects/info", "refs"):
        (git_dir / name).mkdir(parents=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
    core = f"[core]\n\trepositoryFormatVersion = {1 if more else 0}\n\tbare = true\n"
    (git_dir / "config").write_text(core + more, encoding="utf-8")


def refusal() -> str:
    """Return why this machine's git is too old to read untrusted folders; empty if it is not.

    Raises:
        SourceError: there is no git.
    """
    program = shutil.which("git")
    if program is None:
        raise SourceError(_NO_GIT)
    return _refusal(program, Path(program).stat().st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _refusal(_program: str, _changed: int) -> str:
    with _room() as place:
        printed = _run(("--version",), _closed(place, protocols="none"), place)
    found = _VERSION.match(printed)
    version = (int(found[1]), int(found[2]), int(found[3] or 0)) if found else (0, 0, 0)
    if version >= (2, 46, 0) or version[2] >= _MENDED.get(version[:2], 1_000_000) or _is_mended():
        return ""
    named = clean_line(printed.removeprefix("git version "), 40)
    return f"git {named} is older than what is known to be safe in folders that others filled; update it to 2.45.1"


def _is_mended() -> bool:
    """Tell whether an older git has the fixes all the same: a fixed one reports that lazy fetching is disabled."""
    with _room() as place:
        furnish(place, _PROMISES)
        command = _within(place, ("cat-file", "-e", "1" * 40))
        process = _started(command, _closed(place, protocols="none"), place, printed=subprocess.DEVNULL)
        errors = _awaited(process, GitBounds(place, 1_000_000, _READ_S))
    return b"lazy fetching disabled" in errors


@contextlib.contextmanager
def _room() -> Iterator[Path]:
    """Lend an empty temporary folder, so that git finds no repository around it."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="repertoire-git-", ignore_cleanup_errors=True)
    except OSError as error:
        message = f"no folder can be made for git to run in ({error.strerror})"
        raise SourceError(message) from error
    with folder as place:
        yield Path(place)


def _within(git_dir: Path, arguments: Sequence[str], tree: Path | None = None) -> tuple[str, ...]:
    # the path is given: in a damaged clone git would go on to the next repository above it
    return (*_SAFE, f"--git-dir={git_dir}", *(() if tree is None else (f"--work-tree={tree}",)), *arguments)


def _own(*, protocols: str = "https:ssh") -> Mapping[str, str]:
    """Return the person's environment variables, without those that make git ask a question or read elsewhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return {**kept, **_QUIET, "GIT_ALLOW_PROTOCOL": protocols}


def _closed(home: Path, *, protocols: str) -> Mapping[str, str]:
    """Return environment variables with which git finds no configuration of the machine or the person."""
    homes = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    return {**_own(protocols=protocols), **homes, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}


def _started(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    *,
    printed: int,
    fed: bool = False,
    alone: bool = False,
) -> subprocess.Popen[bytes]:
    """Start git, `alone` in a session without this process's terminal."""
    try:
        return subprocess.Popen(
            ["git", *arguments],
            env=environment,
            cwd=folder,
            stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.PIPE,
            start_new_session=alone,
        )
    except FileNotFoundError as error:
        message = _NO_GIT if folder.is_dir() else f"there is no folder {folder}"
        raise SourceError(message) from error
    except OSError as error:
        message = f"git cannot be started ({error.strerror})"
        raise SourceError(message) from error


def _run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    *,
    given: bytes | None = None,
    seconds: float = _READ_S,
) -> str:
    process = _started(arguments, environment, folder, printed=subprocess.PIPE, fed=given is not None)
    try:
        printed, errors = process.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired:
        message = f"git {_verb(arguments)} took longer than {seconds:.0f} s"
        raise SourceError(message) from None
    finally:
        _end(process)
    if process.returncode:
        raise SourceError(_failure(arguments, errors))
    return printed.decode("utf-8", "replace")


def _awaited(process: subprocess.Popen[bytes], bounds: GitBounds) -> bytes:
    """Wait for a git process and return its error output; kill it when it exceeds a limit."""
    started = time.monotonic()
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                _, errors = process.communicate(timeout=_POLL_S)
                break
            if bounds.tick is not None:
                bounds.tick()
            _check(bounds, started)
        _check(bounds, started)
    finally:
        _end(process)
    return errors


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process if it runs, and close its pipes: one that ends by itself after a last look leaves them open."""
    if process.poll() is None:
        if hasattr(os, "killpg") and os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)  # with the programs that it started
        process.kill()
    with process:
        pass


def _check(bounds: GitBounds, started: float) -> None:
    if time.monotonic() - started > bounds.seconds:
        message = f"fetching took longer than {bounds.seconds:.0f} s; clone it yourself and ingest the folder"
        raise SourceError(message)
    if size(bounds.folder, enough=bounds.bytes) > bounds.bytes:
        message = (
            f"the repository is larger than {bounds.bytes // 1_000_000} MB; "
            "raise REPERTOIRE_MAX_SOURCE_MB, or clone it yourself and ingest the folder"
        )
        raise SourceError(message)


def size(folder: Path, *, enough: int) -> int:
    """Return the size of a folder in bytes; stop counting above `enough`."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(place) / name).lstat().st_size
        if total > enough:
            break
    return total


def _failure(arguments: Sequence[str], errors: bytes) -> str:
    message = clean_line(errors.decode("utf-8", "replace"), 300)
    return f"git {_verb(arguments)} failed: {message or 'no reason given'}"


def _verb(arguments: Sequence[str]) -> str:
    """Return git's subcommand (`clone`, `fetch`, …) in its arguments."""
    words = iter(arguments)
    for word in words:
        if word == "-c":
            next(words, "")
        elif not word.startswith("--"):
            return word
    return ""
