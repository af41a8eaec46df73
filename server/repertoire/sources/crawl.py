"""Lists and reads the files of a folder within bounds; links are reported, and none is followed out of the folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

READ_CAP = 1_000_000  # bytes of the largest file that is read; a component is text for a model and never larger
UNREADABLE = "folder cannot be read"  # how the reason begins for which nothing of a folder was listed
_UNREAD_FOLDERS = frozenset(
    (
        ".cache",
        ".git",
        ".hg",
        ".mypy_cache",
        ".next",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "node_modules",
        "site-packages",
        "venv",
    )
)
# What is read first in each folder, so that the code of a large repository does not use up the limit before.
_FIRST = frozenset((".claude", ".claude-plugin", ".mcp.json", "agents", "commands", "hooks", "plugins", "skills"))


@dataclass(frozen=True)
class CrawlLimits:
    """The limits (files, depth, bytes) for reading one source."""

    files: int = 20_000
    depth: int = 16
    text_bytes: int = 100_000_000  # size of all files that are read, so that a hostile source cannot fill the memory


@dataclass(frozen=True)
class Mount:
    """A folder or a file that appears in a source under a path prefix."""

    root: Path
    prefix: str = ""
    only: tuple[str, ...] = ()  # names at the top of the folder that are read; empty: all
    linked: bool = False  # a link led here, and no further one is followed, since links may form circles


@dataclass(frozen=True)
class FoundFile:
    """A regular file that a walk found; `path` is its path in the source, with forward slashes."""

    path: str
    location: Path
    size: int

    @classmethod
    def at(cls, location: Path, path: str) -> FoundFile:
        """Return the file at a place, under its path in the source."""
        return cls(path, location, location.stat().st_size)


@dataclass(frozen=True)
class Refused:
    """A file or folder of a source that is not read, with the reason."""

    path: str
    reason: str
    folder: bool = False


@dataclass(frozen=True)
class Listing:
    """The result of a walk: the files, and the refused paths; `truncated` says which limit ended it, if one did."""

    entries: tuple[FoundFile, ...]
    refused: tuple[Refused, ...]
    truncated: str = ""


Ignored = Callable[[str, bool], bool]  # tells whether a path, which may be that of a folder, is left out


def nothing(_path: str, _folder: bool) -> bool:  # noqa: FBT001 - a predicate
    """Ignore no path."""
    return False


@dataclass
class _Walk:
    limits: CrawlLimits
    ignored: Ignored
    plugins: bool
    entries: list[FoundFile] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    truncated: str = ""


def is_unread(folder: str) -> bool:
    """Tell whether folders of this name are left out of every walk."""
    return folder in _UNREAD_FOLDERS


def walk(
    mounts: tuple[Mount, ...], *, limits: CrawlLimits, ignored: Ignored = nothing, plugins: bool = False
) -> Listing:
    """List the regular files of the mounts in a stable order; links are reported, not followed.

    With `plugins` a link to a folder of the same mount is followed where a plugin has its skills, as the client does.
    """
    state = _Walk(limits, ignored, plugins)
    for mount in mounts:
        if is_folder(mount.root):
            _walk_folder(state, mount, mount.root, mount.prefix, 0)
        elif is_file(mount.root):
            state.entries.append(FoundFile.at(mount.root, mount.prefix))
    state.entries.sort(key=lambda entry: entry.path)
    mounted = {mount.prefix for mount in mounts}  # a link's target may be mounted at the link's path
    refused = tuple(item for item in state.refused if item.path not in mounted)
    return Listing(tuple(state.entries), refused, state.truncated)


def read(entry: FoundFile) -> bytes | str:
    """Return the bytes of a file, or the reason why it is not read."""
    if entry.size > READ_CAP:
        return f"larger than {READ_CAP:,} bytes ({entry.size:,})"
    try:
        # O_NOFOLLOW, O_NONBLOCK: between the walk and now the file may have become a link or a pipe.
        handle = os.open(entry.location, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    with contextlib.closing(os.fdopen(handle, "rb")) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return "not a regular file"
        try:
            data = file.read(READ_CAP + 1)
        except OSError as error:
            return f"cannot be read ({error.strerror})"
    return data if len(data) <= READ_CAP else f"larger than {READ_CAP:,} bytes"


# Those of `pathlib` raise where a link leads to too long a name, or into a folder that may not be entered: one such
# link in a repository would end whatever looks at the repository.
def exists(place: Path) -> bool:
    """Tell whether a path leads to a file or a folder."""
    return os.path.exists(place)  # noqa: PTH110


def is_folder(place: Path) -> bool:
    """Tell whether a path leads to a folder."""
    return os.path.isdir(place)  # noqa: PTH112


def is_file(place: Path) -> bool:
    """Tell whether a path leads to a regular file."""
    return os.path.isfile(place)  # noqa: PTH113


def children(folder: Path) -> list[Path]:
    """Return what lies in a folder, sorted; nothing for what is no folder or may not be listed."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def changed_at(status: os.stat_result) -> int:
    """Return when a file was changed last, in nanoseconds; a copy that keeps an old date is a change too."""
    return max(status.st_mtime_ns, status.st_ctime_ns)


