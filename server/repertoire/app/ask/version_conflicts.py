"""Decides which components of a set require incompatible versions of one package or runtime."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from packaging.utils import canonicalize_name

from repertoire.app.ask.requirements import requirements
from repertoire.domain.component import HOOK, MCP_SERVER, name_and_range
from repertoire.retrieval.snapshot import Snapshot

_SHARED = ("package", "runtime")  # kinds of requirements that a project can have in one version only
_FETCHED = (MCP_SERVER, HOOK)  # types whose packages are isolated: a runner (npx, uvx) fetches them for one process


def required_versions(snapshot: Snapshot, row: int) -> dict[tuple[str, str], str]:
    """Map each package or runtime that a component shares with others to the version range that it requires."""
    found = {}
    for requirement in requirements(snapshot, int(snapshot.positions[row])):
        kind, _, name = requirement.partition(":")
        package, wanted = name_and_range(name)
        alone = kind == "package" and snapshot.summaries[row].type in _FETCHED
        if kind in _SHARED and wanted and not alone:
            found[kind, str(canonicalize_name(package))] = wanted
    return found


def version_conflicts(snapshot: Snapshot, rows: Sequence[int]) -> dict[int, dict[str, str]]:
    """Map each row to the ids of components with a version conflict, each with the text of the conflict."""
    wants = {row: own for row in rows if (own := required_versions(snapshot, row))}
    found: dict[int, dict[str, str]] = {}
    if len(wants) < 2:
        return found
    from repertoire.ingestion.ranges import disjoint  # noqa: PLC0415 - few sets have two versions, and it takes 20 ms

    for (one, ours), (other, theirs) in combinations(wants.items(), 2):
        for kind, name in ours.keys() & theirs.keys():
            if disjoint(ours[kind, name], theirs[kind, name]):
                for row, against in ((one, other), (other, one)):
                    said = f"{name} {wants[row][kind, name]} against {wants[against][kind, name]}"
                    found.setdefault(row, {})[snapshot.summaries[against].id] = said
    return found
