"""Determines the outcome for each file of a source: a component, a part of one, skipped, or none, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from repertoire.domain.component import FileFate, FileRecord
from repertoire.ingestion import fixtures, licences

COMPONENT, PART, SKIPPED, NONE = "component", "part", "skipped", "none"
_UNREAD = "no strategy reads such files"
_ALONGSIDE = "read for what lies beside it"


def fates(
    paths: Iterable[str],
    records: Sequence[FileRecord],
    parts: Mapping[str, Sequence[str]],
    left: Mapping[str, FileFate],
    read: Iterable[str],
) -> tuple[FileFate, ...]:
    """Return the outcome for each path; `left` has those of files that were read and have no component of their own."""
    found = {record.path: _of_record(record) for record in records}
    owner = {part: whole for whole, listed in parts.items() for part in listed}
    looked_at = frozenset(read)

    def fate_of(path: str) -> FileFate:
        if path in found:
            return found[path]
        if path in left and (left[path].became == PART or path not in owner):
            return left[path]
        if path in owner:
            return FileFate(path, PART, owner[path])
        return FileFate(path, NONE, _why_none(path) or (_ALONGSIDE if path in looked_at else _UNREAD))

    return tuple(map(fate_of, paths))


def with_notes(found: Iterable[FileFate], warnings: Iterable[str]) -> tuple[FileFate, ...]:
    """Return the outcomes with the warnings about their files, each of which begins with a path."""
    about: dict[str, list[str]] = {}
    for warning in warnings:
        path, _, note = warning.partition(": ")
        about.setdefault(path, []).append(note)
    return tuple(replace(fate, notes=tuple(about.get(fate.path, ()))) for fate in found)


def _why_none(path: str) -> str:
    """Return why a file has no component by its name alone; empty if the name does not tell."""
    if fixtures.is_fixture(path):
        return fixtures.REASON
    return "a licence" if licences.is_licence_file(path) else ""


def _of_record(record: FileRecord) -> FileFate:
    if record.skipped:
        return FileFate(record.path, SKIPPED, record.skipped)
    return FileFate(record.path, COMPONENT, ", ".join(sorted({component.type for component in record.components})))
