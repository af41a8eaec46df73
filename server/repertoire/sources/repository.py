"""Reads a repository's own files as data, and lends git a safe directory of ours in its place.

So git, of whatever version, never sees the configuration, hooks, attributes or references of an untrusted repository:
it gets the objects, and the names of the newest commit and of the tags after they were checked. Only an
ordinary clone is read: one whose top is the folder, and that lies completely in it.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.domain.errors import SourceError
from repertoire.sources import git

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REFERENCE = re.compile(r"refs(?:/(?!\.)[^\x00-\x20\x7f~^:?*\[\\/]+(?<!\.)(?<!\.lock))+")
_PROMISOR = re.compile(r"extensions\.partialclone|remote\..*\.promisor", re.DOTALL)
_SMALL, _LARGE = 1_000_000, 64_000_000
_TAGS, _LONGEST = 20_000, 1_000
_STEPS = 5  # references that are followed from HEAD to a commit, as many as git follows
_WIDE = "[extensions]\n\tobjectFormat = sha256\n"
# Known extensions of a repository's format: an unknown one may keep objects or references elsewhere.
_EXTENSIONS = frozenset(("objectformat", "partialclone", "preciousobjects", "relativeworktrees", "worktreeconfig"))


@dataclass(frozen=True)
class Repository:
    """A repository as its own files describe it: its commit, branch, tags and origin."""

    objects: Path
    commit: str  # the commit that is checked out
    branch: str = ""  # full name of the branch that is checked out; empty if none is
    tags: Mapping[str, str] = field(default_factory=dict)  # full name -> object
    shallow: tuple[str, ...] = ()  # the commits whose parents were not cloned
    partial: bool = False  # older contents were not cloned; reading them would use the network
    origin: str = ""  # the address of the remote `origin`
    ours: bool = False  # Repertoire cloned it


def top_of(folder: Path) -> Path | None:
    """Return the nearest top of a repository, of a folder and those above it; None if it lies in none."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def look(folder: Path, *, ours: bool = False, bare: bool = False) -> Repository:
    """Read a repository's commit, branch, tags and origin from its files; with `bare` also one without a work tree.

    Raises:
        SourceError: the repository is no ordinary clone, or damaged; the message says why.
    """
    try:
        git_dir = _git_dir(folder.resolve(), bare=bare)
        _check_owner(folder.resolve(), git_dir, git_dir / "objects")
        _check_whole(git_dir)
        configuration = git.settings(_bytes(git_dir, "config", _SMALL))
        _check_format(configuration)
        packed = dict(_packed(git_dir))
        branch, commit = _newest(git_dir, packed)
        tags = {name: value for name, value in packed.items() if name.startswith("refs/tags/")}
        tags.update(_loose_tags(git_dir))
        shallow = tuple(line for line in _text(git_dir, "shallow", _SMALL).split() if _HASH.fullmatch(line))
    except OSError as error:
        message = f"the repository cannot be read ({error.strerror})"
        raise SourceError(message) from error
    partial = any(_PROMISOR.fullmatch(name) for name in configuration)
    return Repository(
        git_dir / "objects", commit, branch, tags, shallow, partial, configuration.get("remote.origin.url", ""), ours
    )


@contextlib.contextmanager
def lent(found: Repository) -> Iterator[Path]:
    """Lend a temporary git directory that borrows a repository's objects, while the block runs.

    Raises:
        SourceError: git is too old for an untrusted repository, or the disk is full.
    """
    if not found.ours and (reason := git.refusal()):
        raise SourceError(reason)
    with contextlib.ExitStack() as held:
        try:
            room = tempfile.TemporaryDirectory(prefix="repertoire-git-", ignore_cleanup_errors=True)
            place = Path(held.enter_context(room))
            _furnish(place, found)
        except OSError as error:
            message = f"no folder can be made for git to run in ({error.strerror})"
            raise SourceError(message) from error
        yield place


def _furnish(place: Path, found: Repository) -> None:
    git.furnish(place, _WIDE if len(found.commit) == 64 else "")
    names = dict(found.tags)
    if found.branch:
        names[found.branch] = found.commit
    _write(place / "HEAD", f"ref: {found.branch}\n" if found.branch else f"{found.commit}\n")
    _write(place / "packed-refs", "".join(f"{value} {name}\n" for name, value in sorted(names.items())))
    if found.shallow:
        _write(place / "shallow", "".join(f"{commit}\n" for commit in found.shallow))
    _write(place / "objects/info/alternates", f"{found.objects.as_posix()}\n")


def _write(file: Path, text: str) -> None:
    file.write_bytes(os.fsencode(text))


