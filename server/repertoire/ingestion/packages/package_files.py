"""Selects the files of a package that are read with its manifest: its programs and README, not its tests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repertoire.ingestion.parts import below, folder
from repertoire.syntax import language_of

MANIFESTS = ("package.json", "pyproject.toml", "PKG-INFO", "METADATA")
README, ENTRY_POINTS, PYPROJECT = "readme", "entry_points.txt", "pyproject.toml"
_MOST = 250
_NOT_ITS_OWN = re.compile(
    r"(?:^|/)(?:tests?|__tests__|__mocks__|spec|specs|e2e|fixtures|examples?|docs?|benchmarks?|vendor|third_party|"
    r"coverage|node_modules|\.[^/]+)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest|setup|[^/]*\.(?:test|spec|config|min))\.\w+$",
    re.IGNORECASE,
)


def root_of(path: str) -> str:
    """Return the folder of the package whose manifest lies at a path."""
    above = folder(path)
    return folder(above) if above.endswith(".dist-info") else above


def is_manifest(path: str) -> bool:
    """Tell by its name whether a file is a package's manifest."""
    name = path.rpartition("/")[2]
    if name == "METADATA":
        return folder(path).endswith(".dist-info")
    return name in MANIFESTS and not folder(path).endswith(".egg-info")


def belonging(path: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Return those of sorted files that are read with a manifest, the nearest first, up to a bound."""
    root = root_of(path)
    under = f"{root}/" if root else ""
    candidates = below(root, paths)
    inner = tuple(
        f"{other}/" for candidate in candidates if is_manifest(candidate) and (other := root_of(candidate)) != root
    )
    found = [
        candidate
        for candidate in candidates
        if candidate != path and not (inner and candidate.startswith(inner)) and _is_read(candidate[len(under) :])
    ]
    return tuple(sorted(found, key=lambda candidate: (candidate.count("/"), candidate))[:_MOST])


def _is_read(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    if "/" not in path and name.partition(".")[0] == README:
        return True
    if name == ENTRY_POINTS or path == PYPROJECT:
        return True
    return bool(language_of(path)) and not _NOT_ITS_OWN.search(path)
