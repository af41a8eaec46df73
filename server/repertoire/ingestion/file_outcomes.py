"""Determines the outcome for each file of a source: a component, a part of one, skipped, or none, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
    found = {path: _of_record(record) for record in records for path in (record.path,)}
    owner = {part: whole for whole, listed in parts.items() for part in listed}
    looked_at = frozenset(read)
    outcomes = []
    for path in paths:
        if path in found:
            outcomes.append(found[path])
        elif path in left and left[path].became == PART:
            outcomes.append(left[path])
        elif path in owner:
            outcomes.append(FileFate(path, PART, owner[path]))
        elif path in left:
            outcomes.append(left[path])
        elif fixtures.is_fixture(path):
            outcomes.append(FileFate(path, NONE, fixtures.REASON))
        elif licences.is_licence_file(path):
            outcomes.append(FileFate(path, NONE, "a licence"))
        else:
            outcomes.append(FileFate(path, NONE, _ALONGSIDE if path in looked_at else _UNREAD))
    return tuple(outcomes)


def _of_record(record: FileRecord) -> FileFate:
    if record.skipped:
        return FileFate(record.path, SKIPPED, record.skipped)
    return FileFate(record.path, COMPONENT, ", ".join(sorted({component.type for component in record.components})))