def _git_dir(folder: Path, *, bare: bool) -> Path:
    inside = folder / ".git"
    try:
        mode = inside.lstat().st_mode
    except FileNotFoundError:
        if bare:
            return folder
        message = "the folder is not the top of its repository"
        raise SourceError(message) from None
    if stat.S_ISDIR(mode):
        return inside
    what = "a link" if stat.S_ISLNK(mode) else "a file"
    message = f"its .git is {what} that leads elsewhere, as in a worktree or a submodule"
    raise SourceError(message)


def _check_owner(*places: Path) -> None:
    """Refuse a repository that another user owns, as git does."""
    if not hasattr(os, "geteuid"):
        return
    owners = {os.geteuid()}
    if owners == {0} and os.environ.get("SUDO_UID", "").isdecimal():
        owners.add(int(os.environ["SUDO_UID"]))
    if any(place.stat().st_uid not in owners for place in places):
        message = "the repository belongs to another user of this machine"
        raise SourceError(message)


def _check_whole(git_dir: Path) -> None:
    """Refuse a repository that borrows objects from another place."""
    objects = git_dir / "objects"
    if os.path.lexists(git_dir / "commondir") or _bytes(git_dir, "objects/info/alternates", _SMALL).strip():
        message = "the repository borrows from another"
        raise SourceError(message)
    for place in (objects, objects / "pack", objects / "info"):
        if place.is_symlink() or any(entry.is_symlink() for entry in (place.iterdir() if place.is_dir() else ())):
            message = "objects of the repository are links that lead elsewhere"
            raise SourceError(message)
    if "\n" in str(objects):
        message = "the repository's path holds a line break"
        raise SourceError(message)


def _check_format(configuration: Mapping[str, str]) -> None:
    odd = [
        name for name in configuration if name.startswith("extensions.") and name.partition(".")[2] not in _EXTENSIONS
    ]
    if "extensions.refstorage" in odd and configuration["extensions.refstorage"] == "files":
        odd.remove("extensions.refstorage")
    if odd or configuration.get("core.repositoryformatversion", "0") not in ("0", "1"):
        message = "the repository is of a format that is not read" + (f" ({odd[0]})" if odd else "")
        raise SourceError(message)
    if "core.worktree" in configuration:
        message = "the repository says that its files lie elsewhere (core.worktree)"
        raise SourceError(message)


def _newest(git_dir: Path, packed: Mapping[str, str]) -> tuple[str, str]:
    """Return the branch and the commit that HEAD names."""
    name, branch = "HEAD", ""
    for _ in range(_STEPS):
        value = _text(git_dir, name, _SMALL).strip() or packed.get(name, "")
        if _HASH.fullmatch(value):
            return branch, value
        name = value.removeprefix("ref:").strip()
        if not value.startswith("ref:") or not _is_reference(name):
            break
        branch = branch or (name if name.startswith("refs/heads/") else "")
    message = "the repository has no commit that is checked out"
    raise SourceError(message)


def _packed(git_dir: Path) -> Iterator[tuple[str, str]]:
    for line in _text(git_dir, "packed-refs", _LARGE).split("\n"):
        value, _, name = line.rstrip("\r").partition(" ")
        if name.startswith(("refs/heads/", "refs/tags/")) and _HASH.fullmatch(value) and _is_reference(name):
            yield name, value


def _loose_tags(git_dir: Path) -> Iterator[tuple[str, str]]:
    left = _TAGS
    for place, _, names in os.walk(git_dir / "refs" / "tags"):
        for file in names[:left]:
            name = (Path(place) / file).relative_to(git_dir).as_posix()
            value = _text(git_dir, name, _SMALL).strip() if _is_reference(name) else ""
            if _HASH.fullmatch(value):
                yield name, value
        left = max(0, left - len(names))


def _is_reference(name: str) -> bool:
    return len(name) < _LONGEST and bool(_REFERENCE.fullmatch(name)) and ".." not in name and "@{" not in name


def _text(git_dir: Path, name: str, cap: int) -> str:
    return os.fsdecode(_bytes(git_dir, name, cap))


def _bytes(git_dir: Path, name: str, cap: int) -> bytes:
    """Read a regular file of a repository; empty if there is no such file, or a folder of that name."""
    file = git_dir / name
    if any(place.is_symlink() for place in (*(git_dir / above for above in Path(name).parents), file)):
        message = f"{name} of the repository is a link that leads elsewhere"
        raise SourceError(message)
    try:
        kind = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return b""
    if stat.S_ISDIR(kind):
        return b""
    text = b"" if not stat.S_ISREG(kind) else _read(file, cap + 1)
    if not stat.S_ISREG(kind) or len(text) > cap:
        message = f"{name} of the repository is no plain file, or too large"
        raise SourceError(message)
    return text


def _read(file: Path, most: int) -> bytes:
    # the file may have become a link or a pipe since it was checked
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(file, "rb", opener=lambda path, flags: os.open(path, flags | careful)) as stream:
        return stream.read(most)
