"""The context of a source beside its files, and hashes that show whether a file or the context changed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from repertoire.domain.component import Component, FileRecord, SourceInfo
from repertoire.domain.digest import digest_of
from repertoire.domain.trust import Flag
from repertoire.ingestion import install
from repertoire.ingestion.capabilities import Vocabulary
from repertoire.ingestion.parts import SourceFile, SourceLayout
from repertoire.ingestion.version import EXTRACTOR_VERSION

TOO_SLOW = "takes too long to read; it is not tried again until it changes"


@dataclass(frozen=True)
class StaticChecks:
    """The static checks of components: the scan, a reader of a part's text (None: unreadable), and their version.

    `redact` returns a text without secrets.
    """

    scan: Callable[[Component, str, Iterable[tuple[str, str | None]], str], tuple[Flag, ...]]
    part: Callable[[str], str | None]
    version: int
    redact: Callable[[str], str] = str


@dataclass(frozen=True)
class Translator:
    """What translates a component's name, description and body (see `Component.english`), and its version."""

    described: Callable[[str, str, str], str]
    version: str


@dataclass(frozen=True)
class Wording:
    """What returns the shipped catalogue's words for a component, or nothing, and the version of these words."""

    of: Callable[[Component], str]
    version: str


@dataclass(frozen=True)
class SourceContext:
    """Everything that extraction needs about a source beside its files: layout, vocabulary, dates, checks."""

    info: SourceInfo
    site: install.Site
    layout: SourceLayout
    vocabulary: Vocabulary
    corrections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dates: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # path -> first and last commit
    dates_are_exact: bool = True  # a shallow clone knows the newest commit alone
    installed: bool = False  # everything in the source is installed
    checks: StaticChecks | None = None
    translator: Translator | None = None
    wording: Wording | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)  # of settings: a skill's or command's name -> `off` etc.
    bounded: Callable[[], AbstractContextManager[None]] = nullcontext  # time limit around each file; may raise TooSlow
    known: Mapping[str, str] = field(default_factory=dict)  # path -> hash of its record at the last read


def too_slow(file: SourceFile) -> str:
    """Return the hash for the record of a file that takes too long; it changes with the file and the extractor."""
    return f"too slow in version {EXTRACTOR_VERSION}: {file.digest}"


def seal(record: FileRecord, *, exact: bool) -> FileRecord:
    """Return a record with the hash of its content.

    With `exact` False the dates are left out: a shallow clone gives all files its newest date, so each fetch would
    rewrite every record.
    """
    components = [dataclasses.asdict(component) for component in record.components]
    if not exact:
        for component in components:
            component["first_commit"] = component["last_commit"] = ""
    text = json.dumps(
        [EXTRACTOR_VERSION, components, [dataclasses.astuple(edge) for edge in record.edges], record.skipped],
        sort_keys=True,
        default=str,
    )
    return dataclasses.replace(record, content_hash=digest_of(text))


def fingerprint(context: SourceContext, digests: Iterable[tuple[str, str]]) -> str:
    """Return a hash of an extraction's whole input; if it is equal, nothing needs to be extracted."""
    state = hashlib.sha256()
    known = (
        EXTRACTOR_VERSION,
        context.info,
        context.layout.name,
        sorted(context.layout.plugins.items()),
        sorted(context.layout.elsewhere),
        context.vocabulary.digest,
        sorted(context.corrections.items()),
        sorted(context.dates.items()) if context.dates_are_exact else (),
        context.installed,
        context.checks.version if context.checks is not None else 0,
        context.translator.version if context.translator is not None else "",
        context.wording.version if context.wording is not None else "",
        sorted(context.overrides.items()),
        context.site.location,
        context.site.marketplace_address,
        # sorted, because a set's order differs in each process
        sorted(context.site.known_marketplaces),
        sorted(context.site.installed_plugins),
        sorted(context.site.disabled_plugins),
    )
    state.update(repr(known).encode("utf-8", "replace"))
    for path, digest in digests:
        state.update(f"{path}\0{digest}\n".encode("utf-8", "replace"))
    return state.hexdigest()
