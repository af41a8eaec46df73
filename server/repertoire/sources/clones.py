"""Clones and fetches git repositories within bounds, and without hooks, filters or submodules.

A clone holds the whole history of paths and dates, but only the newest contents: that is enough to tell when a file
last changed and when versions were released. If even that is too large, it holds only the newest commit.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.domain.text import clean_line
from repertoire.sources import git, repository
from repertoire.sources.address import without_password
from repertoire.sources.git import GitBounds
from repertoire.sources.scratch import remove, scratch

_CLONE_S, _FETCH_S = 300.0, 120.0
_PAST_S = 120.0  # time limit of a clone with history; after that only the newest commit is cloned
_TREE = "tree"
_ALONE = "repertoire-newest-alone"  # marker file in .git of a clone that is shallow on purpose
_REDIRECTED = re.compile(r"^warning: redirecting to (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class FetchResult:
    """The result of a fetch: the newest commit, and the repository's new address if it has moved (else empty)."""

    commit: str
    moved: str = ""


@dataclass(frozen=True)
class _Origin:
    """The address that git fetches from; for a local repository, git reads the `lent` directory in its place."""

    url: str
    options: tuple[str, ...]
    lent: Path | None = None


def fetch(
    address: str, target: Path, *, max_bytes: int, pinned: str = "", tick: Callable[[], None] | None = None
) -> FetchResult:
    """Bring a repository's newest commit into a folder: clone it, or fetch if the folder holds a clone already.

    Raises:
        SourceError: the repository cannot be fetched, or is larger than allowed, or the folder is a link; it is
            unchanged.
    """
    if target.is_symlink():  # whatever lies at its end is somebody's own
        message = f"{target} is a link in the place of a clone and is not followed; delete it, a refresh clones anew"
        raise SourceError(message)
    bounds = GitBounds(target, max_bytes, _FETCH_S, tick)
    if not Path(address).is_absolute():
        return _fetched(_Origin(address, _connection_options(pinned)), target, bounds)
    with repository.lent(repository.look(Path(address), bare=True)) as place:
        # file:// so that a local repository is copied through the protocol: depth counts, and no hard links are made
        url = Path(address).as_uri()
        instead = ("-c", f"url.{place.as_uri()}.insteadOf={url}")
        return _fetched(_Origin(url, instead, place), target, bounds)


def _fetched(origin: _Origin, target: Path, bounds: GitBounds) -> FetchResult:
    if _is_usable(target):
        with contextlib.suppress(SourceError):
            messages = _update(origin, target, bounds)
            return FetchResult(_newest(target), _moved(messages, origin.url))
    messages = _clone(origin, target, bounds)
    return FetchResult(_newest(target), _moved(messages, origin.url))


def _is_usable(target: Path) -> bool:
    """Tell whether a clone is sound and as complete as possible; otherwise it is cloned again."""
    with contextlib.suppress(SourceError):
        return not repository.look(target, ours=True).shallow or (target / ".git" / _ALONE).exists()
    return False


def _newest(target: Path) -> str:
    return repository.look(target, ours=True).commit


def _moved(messages: str, url: str) -> str:
    """Return the address that git was redirected to; empty if the repository has not moved."""
    found = _REDIRECTED.findall(messages)
    now = clean_line(found[-1].rstrip("/").removesuffix("/info/refs"), 300) if found else ""
    return now if _bare(now) != _bare(url) else ""


def _bare(url: str) -> str:
    return without_password(url).rstrip("/").removesuffix(".git")


def _clone(origin: _Origin, target: Path, bounds: GitBounds) -> str:
    try:
        # Cloned beside its place and then renamed: an interrupted clone must never be taken for a complete one.
        with scratch(target) as fresh:
            messages = _cloned(origin, fresh, replace(bounds, folder=fresh))
            remove(target)
            (fresh / _TREE).rename(target)
    except OSError as error:
        message = f"{target} cannot be written ({error.strerror}); free some space, or try again"
        raise SourceError(message) from error
    return messages


def _cloned(origin: _Origin, fresh: Path, bounds: GitBounds) -> str:
    """Clone a repository with the history of its paths, or else only its newest commit; return git's messages."""
    tree, template = fresh / _TREE, fresh / "template"
    _without_filters(template)
    command = (*origin.options, "clone", "--quiet", "--single-branch", "--no-recurse-submodules")
    command = (*command, f"--template={template}")
    to = ("--", origin.url, str(tree))
    try:
        past = ("-c", "remote.origin.tagOpt=--tags", "--filter=blob:none")
        return git.fetch((*command, *past, *to), replace(bounds, seconds=_PAST_S), lent=origin.lent)
    except SourceError:
        remove(tree)
        newest = ("--depth", "1", "--no-tags")
        messages = git.fetch((*command, *newest, *to), replace(bounds, seconds=_CLONE_S), lent=origin.lent)
        (tree / ".git" / _ALONE).touch()
        return messages


def _update(origin: _Origin, target: Path, bounds: GitBounds) -> str:
    if (target / ".git" / _ALONE).exists():
        what: tuple[str, ...] = ("--depth", "1", "--no-tags", "--no-recurse-submodules", "--", origin.url, "HEAD")
    else:
        # the remote's own name keeps the filter it was cloned with
        git.change(("config", "remote.origin.url", origin.url), target)
        what = ("--tags", "--force", "--no-recurse-submodules", "origin", "HEAD")
    _without_filters(target / ".git")
    messages = git.fetch((*origin.options, "fetch", "--quiet", *what), bounds, clone=target, lent=origin.lent)
    # The reset fetches the new contents, which the fetch above left out.
    newest = ("reset", "--quiet", "--hard", "FETCH_HEAD")
    messages += git.fetch((*origin.options, *newest), bounds, clone=target, lent=origin.lent)
    git.change(("clean", "--quiet", "-ffdx"), target)
    return messages


def _without_filters(git_dir: Path) -> None:
    """Turn off all filters in a clone: a repository's attributes may name a filter that the person has configured."""
    try:
        (git_dir / "info").mkdir(parents=True, exist_ok=True)
        (git_dir / "info" / "attributes").write_text("* -filter\n", encoding="utf-8")
    except OSError as error:
        message = f"{git_dir} cannot be written ({error.strerror}); free some space, or try again"
        raise SourceError(message) from error


def _connection_options(pinned: str) -> tuple[str, ...]:
    if not pinned:
        return _ssh_options("")
    # A checked host is pinned: git connects to the checked IP address, and follows no redirect.
    host, port, ip = pinned.split(":", 2)
    same = f" -o HostName={ip} -o HostKeyAlias={host}"
    resolved = f"{host}:{port}:[{ip}]" if ":" in ip else pinned
    pin = ("-c", f"http.curloptResolve={resolved}", "-c", "http.followRedirects=false")
    return (*pin, *_ssh_options(same))


def _ssh_options(more: str) -> tuple[str, ...]:
    """Return options that keep ssh from asking for a password; none if the person has an ssh command of their own."""
    if not more:
        if "GIT_SSH_COMMAND" in os.environ or "GIT_SSH" in os.environ:
            return ()
        if git.own_setting("core.sshCommand"):
            return ()
    return ("-c", f"core.sshCommand=ssh -o BatchMode=yes -o ConnectTimeout=15{more}")