def decode(data: bytes) -> str | None:
    """Decode a file's bytes as UTF-8; None if they are binary or not UTF-8."""
    if b"\x00" in data:
        return None
    with contextlib.suppress(UnicodeDecodeError):
        return data.decode("utf-8-sig")
    return None


def digest(entry: FoundFile) -> str:
    """Return the SHA-256 of a file's bytes, or of its size if it is too large or cannot be read."""
    data = read(entry)
    return hashlib.sha256(data if isinstance(data, bytes) else f"{entry.size}".encode()).hexdigest()


def _walk_folder(state: _Walk, mount: Mount, folder: Path, prefix: str, depth: int) -> None:
    if depth > state.limits.depth:
        state.refused.append(Refused(prefix, f"deeper than {state.limits.depth} folders", folder=True))
        return
    try:
        with os.scandir(folder) as found:
            children = sorted(found, key=lambda child: (child.name not in _FIRST, child.name))
    except OSError as error:
        state.refused.append(Refused(prefix, f"{UNREADABLE} ({error.strerror})", folder=True))
        return
    for child in children:
        if depth == 0 and mount.only and child.name not in mount.only:
            continue
        if len(state.entries) >= state.limits.files:
            first = f"{prefix}/{child.name}".lstrip("/").encode("utf-8", "replace").decode()
            told = f"more than {state.limits.files:,} files: reading ended at {first}"
            state.truncated = state.truncated or told
            return
        _visit(state, mount, child, f"{prefix}/{child.name}" if prefix else child.name, depth)


def _visit(state: _Walk, mount: Mount, child: os.DirEntry[str], path: str, depth: int) -> None:
    shown = path.encode("utf-8", "replace").decode()  # a file name need not be UTF-8; the store's text is
    try:
        status = child.stat(follow_symlinks=False)
    except OSError as error:
        state.refused.append(Refused(shown, f"cannot be read ({error.strerror})"))
        return
    if state.ignored(path, stat.S_ISDIR(status.st_mode)):
        return
    if stat.S_ISLNK(status.st_mode):
        target = _linked_skills(mount, Path(child.path)) if state.plugins and shown == path else None
        if target is not None:
            _walk_folder(state, Mount(target, path, linked=True), target, path, depth + 1)
            return
        state.refused.append(_refuse_link(mount, child, shown))
    elif stat.S_ISDIR(status.st_mode):
        if child.name not in _UNREAD_FOLDERS:
            _walk_folder(state, mount, Path(child.path), path, depth + 1)
    elif not stat.S_ISREG(status.st_mode):
        state.refused.append(Refused(shown, "not a regular file"))
    elif shown != path:
        state.refused.append(Refused(shown, "the file name is not UTF-8"))
    else:
        state.entries.append(FoundFile(path, Path(child.path), status.st_size))


def _linked_skills(mount: Mount, link: Path) -> Path | None:
    """Return the folder of the mount that a plugin links as its skills, or as one of them; else None."""
    skills = link if link.name == "skills" else link.parent
    if mount.linked or skills.name != "skills" or not is_folder(skills.parent / ".claude-plugin"):
        return None
    try:
        target = link.resolve()
    except (OSError, RuntimeError):
        return None
    root, place = mount.root.resolve(), link.parent.resolve() / link.name
    within = target.is_relative_to(root) and not place.is_relative_to(target)
    is_read = within and _UNREAD_FOLDERS.isdisjoint(target.relative_to(root).parts)
    return target if is_read and is_folder(target) else None


def _refuse_link(mount: Mount, child: os.DirEntry[str], path: str) -> Refused:
    try:
        target = Path(child.path).resolve()
    except (OSError, RuntimeError):
        return Refused(path, "a link that leads nowhere")
    folder, root = is_folder(target), mount.root.resolve()
    if not target.is_relative_to(root):
        return Refused(path, "a link that leaves the source", folder=folder)
    if not exists(target):
        return Refused(path, "a link that leads nowhere")
    if not _UNREAD_FOLDERS.isdisjoint(target.relative_to(root).parts):
        return Refused(path, "a link to a folder that is not read", folder=folder)
    return Refused(path, "a link to what is read at its own place", folder=folder)


def linked_mounts(root: Path, folders: tuple[str, ...]) -> Iterator[Mount]:
    """Yield a mount for each link at the top of these folders: people link components from elsewhere into their own."""
    for name in folders:
        folder = root / name
        for child in children(folder):
            if child.is_symlink() and exists(child):
                yield Mount(child.resolve(), f"{name}/{child.name}")
