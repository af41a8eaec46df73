"""Tells whether a memory is that of the project that lies in its folder now, and sets aside one of another project."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from repertoire.app.projects.left_out import LeftOut
from repertoire.app.projects.places import files_of, memory_file, refuse_no_project
from repertoire.app.projects.queues import QUEUES, held
from repertoire.domain.digest import digest_of
from repertoire.domain.errors import ProjectRefused, SourceError
from repertoire.sources import crawl, git, repository
from repertoire.sources.crawl import CrawlLimits, Mount
from repertoire.store.project_file import ProjectStore

_ROOT = "root:"
_SAME = 0.1  # of the contents that a memory knows: where so many are in any place, it is the same project
_LIMITS = CrawlLimits(depth=40)
_MOST_ROOTS = 50  # first commits of one history: more than one after unrelated histories were merged


@dataclass(frozen=True)
class SetAside:
    """The memory of another project that lay in the folder before, in the file where it lies now."""

    root: str
    file: Path
    entries: int


def origin_of(root: Path, *, known: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return a hash of where a folder's repository came from and its first commits; empty where it has none.

    First commits take long to find in a long history: they are left out where it came from a known place. Known ones
    that the repository holds are among them, whichever branch is checked out.
    """
    try:
        found = repository.look(root)
        # as a hash: an address may hold a password
        address = {digest_of(found.origin)} if found.origin else set[str]()
        if found.shallow or known & address:  # a shallow clone begins anywhere
            return frozenset(address)
        with repository.lent(found) as git_dir:
            begun = [one.removeprefix(_ROOT) for one in sorted(known) if one.startswith(_ROOT)]
            first = git.read(("rev-list", "--max-parents=0", "--ignore-missing", found.commit, *begun), git_dir)
    except SourceError:
        return frozenset()
    return frozenset(address | {f"{_ROOT}{commit}" for commit in first.split()[:_MOST_ROOTS]})


def record_origin(memory: ProjectStore) -> bool:
    """Add what tells a memory's project from others to what is recorded; tell whether there is anything.

    Raises:
        ProjectRefused: another project lies in the folder now than what is recorded, or the folder is gone.
    """
    root, was = Path(memory.root()), memory.origin()
    now = origin_of(root, known=was)
    if was and _is_other(memory, root, now):
        message = (
            f"the memory of {root} is that of another project, which lay there before; "
            "`repertoire project init` keeps it and begins another one"
        )
        raise ProjectRefused(message)
    if not now <= was:  # a history that was written anew, or begun anew on another branch
        memory.set_origin(was | now)
    return bool(now)


def set_aside_other(home: Path, root: str, opening: Callable[[Path], ProjectStore]) -> SetAside | None:
    """Rename the memory of a folder if it is that of another project, so that another can begin; None if it is not.

    Raises:
        ProjectRefused: the folder is gone or cannot be read.
        StoreBusy: another process reads the project into its memory.
    """
    file = memory_file(home, root)
    if not file.is_file():
        return None
    with opening(file) as memory:
        if not _is_other(memory, Path(root), origin_of(Path(root), known=memory.origin())):
            return None
        entries = memory.counts().entries
        free = (file.with_name(f"{file.stem}-{number}.db") for number in count(1))
        kept = next(one for one in free if not files_of(one))
        with contextlib.ExitStack() as locks:
            for queue in QUEUES:
                locks.enter_context(held(file, queue))
            kept.touch(mode=0o600, exist_ok=False)
            memory.copy_to(kept)  # never renamed: another process may hold it open, with a log of the old name
    for path in files_of(file):
        rest = path.name[len(file.name) :]
        if rest.startswith((".backup", ".damaged-", ".mirror")) and not rest.endswith(".lock"):
            path.replace(kept.with_name(f"{kept.name}{rest}"))
        else:
            path.unlink(missing_ok=True)
    return SetAside(root, kept, entries)


def _is_other(memory: ProjectStore, root: Path, now: frozenset[str]) -> bool:
    """Tell whether nothing speaks for one project: rather another's memory is kept than one's own hidden."""
    refuse_no_project(str(root))  # of a folder that is gone nothing can be told
    was = memory.origin()
    if was & now:
        return False
    known, differs = memory.known(), bool(was and now)  # else no history tells
    if not differs and any(Path(root, path).is_file() for path in known):
        return False
    contents = {one.content_hash: one.size for one in known.values() if one.content_hash and one.size}
    ignored = LeftOut(root, home=memory.path.parent.parent)
    found = crawl.walk((Mount(root),), limits=_LIMITS, ignored=ignored).entries
    if not contents or not found:  # nothing does of an empty folder, where a disk may not be mounted
        return differs and not known and bool(found)  # as after a watcher saw all files go
    sizes = {*contents.values()}
    alike = (digest for one in found if one.size in sizes and (digest := crawl.digest(one)) in contents)
    least = max(1, math.ceil(_SAME * len(contents))) if differs else 1
    return len({*alike}) < least
