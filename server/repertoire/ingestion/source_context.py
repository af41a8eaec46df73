"""The context of a source beside its files, and hashes that tell whether anything in it changed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from repertoire.domain.component import Component, FileRecord, SourceInfo
from repertoire.domain.trust import Flag
from repertoire.ingestion import install
from repertoire.ingestion.capabilities import Vocabulary
from repertoire.ingestion.parts import SourceFile, SourceLayout

EXTRACTOR_VERSION = 8  # moves when the same file would yield something else: everything is then read again
TOO_SLOW = "takes too long to read; it is not tried again until it changes"


@dataclass(frozen=True)
class Checks:
    """How components are checked: by what, how the text of a part is read (None: it cannot be), in which version."""

    scan: Callable[[Component, str, Iterable[tuple[str, str | None]]], tuple[Flag, ...]]
    part: Callable[[str], str | None]
    version: int


@dataclass(frozen=True)
class Ground:
    """What is known about a source beside its files."""

    info: SourceInfo
    site: install.Site
    layout: SourceLayout
    vocabulary: Vocabulary
    corrections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dates: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # path -> first and last commit
    dates_are_exact: bool = True  # a shallow clone knows the newest commit alone
    installed: bool = False  # everything in it is in use
    checks: Checks | None = None
    bounded: Callable[[], AbstractContextManager[None]] = nullcontext  # around each file; may raise TooSlow
    known: Mapping[str, str] = field(default_factory=dict)  # path -> the hash of its record when it was last read


def too_slow(file: SourceFile) -> str:
    """Return the hash of a record that says that a file takes too long, in these bytes and this version."""
    return f"too slow in version {EXTRACTOR_VERSION}: {file.digest}"


def seal(record: FileRecord, *, exact: bool) -> FileRecord:
    """Return a record with the hash of all that it says.

    A shallow clone dates every file by its newest commit: with such dates in it, each fetch would rewrite everything.
    """
    said = [dataclasses.asdict(component) for component in record.components]
    if not exact:
        for component in said:
            component["first_commit"] = component["last_commit"] = ""
    text = json.dumps(
        [EXTRACTOR_VERSION, said, [dataclasses.astuple(edge) for edge in record.edges], record.skipped],
        sort_keys=True,
        default=str,
    )
    return dataclasses.replace(record, content_hash=hashlib.sha256(text.encode()).hexdigest())


def fingerprint(ground: Ground, digests: Iterable[tuple[str, str]]) -> str:
    """Return a hash of everything that an extraction is made from: equal means that nothing needs to be done."""
    state = hashlib.sha256()
    known = (
        EXTRACTOR_VERSION,
        ground.info,
        ground.layout.name,
        sorted(ground.layout.plugins.items()),
        sorted(ground.layout.elsewhere),
        ground.vocabulary.digest,
        sorted(ground.corrections.items()),
        sorted(ground.dates.items()) if ground.dates_are_exact else (),
        ground.installed,
        ground.checks.version if ground.checks is not None else 0,
        ground.site.location,
        ground.site.marketplace_address,
        # a set has another order in each process
        sorted(ground.site.known_marketplaces),
        sorted(ground.site.installed_plugins),
        sorted(ground.site.disabled_plugins),
    )
    state.update(repr(known).encode("utf-8", "replace"))
    for path, digest in digests:
        state.update(f"{path}\0{digest}\n".encode("utf-8", "replace"))
    return state.hexdigest()
